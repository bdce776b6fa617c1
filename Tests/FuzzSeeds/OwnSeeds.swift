import Core
import Support

/// Seeds from the tests' own picture makers.
enum OwnSeeds {
    static func all() throws -> [Seed] {
        let jpegs = try jpegs()
        let heics = try heics()
        let shapes = shapes().map { ($0.0, $0.1.bytes) }
        var seeds = messages() + blocks()
        for (name, bytes) in jpegs + heics + shapes {
            seeds.append(Seed("FuzzSniff", name, Array(bytes.prefix(300))))
        }
        for (name, bytes) in heics + shapes { seeds.append(Seed("FuzzBoxes", name, bytes)) }
        for (name, bytes) in jpegs { seeds.append(Seed("FuzzJPEGSegments", name, bytes)) }
        for (index, (name, bytes)) in (jpegs + heics).enumerated() {
            for choice in [0, 1 + index % (Choice.options.count - 1)] {
                seeds.append(Seed("FuzzTranscoder", "\(choice)-\(name)", Choice.options[choice] + bytes))
            }
        }
        return seeds
    }

    private static func jpegs() throws -> [(String, [UInt8])] {
        let kinds: [(String, [String])] = [
            ("baseline", []), ("grey", ["-grayscale"]), ("420", ["-sample", "2x2"]), ("422", ["-sample", "2x1"]),
            ("444", ["-sample", "1x1"]), ("restarts", ["-restart", "1B"]), ("progressive", ["-progressive"]),
            ("optimized", ["-optimize", "-quality", "20"]), ("arithmetic", ["-arithmetic"]),
        ]
        var made = try kinds.map { kind in (kind.0 + ".jpg", try JPEGPictures.cjpeg(24, 17, kind.1)) }
        made.append(("cmyk.jpg", try JPEGPictures.cmyk(16, 16)))
        let turned = made[2].1
        for orientation in [3, 6] as [UInt8] {
            let exif = JPEGPictures.exif(orientation: orientation)
            made.append(("turned-\(orientation).jpg", turned[..<2] + exif + turned[2...]))
        }
        let segments =
            JPEGShape.segment(0xE1, "Exif\0\0", TIFFBuilder.rich().bytes) + JPEGShape.icc(1, of: 2, [1])
            + JPEGShape.icc(2, of: 2, [2]) + JPEGShape.segment(0xFE, "a comment") + JPEGShape.adobe(1)
            + JPEGShape.segment(0xE1, "http://ns.adobe.com/xap/1.0/\0tiff:Orientation=\"6\" exif:GPSLatitude")
            + JPEGShape.segment(0xE2, "MPF\0") + JPEGShape.segment(0xED, "Photoshop 3.0\0")
        made.append(("segments.jpg", JPEGShape.file(segments, appended: JPEGShape.file())))
        made.append(("dressed.jpg", turned[..<2] + segments + turned[2...]))
        return made
    }

    private static func heics() throws -> [(String, [UInt8])] {
        var grid = HEICPicture(100, 70)
        grid.tile = PixelSize(width: 64, height: 64)
        grid.orientation = .rotated90
        var deep = HEICPicture(40, 24)
        deep.depth = 10
        deep.chroma = .s422
        deep.nclx = ColourDescription(primaries: 9, transfer: 16, matrix: 9, isFullRange: false)
        var alpha = HEICPicture(32, 32)
        alpha.alpha = { x, _ in UInt8(truncatingIfNeeded: 8 * x) }
        var grey = HEICPicture(33, 17)
        grey.chroma = .grey
        var cropped = HEICPicture(64, 48)
        cropped.part = HEICPicture.Part(5, 3, 31, 30)
        let pictures = [
            ("single", HEICPicture(24, 16)), ("grid", grid), ("deep", deep), ("alpha", alpha), ("grey", grey),
            ("cropped", cropped),
        ]
        return try pictures.map { name, picture in (name + ".heic", try picture.make()) }
    }

