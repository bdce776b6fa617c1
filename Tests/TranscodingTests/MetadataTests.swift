import Core
import Support
import Testing

/// EXIF and GPS on each of the ways that a picture takes.
@Suite struct MetadataTests {
    /// 48° 51' 29.96" N, 2° 17' 40.2" W, and what must go nowhere.
    private var exif: TIFFBuilder {
        var block = TIFFBuilder()
        block.ifd0 = [
            (0x010F, .ascii("Maker")), (0x0110, .ascii("Model 1")), (0x0112, .short(1)), (0x013C, .ascii("Her phone")),
        ]
        block.exif = [
            (0x829A, .rational([(1, 60)])), (0x829D, .rational([(178, 100)])), (0x9003, .ascii("2024:05:06 07:08:09")),
            (0x9011, .ascii("+02:00")), (0x927C, .undefined(Array("Secret of the maker".utf8))),
            (0xA001, .short(1)), (0xA002, .long(4032)), (0xA431, .ascii("SN123")),
        ]
        block.gps = [
            (1, .ascii("N")), (2, .rational([(48, 1), (51, 1), (2996, 100)])), (3, .ascii("W")),
            (4, .rational([(2, 1), (17, 1), (402, 10)])), (5, .bytes([0])), (6, .rational([(3525, 100)])),
            (7, .rational([(5, 1), (8, 1), (950, 100)])), (29, .ascii("2024:05:06")),
        ]
        block.ifd1 = [(0x0201, .long(60)), (0x0202, .long(20))]
        return block
    }

    private struct Way: Sendable, CustomStringConvertible {
        let path: TranscodePath
        let orientation: UInt16
        let pairs: [(String, String)]
        let size: PixelSize
        var description: String { "\(path) \(orientation) \(pairs)" }
    }

    private static let ways = [
        Way(path: .copy, orientation: 1, pairs: [], size: PixelSize(width: 64, height: 48)),
        Way(path: .lossless, orientation: 6, pairs: [], size: PixelSize(width: 48, height: 64)),
        Way(path: .lossless, orientation: 1, pairs: [("progressive", "true")], size: PixelSize(width: 64, height: 48)),
        Way(path: .reencode, orientation: 8, pairs: [("max_width", "30")], size: PixelSize(width: 30, height: 40)),
        Way(
            path: .reencode, orientation: 1, pairs: [("max_bytes", "2KB"), ("crop", "60:41")],
            size: PixelSize(width: 64, height: 44)),
    ]

    private func photo(_ way: Way) throws -> [UInt8] {
        var block = exif
        block.ifd0[2] = (0x0112, .short(way.orientation))
        return inserting(block.app1, into: try JPEGPictures.cjpeg(64, 48, ["-sample", "2x2"]))
    }

    @Test(arguments: ways) private func keepsOnEachWay(way: Way) throws {
        let done = try Transcoded(try photo(way), way.pairs + [("exif", "keep"), ("gps", "keep")])
        #expect(done.report.path == way.path && done.report.size == way.size)
        #expect(done.report.kept == [.exif, .gps])
        #expect(done.report.removed == [.makernote, .thumbnail])
        let tags = try done.tags()
        #expect(tags["IFD0:Make"] == "Maker" && tags["IFD0:Orientation"] == "1")
        #expect(tags["ExifIFD:DateTimeOriginal"] == "2024:05:06 07:08:09")
        #expect(tags["ExifIFD:OffsetTimeOriginal"] == "+02:00")
        #expect(tags["ExifIFD:FNumber"] == "1.78" && tags["ExifIFD:ColorSpace"] == "1")
        #expect(tags["ExifIFD:ExifImageWidth"] == "\(way.size.width)")
        #expect(tags["ExifIFD:ExifImageHeight"] == "\(way.size.height)")
        #expect(abs((tags["Composite:GPSLatitude"].flatMap(Double.init) ?? 0) - 48.8583222) < 1e-6)
        #expect(abs((tags["Composite:GPSLongitude"].flatMap(Double.init) ?? 0) + 2.2945) < 1e-6)
        #expect(tags["ExifIFD:SerialNumber"] == nil && tags["IFD0:HostComputer"] == nil)
        #expect(!tags.keys.contains { $0.hasPrefix("IFD1") || $0.contains("MakerNote") || $0.contains("Thumbnail") })
        let order = try JPEGPictures.segmentMarkers(done.jpeg)
        #expect(order.starts(with: [0xE0, 0xE1]) && order.filter { $0 == 0xE1 }.count == 1)
        let picture = try JPEGPictures.rgb(done.jpeg)
        #expect(picture.count == 3 * way.size.width * way.size.height)
    }

