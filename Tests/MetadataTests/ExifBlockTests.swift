import Core
import Foundation
import Support
import Testing

@testable import Metadata

@Suite struct ExifBlockTests {
    /// Every number and text is the one that exiftool reads.
    @Test(arguments: [false, true]) func readsAsExiftoolReads(isBigEndian: Bool) throws {
        let builder = Blocks.rich(isBigEndian: isBigEndian)
        let block = try #require(Blocks.read(builder))
        let told = try Exiftool.read(Exiftool.header(builder.bytes))
        #expect(!block.isDamaged)
        let renamed = [
            "PhotographicSensitivity": "ISO", "ImageLength": "ImageHeight", "DateTime": "ModifyDate",
            "DateTimeDigitized": "CreateDate", "ExposureBiasValue": "ExposureCompensation",
            "PixelXDimension": "ExifImageWidth", "PixelYDimension": "ExifImageHeight",
            "FocalLengthIn35mmFilm": "FocalLengthIn35mmFormat", "LensSpecification": "LensInfo",
            "CameraOwnerName": "OwnerName", "BodySerialNumber": "SerialNumber",
        ]
        // exiftool shows these as speed and f-number, and these as lists in one text.
        let others: Set = [
            "ShutterSpeedValue", "ApertureValue", "ComponentsConfiguration", "SubjectArea", "LensSpecification",
        ]
        var compared = 0
        for field in block.record.fields where !field.name.hasSuffix("_text") && !others.contains(field.name) {
            let name = renamed[field.name] ?? field.name
            let theirs = told["IFD0:\(name)"] ?? told["ExifIFD:\(name)"]
            compared += 1
            switch field.value {
            case .integer(let value): #expect((theirs as? NSNumber)?.intValue == value, "\(name)")
            case .number(let value):
                let other = try #require((theirs as? NSNumber)?.doubleValue, "\(name)")
                #expect(abs(value - other) <= 1e-9 * max(1, abs(other)), "\(name)")
            case .text(let value): #expect(theirs.map { "\($0)" } == value || name.hasSuffix("Version"), "\(name)")
            default: Issue.record("\(name)")
            }
        }
        #expect(compared == 41)
        #expect(block.record["SubjectArea"] == .integers([10, 20, 30, 40]))
        #expect(block.record["LensSpecification"] == .numbers([2.22, 9, 1.78, nil]))
        #expect(block.record["ShutterSpeedValue"] == .number(5.9))
        #expect(block.record["ExifVersion"] == .text("0232"))
        #expect(block.foundBytes.keys.sorted { $0.rawValue < $1.rawValue } == [.exif, .gps, .makernote, .thumbnail])
        #expect(block.foundBytes[.makernote] == 19)
        #expect(block.foundBytes[.thumbnail] == 20)
        #expect(block.foundBytes[.exif] == builder.bytes.count)
    }

    /// Blocks that exiftool itself wrote.
    @Test func readsWhatExiftoolWrites() throws {
        let tiff = try Exiftool.written([
            "Make=Olympus", "LensModel=M.Zuiko 12-40mm", "ExposureTime=0.004", "FNumber=2.8", "ISO=200",
            "DateTimeOriginal=2021:02:03 04:05:06", "OffsetTimeOriginal=-03:30", "SubSecTimeOriginal=98",
            "GPSLatitude=12.345678", "GPSLatitudeRef=S", "GPSLongitude=98.7654321", "GPSLongitudeRef=E",
            "GPSAltitude=12.5", "GPSAltitudeRef=1", "EXIF:Flash=1",
        ])
        let block = try #require(ExifBlock(reading: tiff))
        #expect(!block.isDamaged)
        #expect(block.capture.takenAt == "2021-02-03T04:05:06.98-03:30")
        #expect(block.capture.lens == "M.Zuiko 12-40mm")
        #expect(block.capture.exposureTime == 0.004)
        #expect(block.capture.fNumber == 2.8)
        #expect(block.capture.iso == 200)
        #expect(block.capture.flashFired == true)
        let position = try #require(block.position)
        #expect(abs(position.latitude - -12.345678) < 1e-7)
        #expect(abs(position.longitude - 98.7654321) < 1e-7)
        #expect(position.altitude == -12.5)
    }