    private static func shapes() -> [(String, HEIFShape)] {
        var wide = HEIFShape.grid
        wide.isWide = true
        wide.properties += [
            HEIFShape.irot(3), HEIFShape.clap(60, 1, 50, 1, 1, 2, -1, 2), HEIFShape.prof([1, 2, 3, 4]),
            HEIFShape.auxC("urn:mpeg:hevc:2015:auxid:1"), HEIFShape.pixi(8, 8, 8), HEIFShape.nclx(1, 13, 6, 0x80),
        ]
        wide.items[4].properties += [4, 5, 6, 8]
        wide.items += [
            HEIFShape.Item(id: 6, type: "hvc1", properties: [1, 2, 7, 9]),
            HEIFShape.Item(id: 7, type: "Exif", data: [0, 0, 0, 0] + TIFFBuilder.rich().bytes, extents: 2),
            HEIFShape.Item(
                id: 8, type: "mime", contentType: "application/rdf+xml", data: Array("tiff:Orientation=\"6\"".utf8)),
        ]
        wide.references += [
            HEIFShape.Reference(type: "auxl", from: 6, to: [5]), HEIFShape.Reference(type: "cdsc", from: 7, to: [5]),
        ]
        var late = HEIFShape()
        late.isDataFirst = true
        late.appended = HEIFShape.box("free", [1, 2, 3]) + HEIFShape.box("sefd", [4, 5])
        return [("shape.heic", HEIFShape()), ("shape-grid.heic", .grid), ("wide.heic", wide), ("late.heic", late)]
    }

    private static func blocks() -> [Seed] {
        Choice.policies.flatMap { policy in
            [false, true].map { isBigEndian in
                Seed(
                    "FuzzExif", "rich-\(policy)-\(isBigEndian ? "MM" : "II")",
                    [policy] + TIFFBuilder.rich(isBigEndian: isBigEndian).bytes)
            }
        }
    }

    private static func messages() -> [Seed] {
        var options = Options()
        options.maxWidth = 2000
        options.crop = .ratio(16, 9)
        options.maxBytes = 500_000
        let report = Report(
            path: .reencode, size: PixelSize(width: 30, height: 40), quality: 88,
            source: Report.Source(
                format: .heic, size: PixelSize(width: 40, height: 30), orientation: .rotated90,
                orientationSource: .exif),
            color: Report.Color(source: "Display P3", output: "sRGB"), found: [.exif: 300, .gps: 90],
            kept: [.exif], warnings: [.exifDamaged])
        return [
            Seed("FuzzJobMessage", "job", JobMessage.encode(Job(options: Options(), limits: Limits()))),
            Seed("FuzzJobMessage", "job-options", JobMessage.encode(Job(options: options, limits: Limits()))),
            Seed("FuzzJobMessage", "done", JobMessage.encode(.done(report))),
            Seed(
                "FuzzJobMessage", "failed",
                JobMessage.encode(.failed(Failure(.corrupt, "a detail", diagnosis: "its words")))),
        ]
    }
}

extension TIFFBuilder {
    /// A value of every kind, some that may be kept and some that may not.
    fileprivate static func rich(isBigEndian: Bool = false) -> TIFFBuilder {
        var block = TIFFBuilder()
        block.isBigEndian = isBigEndian
        block.ifd0 = [
            (0x010E, .ascii("A description")), (0x010F, .ascii("Maker")), (0x0110, .utf8("Modèle")),
            (0x0112, .short(6)),
            (0x011A, .rational([(300, 1)])), (0x0132, .ascii("2024:05:06 07:08:10")), (0x8298, .ascii("(c) A\0(c) B")),
        ]
        block.exif = [
            (0x829A, .rational([(1, 60)])), (0x8827, .short(64)), (0x9003, .ascii("2024:05:06 07:08:09")),
            (0x9010, .ascii("+02:00")), (0x9201, .signedRational([(59, 10)])), (0x927C, .undefined([1, 2, 3, 4, 5])),
            (0x9286, .undefined(Array("ASCII\0\0\0secret".utf8))), (0xA001, .short(65535)), (0xA002, .long(4032)),
            (0xA432, .rational([(222, 100), (9, 1), (178, 100), (0, 0)])), (0xA434, .ascii("Lens 24mm")),
        ]
        block.interoperability = [(0x0001, .ascii("R03"))]
        block.gps = [
            (0x00, .bytes([2, 3, 0, 0])), (0x01, .ascii("N")), (0x02, .rational([(48, 1), (51, 1), (2996, 100)])),
            (0x03, .ascii("W")), (0x04, .rational([(2, 1), (17, 1), (402, 10)])), (0x05, .bytes([1])),
            (0x06, .rational([(3525, 100)])), (0x07, .rational([(5, 1), (8, 1), (950, 100)])), (0x0C, .ascii("K")),
            (0x0D, .rational([(36, 1)])), (0x10, .ascii("T")), (0x11, .rational([(9128, 100)])),
            (0x1D, .ascii("2024:05:06")), (0x1F, .rational([(65, 10)])),
        ]
        block.ifd1 = [(0x0103, .short(6)), (0x0201, .long(60)), (0x0202, .long(20))]
        return block
    }
}