    @Test(arguments: ways) private func stripsOnEachWay(way: Way) throws {
        let done = try Transcoded(try photo(way), way.pairs)
        #expect(done.report.removed == [.exif, .gps, .makernote, .thumbnail])
        #expect(done.report.kept == [] && done.report.disclosure == Disclosure())
    }

    /// The pictures are the same byte for byte but for the block.
    @Test(arguments: ways.filter { !$0.pairs.contains { $0.0 == "max_bytes" } })
    private func returnsWithoutKeeping(way: Way) throws {
        let photo = try photo(way)
        let stripped = try Transcoded(photo, way.pairs)
        let returned = try Transcoded(photo, way.pairs + [("exif", "return"), ("gps", "return")])
        #expect(returned.jpeg == stripped.jpeg)
        #expect(returned.report.disclosure.exif?.text("Make") == "Maker")
        #expect(returned.report.disclosure.capture?.takenAt == "2024-05-06T07:08:09+02:00")
        #expect(returned.report.disclosure.position?.timestamp == "2024-05-06T05:08:09.5Z")
        let kept = try Transcoded(photo, way.pairs + [("exif", "keep")])
        let from = kept.jpeg.count - stripped.jpeg.count
        #expect(from > 0 && kept.jpeg[(20 + from)...] == stripped.jpeg[20...])
    }

    @Test func keepsThePlaceAlone() throws {
        let done = try Transcoded(try photo(MetadataTests.ways[0]), [("gps", "keep")])
        #expect(done.report.kept == [.gps] && done.report.removed == [.exif, .makernote, .thumbnail])
        let tags = try done.tags().keys.filter { !$0.hasPrefix("ExifTool") && !$0.hasPrefix("System") }
        #expect(tags.contains("GPS:GPSLatitude") && !tags.contains("GPS:GPSTimeStamp"))
        #expect(!tags.contains { $0.hasPrefix("IFD0") || $0.hasPrefix("ExifIFD") })
        #expect(done.report.disclosure.exif == nil && done.report.disclosure.position != nil)
    }

    @Test func keepsTheCity() throws {
        let options = [("exif", "keep"), ("gps", "keep"), ("gps_precision", "city")]
        let done = try Transcoded(try photo(MetadataTests.ways[1]), options)
        let tags = try done.tags()
        #expect(tags["Composite:GPSLatitude"] == "48.9" && tags["Composite:GPSLongitude"] == "-2.3")
        #expect(tags.keys.filter { $0.hasPrefix("GPS:") }.count == 6)
        #expect(done.report.disclosure.position?.latitude == 48.9)
        #expect(done.report.disclosure.position?.altitude == nil)
    }

    @Test(arguments: [PixelSize?.none, PixelSize(width: 64, height: 64)])
    func keepsWhatAHEICTells(tile: PixelSize?) throws {
        var picture = HEICPicture(200, 136)
        picture.tile = tile
        picture.orientation = .rotated90
        picture.nclx = .displayP3
        var block = exif
        block.ifd0[2] = (0x0112, .short(6))
        picture.exif = [block.bytes]
        let done = try Transcoded(try picture.make(), [("exif", "keep"), ("gps", "keep")])
        #expect(done.report.kept == [.exif, .gps] && done.report.removed == [.makernote, .thumbnail])
        #expect(done.report.warnings == [])
        let tags = try done.tags()
        #expect(tags["IFD0:Orientation"] == "1" && tags["ExifIFD:ExifImageWidth"] == "136")
        #expect(tags["ExifIFD:ColorSpace"] == "65535", "Display P3 is not sRGB")
        #expect(tags["IFD0:Make"] == "Maker" && tags["Composite:GPSAltitude"] == "35.25")
        let srgb = try Transcoded(try picture.make(), [("exif", "keep"), ("color", "srgb")])
        #expect(try srgb.tags()["ExifIFD:ColorSpace"] == "1")
    }