    @Test func neverTellsBlobs() throws {
        let block = try #require(Blocks.read(Blocks.rich()))
        let names = Set(block.record.fields.map(\.name))
        #expect(
            names.isDisjoint(with: ["MakerNote", "UserComment", "JPEGInterchangeFormat", "GPSLatitude", "XPComment"]))
        #expect(!"\(block.record)".localizedCaseInsensitiveContains("secret"))
    }

    /// libexif gets no MakerNote to interpret, and no more bytes than it reads, whatever the source's length.
    @Test func libexifSeesACompactBlock() throws {
        // What makes libexif's Olympus reader start.
        let note = Array("OLYMP\0\u{1}\0".utf8) + [UInt8](repeating: 0x5A, count: 190_000)
        let builder = Blocks.rich(makerNote: note)
        #expect(builder.bytes.count > 190_000)
        let compact = CompactBlock(try #require(TIFFWalk(builder.bytes))).bytes
        #expect(compact.count < 1500)
        #expect(!compact.contains(0x5A))
        #expect(Blocks.read(builder)?.record == Blocks.read(Blocks.rich())?.record)
        #expect(Blocks.read(builder)?.position == Blocks.read(Blocks.rich())?.position)
        #expect(Blocks.read(builder)?.isDamaged == false)
    }

    /// The longest that there can be: each tag with the most that is read of it.
    @Test func compactBlocksFitLibexif() throws {
        var block = TIFFBuilder()
        for tag in StandardTag.all.values {
            let text = TIFFBuilder.Value.ascii(String(repeating: "x", count: 9000))
            let value = tag.form == .text ? text : .raw(type: 5, count: 16, [UInt8](repeating: 1, count: 128))
            switch tag.key.directory {
            case .image: block.ifd0.append((tag.key.number, value))
            case .exif: block.exif.append((tag.key.number, value))
            case .gps: block.gps.append((tag.key.number, value))
            case .interoperability: block.interoperability.append((tag.key.number, value))
            }
        }
        let compact = CompactBlock(try #require(TIFFWalk(block.bytes))).bytes
        #expect(compact.count + 6 < 0xFFFE)
        #expect(try #require(Blocks.read(block)).fields.count == StandardTag.all.count)
    }

    @Test(
        arguments: [
            ("plain", Array("plain\0".utf8), "plain", false), ("trimmed", Array("  a b \0\0 \0".utf8), "a b", false),
            ("no NUL", Array("abcdef".utf8), "abcdef", false),
            ("rest behind NUL", Array("ab\0cdef\0".utf8), "ab", false),
            ("UTF-8", Array("Zoë 写真\0".utf8), "Zoë 写真", false), ("Latin-1", [0x5A, 0x6F, 0xEB, 0], "Zoë", true),
            ("control characters", [0x61, 0x1B, 0x5B, 0x0A, 0x62, 0], "a[b", false),
            ("blank", [0x20, 0x20, 0], nil, false),
        ] as [(String, [UInt8], String?, Bool)])
    func texts(what: String, bytes: [UInt8], expected: String?, isLatin1: Bool) throws {
        var builder = TIFFBuilder()
        builder.ifd0 = [(0x0110, .raw(type: 2, count: UInt32(bytes.count), bytes)), (0x0112, .short(1))]
        let block = try #require(Blocks.read(builder))
        #expect(block.record["Model"] == expected.map(ExifValue.text), "\(what)")
        #expect(block.hasLatin1 == isLatin1)
        #expect(!block.isDamaged)
    }

    @Test func textsAreBounded() throws {
        for character in ["x", "é", "写", "🦊"] {
            var builder = TIFFBuilder()
            builder.ifd0 = [(0x013B, .ascii("a" + String(repeating: character, count: 3000)))]
            let block = try #require(Blocks.read(builder))
            let text = try #require(block.record.text("Artist"))
            #expect((997...1000).contains(text.utf8.count))
            #expect(text.dropFirst().allSatisfy { String($0) == character })
            #expect(!block.hasLatin1)
        }
        var builder = TIFFBuilder()
        builder.ifd0 = [(0x013B, .raw(type: 2, count: 900, [UInt8](repeating: 0xE9, count: 900)))]
        #expect(Blocks.read(builder)?.record["Artist"] == .text(String(repeating: "é", count: 500)))
    }

    @Test func utf8TypeOfExif3() throws {
        var builder = TIFFBuilder()
        builder.ifd0 = [(0x013B, .utf8("Zoë 写真"))]
        builder.exif = [(0xA434, .utf8("Объектив"))]
        let block = try #require(Blocks.read(builder))
        #expect(block.record["Artist"] == .text("Zoë 写真"))
        #expect(block.capture.lens == "Объектив")
        #expect(!block.isDamaged)
    }

    @Test func copyrightIsOfTwo() throws {
        for (bytes, expected) in [
            ("P\0E\0", "P\nE"), (" \0E\0", "\nE"), ("P\0", "P"), ("P\0 \0", "P"), ("P\0E\0X\0", "P\nE"),
        ] {
            var builder = TIFFBuilder()
            builder.ifd0 = [(0x8298, .raw(type: 2, count: UInt32(bytes.utf8.count), Array(bytes.utf8)))]
            #expect(Blocks.read(builder)?.record["Copyright"] == .text(expected))
        }
    }

    /// What says the same in another type is read; what does not is left out, and said.
    @Test func wrongTypes() throws {
        let block = try #require(
            Blocks.read(exif: [
                (0x829D, .short(4)), (0x8827, .long(12800)), (0x829A, .double(0.25)),
                (0x9003, .undefined(Array("2024".utf8))),
                (0xA300, .short(3)),
            ]))
        #expect(block.record["FNumber"] == .integer(4))
        #expect(block.record["PhotographicSensitivity"] == .integer(12800))
        #expect(block.record["ExposureTime"] == .number(0.25))
        #expect(block.record["DateTimeOriginal"] == .text("2024"))
        #expect(block.record["FileSource"] == .integer(3))
        #expect(!block.isDamaged)
        let bad = try #require(
            Blocks.read(exif: [
                (0x829D, .ascii("f/4")), (0x9003, .rational([(1, 2)])), (0xA433, .bytes([65, 66])),
                (0xA434, .ascii("Lens")),
            ]))
        #expect(bad.record.fields == [.init(name: "LensModel", value: .text("Lens"))])
        #expect(bad.isDamaged)
    }

    @Test func fractionsOfZeroAreLeftOut() throws {
        let block = try #require(
            Blocks.read(exif: [
                (0x829A, .rational([(0, 0)])), (0x829D, .rational([(1, 0)])), (0x9204, .signedRational([(0, 0)])),
                (0x9206, .rational([(0xFFFF_FFFF, 1)])), (0xA432, .rational([(0, 0), (0, 0), (0, 0), (0, 0)])),
                (0xA434, .ascii("Lens")),
            ]))
        #expect(block.record.fields.map(\.name) == ["LensModel"])
        #expect(!block.isDamaged)
    }

    /// Enough of them to be noticed if each were followed.
    @Test func theFirstPointerToADirectoryCounts() throws {
        var builder = TIFFBuilder()
        builder.exif = [(0x829D, .rational([(28, 10)]))]
        builder.ifd0 = Array(repeating: (0xA005, .long(8)), count: 65_000)
        let block = try #require(Blocks.read(builder))
        #expect(block.record["FNumber"] == .number(2.8))
        #expect(!block.facts.found.contains(.gps))
    }

    @Test func countsTooLongAreCut() throws {
        let block = try #require(
            Blocks.read(exif: [(0x8827, .shorts([100, 0])), (0x9214, .shorts([1, 2, 3, 4, 5, 6]))]))
        #expect(block.record["PhotographicSensitivity"] == .integer(100))
        #expect(block.record["SubjectArea"] == .integers([1, 2, 3, 4]))
    }

    /// As exiftool reads them.
    @Test func tagsInTheOtherDirectoryAreRead() throws {
        var builder = TIFFBuilder()
        builder.ifd0 = [(0x829D, .rational([(4, 1)])), (0x8827, .short(100))]
        builder.exif = [(0x8827, .short(200)), (0x0112, .short(6)), (0x0132, .ascii("2024:05:06 07:08:10"))]
        let block = try #require(Blocks.read(builder))
        #expect(block.record["DateTime"] == .text("2024:05:06 07:08:10"))
        #expect(block.facts.orientation == nil)
        #expect(block.record["FNumber"] == .number(4))
        #expect(block.record["PhotographicSensitivity"] == .integer(200))
    }

    @Test func wordsStandBesideNumbers() throws {
        let record = try #require(Blocks.read(Blocks.rich())).record
        let expected = [
            "ExposureProgram_text": "Normal program", "MeteringMode_text": "Pattern",
            "Flash_text": "Flash did not fire, compulsory flash mode", "WhiteBalance_text": "Auto white balance",
            "ColorSpace_text": "Uncalibrated", "FileSource_text": "DSC",
            "Orientation_text": "0th row at right, 0th column at top",
        ]
        for (name, text) in expected { #expect(record[name] == .text(text)) }
        #expect(Blocks.read(exif: [(0x9207, .short(77))])?.record.fields.map(\.name) == ["MeteringMode"])
    }

    /// The values that EXIF 3.0 lists for Flash, with its words.
    @Test(
        arguments: [
            (0x00, "Flash did not fire"), (0x01, "Flash fired"), (0x05, "Flash fired, return light not detected"),
            (0x07, "Flash fired, return light detected"), (0x09, "Flash fired, compulsory flash mode"),
            (0x0D, "Flash fired, compulsory flash mode, return light not detected"),
            (0x10, "Flash did not fire, compulsory flash mode"), (0x18, "Flash did not fire, auto mode"),
            (0x19, "Flash fired, auto mode"), (0x1F, "Flash fired, auto mode, return light detected"),
            (0x20, "No flash function"), (0x41, "Flash fired, red-eye reduction mode"),
            (0x59, "Flash fired, auto mode, red-eye reduction mode"),
        ] as [(UInt16, String)])
    func flash(bits: UInt16, words: String) {
        #expect(Blocks.read(exif: [(0x9209, .short(bits))])?.record["Flash_text"] == .text(words))
    }

    /// The four bytes of the pointer to the Exif directory, which stands first.
    private func pointing(to offset: UInt32) -> [UInt8] {
        var builder = TIFFBuilder()
        builder.ifd0 = [(0x0110, .ascii("Model")), (0x8769, .long(offset)), (0x8825, .long(offset))]
        return builder.bytes
    }

    @Test(arguments: [8, 0, 4_000_000_000, 60] as [UInt32]) func loopsAndPointersOutside(offset: UInt32) throws {
        let block = try #require(ExifBlock(reading: pointing(to: offset)))
        #expect(block.record["Model"] == .text("Model"))
        #expect(block.isDamaged)
    }

    @Test func aBlockCutShortTellsWhatItHas() throws {
        let whole = Blocks.rich().bytes
        let cut = try #require(ExifBlock(reading: Array(whole.prefix(400))))
        #expect(cut.isDamaged)
        #expect(cut.record["Make"] == .text("Maker Corp"))
        #expect(cut.facts.orientation == .rotated90)
    }
}
