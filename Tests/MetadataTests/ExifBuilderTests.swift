import Container
import Core
import Foundation
import Support
import Testing

@testable import Metadata

@Suite struct ExifBuilderTests {
    private let picture = ExifBuilder.Picture(size: PixelSize(width: 8, height: 8), isSRGB: true, isGrey: false)

    private func built(_ builder: TIFFBuilder, _ policy: MetadataPolicy) throws -> ExifBuilder.Result {
        let block = try #require(Blocks.read(builder))
        return try #require(ExifBuilder.build(block, policy: policy, picture: picture))
    }

    private func reread(_ result: ExifBuilder.Result) throws -> ExifBlock {
        try #require(ExifBlock(reading: Array(result.payload.dropFirst(6))))
    }

    private func check(_ result: ExifBuilder.Result, _ place: ExifOutputCheck.Place, hasExif: Bool = true) throws {
        try ExifOutputCheck.verify(
            result.payload.span, payload: 0..<result.payload.count,
            allowing: ExifOutputCheck.Allowance(hasExif: hasExif, place: place, size: picture.size))
    }

    /// By exiftool: what survives, what does not, and that the block is lawful.
    @Test(arguments: [false, true]) func keepsWhatTheListAllows(isBigEndian: Bool) throws {
        let source = Blocks.rich(isBigEndian: isBigEndian)
        let result = try built(source, MetadataPolicy(exif: .keep))
        let before = try Exiftool.read(Exiftool.header(source.bytes))
        let after = try Exiftool.read(result.payload)
        let kept = [
            "IFD0:Make", "IFD0:Model", "IFD0:Software", "IFD0:ModifyDate", "IFD0:Artist", "IFD0:Copyright",
            "ExifIFD:ExposureTime", "ExifIFD:FNumber", "ExifIFD:ExposureProgram", "ExifIFD:ISO",
            "ExifIFD:DateTimeOriginal", "ExifIFD:CreateDate", "ExifIFD:OffsetTime", "ExifIFD:OffsetTimeOriginal",
            "ExifIFD:SubSecTimeOriginal", "ExifIFD:ShutterSpeedValue", "ExifIFD:ApertureValue",
            "ExifIFD:BrightnessValue",
            "ExifIFD:ExposureCompensation", "ExifIFD:MeteringMode", "ExifIFD:Flash", "ExifIFD:FocalLength",
            "ExifIFD:FileSource", "ExifIFD:SceneType", "ExifIFD:WhiteBalance", "ExifIFD:FocalLengthIn35mmFormat",
            "ExifIFD:LensInfo", "ExifIFD:LensMake", "ExifIFD:LensModel",
        ]
        for name in kept { #expect(after[name].map { "\($0)" } == before[name].map { "\($0)" }, "\(name)") }
        let ours = [
            "IFD0:Orientation", "IFD0:XResolution", "IFD0:YResolution", "IFD0:ResolutionUnit", "IFD0:YCbCrPositioning",
            "ExifIFD:ExifVersion", "ExifIFD:ComponentsConfiguration", "ExifIFD:FlashpixVersion", "ExifIFD:ColorSpace",
            "ExifIFD:ExifImageWidth", "ExifIFD:ExifImageHeight",
        ]
        let plain = { (names: [String]) in Set(names.map { String($0.split(separator: ":")[1]) }) }
        #expect(try Exiftool.tags(result.payload) == plain(kept + ours))
        let numbers = [
            "IFD0:Orientation": 1, "ExifIFD:ColorSpace": 1, "ExifIFD:ExifImageWidth": 8, "ExifIFD:ExifImageHeight": 8,
            "IFD0:XResolution": 72, "IFD0:ResolutionUnit": 2,
        ]
        for (name, value) in numbers { #expect((after[name] as? NSNumber)?.intValue == value, "\(name)") }
        #expect(try Exiftool.validation(result.payload) == "OK")
        #expect(result.kept == [.exif])
        try check(result, .none)
        let text = String(decoding: result.payload, as: UTF8.self)
        for secret in ["Secret", "secret", "SN123", "LSN9", "Owner", "phone", "description", "0123456789abcdef"] {
            #expect(!text.contains(secret))
        }
    }

    @Test func keepsThePlace() throws {
        let source = Blocks.rich()
        let result = try built(source, MetadataPolicy(exif: .keep, gps: .keep))
        let before = try Exiftool.read(Exiftool.header(source.bytes))
        let after = try Exiftool.read(result.payload)
        let kept = before.keys.filter { $0.hasPrefix("GPS:") }.filter { !$0.hasSuffix("ProcessingMethod") }
        #expect(kept.count == 14)
        for name in kept where !name.hasSuffix("VersionID") {
            #expect(after[name].map { "\($0)" } == before[name].map { "\($0)" }, "\(name)")
        }
        #expect(Set(after.keys.filter { $0.hasPrefix("GPS:") }) == Set(kept))
        #expect(try reread(result).position == Blocks.read(source)?.position)
        #expect(try Exiftool.validation(result.payload) == "OK")
        #expect(result.kept == [.exif, .gps])
        try check(result, .exact)
    }

    /// No exposure, no camera, no time: not GPS's time either.
    @Test(arguments: [MetadataPolicy.Handling.strip, .return]) func thePlaceAlone(exif: MetadataPolicy.Handling) throws
    {
        let result = try built(Blocks.rich(), MetadataPolicy(exif: exif, gps: .keep))
        let tags = try Exiftool.tags(result.payload)
        #expect(tags.allSatisfy { $0.hasPrefix("GPS") })
        #expect(tags.isSuperset(of: ["GPSLatitude", "GPSLongitude", "GPSAltitude"]))
        #expect(tags.isDisjoint(with: ["GPSTimeStamp", "GPSDateStamp"]))
        #expect(result.kept == [.gps])
        try check(result, .exact, hasExif: false)
    }

    @Test func theCityAndNothingElse() throws {
        let result = try built(Blocks.rich(), MetadataPolicy(exif: .keep, gps: .keep, gpsPrecision: .city))
        let read = try Exiftool.read(result.payload)
        let expected: Set = [
            "GPS:GPSVersionID", "GPS:GPSLatitudeRef", "GPS:GPSLatitude", "GPS:GPSLongitudeRef", "GPS:GPSLongitude",
            "GPS:GPSHPositioningError",
        ]
        #expect(Set(read.keys.filter { $0.hasPrefix("GPS:") }) == expected)
        #expect((read["Composite:GPSLatitude"] as? NSNumber)?.doubleValue == 48.9)
        #expect((read["Composite:GPSLongitude"] as? NSNumber)?.doubleValue == -2.3)
        #expect((read["GPS:GPSHPositioningError"] as? NSNumber)?.doubleValue == 7900)
        #expect(try Exiftool.validation(result.payload) == "OK")
        try check(result, .city)
    }

    @Test func invalidPlacesAreNotKept() throws {
        var source = TIFFBuilder()
        source.gps = Blocks.gps(without: [0x01])
        let block = try #require(Blocks.read(source))
        #expect(ExifBuilder.build(block, policy: MetadataPolicy(gps: .keep), picture: picture) == nil)
        source.exif = [(0x829D, .rational([(4, 1)]))]
        #expect(try built(source, MetadataPolicy(exif: .keep, gps: .keep)).kept == [.exif])
    }

    @Test(
        arguments: [
            MetadataPolicy(), MetadataPolicy(exif: .return, gps: .return),
            MetadataPolicy(exif: .return, gps: .strip, gpsPrecision: .city),
        ])
    func writesNothingUnasked(policy: MetadataPolicy) throws {
        let block = try #require(Blocks.read(Blocks.rich()))
        #expect(ExifBuilder.build(block, policy: policy, picture: picture) == nil)
    }

    @Test func isTrueToThePicture() throws {
        let size = PixelSize(width: 16384, height: 12288)
        let block = try #require(Blocks.read(Blocks.rich()))
        let grey = ExifBuilder.Picture(size: size, isSRGB: false, isGrey: true)
        let result = try #require(ExifBuilder.build(block, policy: MetadataPolicy(exif: .keep), picture: grey))
        let read = try Exiftool.read(result.payload)
        #expect((read["ExifIFD:ColorSpace"] as? NSNumber)?.intValue == 65535)
        #expect((read["ExifIFD:ExifImageWidth"] as? NSNumber)?.intValue == 16384)
        #expect((read["ExifIFD:ExifImageHeight"] as? NSNumber)?.intValue == 12288)
        #expect(read["ExifIFD:ComponentsConfiguration"] as? String == "1 0 0 0")
        #expect(read["IFD0:YCbCrPositioning"] == nil)
        try ExifOutputCheck.verify(
            result.payload.span, payload: 0..<result.payload.count,
            allowing: ExifOutputCheck.Allowance(hasExif: true, place: .none, size: size))
    }

    /// The longest texts that there can be, in the longest characters.
    @Test func alwaysFitsOneSegment() throws {
        var source = Blocks.rich()
        for tag in StandardTag.all.values where tag.form == .text {
            let value = TIFFBuilder.Value.ascii(String(repeating: "\u{E9}", count: 500))
            switch tag.key.directory {
            case .image: source.ifd0.removeAll { $0.0 == tag.key.number }
            case .exif: source.exif.removeAll { $0.0 == tag.key.number }
            case .gps, .interoperability: continue
            }
            if tag.key.directory == .image {
                source.ifd0.append((tag.key.number, value))
            } else {
                source.exif.append((tag.key.number, value))
            }
        }
        let result = try built(source, MetadataPolicy(exif: .keep, gps: .keep))
        // The dates' are none.
        #expect(result.payload.count > 8 * 1000)
        #expect(result.payload.count < 65533)
        try check(result, .exact)
    }

    /// A text in the place of a date, of a zone or of a fraction is left out, and so is one that has more than that.
    @Test(
        arguments: [
            (0x0132, "12 Elm Street"), (0x9003, "2024:05:06 07:08:09 Elm"), (0x9003, "2024-05-06T07:08:09"),
            (0x9004, "Elm"), (0x9010, "Elm:00"), (0x9011, "+02:00Elm"), (0x9012, "Z"), (0x9290, "Elm"),
            (0x9291, "12 Elm"), (0x9292, "1234567890"),
        ] as [(UInt16, String)])
    func textsInDatesStayBehind(tag: UInt16, text: String) throws {
        var source = Blocks.rich()
        if tag == 0x0132 {
            source.ifd0 = source.ifd0.filter { $0.0 != tag } + [(tag, .ascii(text))]
        } else {
            source.exif = source.exif.filter { $0.0 != tag } + [(tag, .ascii(text))]
        }
        let result = try built(source, MetadataPolicy(exif: .keep))
        #expect(!String(decoding: result.payload, as: UTF8.self).contains("Elm"))
        let key = StandardTag.Key(directory: tag == 0x0132 ? .image : .exif, number: tag)
        let name = try #require(StandardTag.all[key]).name
        #expect(try !reread(result).record.fields.contains { $0.name == name })
        try check(result, .none)
    }

    /// What is unknown may be blank (EXIF 3.0, section 4.6.6.6.2).
    @Test func datesWithBlanksAreKept() throws {
        var source = TIFFBuilder()
        source.exif = [
            (0x9003, .ascii("2024:05:   :  :  ")), (0x9004, .ascii("2024:05:06   :  :00")), (0x9011, .ascii("-03:  ")),
            (0x9012, .ascii("-03:30")), (0x9291, .ascii("04  ")),
        ]
        let record = try reread(try built(source, MetadataPolicy(exif: .keep))).record
        #expect(record.text("DateTimeOriginal") == nil)
        #expect(record.text("DateTimeDigitized") == "2024:05:06   :  :00")
        #expect(record.text("OffsetTimeDigitized") == "-03:30")
        #expect(record.text("SubSecTimeOriginal") == "04")
    }

    /// It is read with dashes, too, and written as the standard has it.
    @Test func daysOfThePlaceAreWrittenRightly() throws {
        var source = TIFFBuilder()
        source.exif = [(0x829D, .rational([(4, 1)]))]
        source.gps = Blocks.gps([0x1D: .ascii("2024-05-06")])
        let result = try built(source, MetadataPolicy(exif: .keep, gps: .keep))
        #expect(try reread(result).position?.timestamp == Blocks.read(source)?.position?.timestamp)
        #expect(try Exiftool.read(result.payload)["GPS:GPSDateStamp"] as? String == "2024:05:06")
        try check(result, .exact)
    }

    @Test func foreignWritingSurvives() throws {
        var source = TIFFBuilder()
        source.ifd0 = [
            (0x013B, .utf8("Zoë 写真")), (0x0110, .raw(type: 2, count: 4, [0x5A, 0x6F, 0xEB, 0])),
            (0x8298, .raw(type: 2, count: 4, Array("P\0E\0".utf8))),
        ]
        let result = try built(source, MetadataPolicy(exif: .keep))
        let read = try Exiftool.read(result.payload)
        #expect(read["IFD0:Artist"] as? String == "Zoë 写真")
        #expect(read["IFD0:Model"] as? String == "Zoë")
        #expect(read["IFD0:Copyright"] as? String == "P\nE")
        try check(result, .none)
    }

    /// Co-ordinates in unlawful types are written as decimal degrees.
    @Test func oddlyTypedPlaces() throws {
        var source = TIFFBuilder()
        source.gps = Blocks.gps([
            0x02: .double(12.3456789), 0x04: .rational([(179_123_456, 1_000_000)]), 0x06: .double(1.5),
            0x11: .double(123.456), 0x0D: .double(7.25), 0x0C: .ascii("N"),
        ])
        let result = try built(source, MetadataPolicy(exif: .keep, gps: .keep))
        let (before, after) = (try #require(Blocks.read(source)?.position), try #require(try reread(result).position))
        #expect(abs(before.latitude - after.latitude) < 1e-7)
        #expect(abs(before.longitude - after.longitude) < 1e-7)
        #expect(after.altitude == 1.5)
        #expect(abs((before.speed ?? 0) - (after.speed ?? 1)) < 1e-6)
        #expect(after.imageDirection == 123.456)
        #expect(try Exiftool.validation(result.payload) == "OK")
        try check(result, .exact)
    }

    /// keep → read is the identity on what may be kept, for values of the standard's types.
    @Test(arguments: 0..<100 as Range<UInt64>) func keepThenReadIsTheIdentity(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let source = RandomTree.lawful(&random)
        let before = try #require(Blocks.read(source))
        let policy = MetadataPolicy(exif: .keep, gps: .keep)
        let result = try #require(ExifBuilder.build(before, policy: policy, picture: picture))
        let after = try reread(result)
        let names = Set(StandardTag.all.values.filter(\.isKept).map(\.name))
        let kept = { (block: ExifBlock) in block.record.fields.filter { names.contains($0.name) } }
        #expect(kept(after) == kept(before), "seed \(seed)")
        #expect(after.position == before.position, "seed \(seed)")
        #expect(after.capture == before.capture, "seed \(seed)")
        #expect(!after.isDamaged)
        try check(result, .exact)
        // And once more gives the same bytes.
        #expect(ExifBuilder.build(after, policy: policy, picture: picture) == result)
    }
}