    /// The block counts: a picture that fits without it does not fit with it.
    @Test func countsAgainstTheBudget() throws {
        let photo = try photo(MetadataTests.ways[0])
        let stripped = try Transcoded(photo, [])
        let budget = "\(stripped.jpeg.count)"
        #expect(try Transcoded(photo, [("max_bytes", budget)]).report.path == .copy)
        let kept = try Transcoded(photo, [("max_bytes", budget), ("exif", "keep"), ("gps", "keep")])
        #expect(kept.report.path == .reencode)
        #expect(kept.jpeg.count <= stripped.jpeg.count)
        #expect(kept.report.kept == [.exif, .gps])
    }

    @Test func saysWhatIsOdd() throws {
        let plain = try JPEGPictures.cjpeg(64, 48, [])
        let xmp = JPEGPictures.segment(
            0xE1, Array("http://ns.adobe.com/xap/1.0/\0<rdf:Description xmp:CreateDate=\"2024-05-06\"/>".utf8))
        var latin1 = TIFFBuilder()
        latin1.ifd0 = [(0x0110, .raw(type: 2, count: 6, [0x5A, 0x6F, 0xEB, 0x21, 0x21, 0]))]
        let cases: [([UInt8], [Warning], [Warning])] = [
            (exif.app1 + exif.app1, [.exifRepeated], [.exifRepeated]),
            (JPEGPictures.segment(0xE1, Array("Exif\0\0no TIFF".utf8)), [.exifDamaged], [.exifDamaged]),
            (
                JPEGPictures.segment(0xE1, Array("Exif\0\0".utf8) + exif.bytes.prefix(300)), [.exifDamaged],
                [.exifDamaged]
            ),
            (xmp, [.dateInXMP], []), (exif.app1 + xmp, [], []), (latin1.app1, [.exifLatin1], []),
        ]
        for (segments, returned, stripped) in cases {
            let photo = inserting(segments, into: plain)
            #expect(try Transcoded(photo, [("exif", "return")]).report.warnings == returned)
            #expect(try Transcoded(photo, []).report.warnings == stripped)
        }
    }

    @Test(arguments: ways) private func inspects(way: Way) throws {
        let photo = inserting(JPEGPictures.segment(0xFE, Array("hello".utf8)), into: try photo(way))
        for asked in [[], [("exif", "keep"), ("gps", "return")], [("exif", "return"), ("gps_precision", "city")]] {
            var done = try Transcoded(photo, way.pairs + asked).report
            let told = try Transcoded.inspected(photo, way.pairs + asked)
            // What a budget takes is found out by trying.
            if way.pairs.contains(where: { $0.0 == "max_bytes" }) { done.quality = told.quality }
            #expect(told == done)
            #expect(told.found[.comment] == 5 && told.found[.makernote] == 19 && told.found[.thumbnail] == 20)
            #expect(told.found[.exif] == exif.bytes.count + 6)
        }
    }

    @Test func inspectsAHEIC() throws {
        var picture = HEICPicture(200, 136)
        picture.tile = PixelSize(width: 64, height: 64)
        picture.nclx = ColourDescription(primaries: 9, transfer: 16, matrix: 9, isFullRange: true)
        picture.depth = 10
        picture.exif = [exif.bytes]
        let heic = try picture.make()
        let options = [("exif", "return"), ("gps", "keep"), ("max_width", "100")]
        #expect(try Transcoded.inspected(heic, options) == Transcoded(heic, options).report)
    }
}
