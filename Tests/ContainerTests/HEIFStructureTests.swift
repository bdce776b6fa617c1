import Container
import Core
import Support
import Testing

@Suite struct HEIFStructureTests {
    private func parse(_ bytes: [UInt8]) throws -> HEIFStructure {
        try HEIFStructure(parsing: bytes.span, limits: Limits())
    }

    // MARK: The primary picture

    @Test(arguments: [false, true]) func readsASingleItem(isWide: Bool) throws {
        var shape = HEIFShape()
        shape.isWide = isWide
        shape.properties += [HEIFShape.pixi(10, 10, 10), HEIFShape.nclx(9, 16, 9, 0x80)]
        shape.properties[1] = HEIFShape.hvcC(chroma: 2, luma: 10, chromaDepth: 9)
        shape.items[0].properties = [1, 2, 3, 4]
        let structure = try parse(shape.bytes)
        #expect(structure.primary.id == 1)
        #expect(structure.primary.size == PixelSize(width: 64, height: 48))
        #expect(structure.primary.grid == nil)
        #expect(structure.primary.format.chromaFormat == 2)
        #expect(structure.primary.format.lumaDepth == 10 && structure.primary.format.chromaDepth == 9)
        #expect(structure.displaySize == PixelSize(width: 64, height: 48))
        #expect(
            structure.colour.description
                == ColourDescription(primaries: 9, transfer: 16, matrix: 9, isFullRange: true))
        #expect(structure.colour.profile == .absent)
        #expect(structure.orientation == nil && structure.transforms.isEmpty && structure.alpha == nil)
        #expect(structure.removed.isEmpty && structure.warnings.isEmpty && structure.exif.isEmpty)
    }

    @Test(arguments: [(false, false), (true, false), (false, true)]) func readsAGrid(isWide: Bool, dataFirst: Bool)
        throws
    {
        var shape = HEIFShape.grid
        shape.isWide = isWide
        shape.isDataFirst = dataFirst
        if isWide { shape.items[4].data = HEIFShape.grid(columns: 2, rows: 2, 100, 80, isWide: true) }
        let structure = try parse(shape.bytes)
        #expect(structure.primary.id == 5)
        #expect(structure.primary.size == PixelSize(width: 100, height: 80))
        let grid = try #require(structure.primary.grid)
        #expect(grid.columns == 2 && grid.rows == 2)
        #expect(grid.tileSize == PixelSize(width: 64, height: 64))
        #expect(grid.tiles == [1, 2, 3, 4])
        #expect(grid.data.map { $0.bytes(in: shape.bytes.span) } == shape.items.prefix(4).map(\.data))
        let configuration = try #require(grid.configuration)
        #expect(Array(shape.bytes[configuration]) == Array(HEIFShape.hvcC().dropFirst(8)))
        #expect(structure.removed.isEmpty && structure.warnings.isEmpty)
    }

    @Test func aGridHasNoConfigurationThatItsTilesDoNotShare() throws {
        var shape = HEIFShape.grid
        shape.properties.append(HEIFShape.hvcC())
        let another = shape.properties.count
        shape.items[2].properties = [1, another]
        #expect(try parse(shape.bytes).primary.grid?.configuration == nil)
        shape.items[2].properties = [1, 2, another]
        #expect(try parse(shape.bytes).primary.grid?.configuration == nil)
    }

    /// A grid's description may lie in the file and in several extents.
    @Test func readsAGridInPieces() throws {
        var shape = HEIFShape.grid
        shape.items[4].isInline = false
        shape.items[4].extents = 3
        #expect(try parse(shape.bytes).primary.grid?.tiles.count == 4)
    }

    @Test func takesTheTilesColourWhereTheGridHasNone() throws {
        var shape = HEIFShape.grid
        shape.properties += [HEIFShape.prof([7, 8, 9]), HEIFShape.nclx(1, 13, 6, 0x80)]
        for index in 0..<4 { shape.items[index].properties.append(4) }
        let file = shape.bytes
        guard case .complete(let profile) = try parse(file).colour.profile else {
            Issue.record("no profile")
            return
        }
        #expect(profile.bytes(in: file.span) == [7, 8, 9])

        shape.items[4].properties.append(5)
        let own = try parse(shape.bytes).colour
        #expect(own.profile == .absent)
        #expect(own.description == ColourDescription(primaries: 1, transfer: 13, matrix: 6, isFullRange: true))
    }

    // MARK: Transforms

    @Test(
        arguments: [
            ([], nil, 64, 48), ([HEIFShape.irot(0)], .upright, 64, 48), ([HEIFShape.irot(3)], .rotated90, 48, 64),
            ([HEIFShape.irot(1)], .rotated270, 48, 64), ([HEIFShape.imir(1)], .mirrored, 64, 48),
            ([HEIFShape.irot(3), HEIFShape.imir(1)], .transposed, 48, 64),
            ([HEIFShape.imir(1), HEIFShape.irot(3)], .transversed, 48, 64),
        ] as [([[UInt8]], Orientation?, Int, Int)])
    func turns(properties: [[UInt8]], orientation: Orientation?, width: Int, height: Int) throws {
        var shape = HEIFShape()
        shape.properties += properties
        shape.items[0].properties += properties.indices.map { $0 + 3 }
        let structure = try parse(shape.bytes)
        #expect(structure.orientation == orientation)
        #expect(structure.displaySize == PixelSize(width: width, height: height))
        #expect(structure.primary.size == PixelSize(width: 64, height: 48))
        #expect(structure.transforms.count == properties.count)
    }

    /// The order of the properties counts: a crop after a turn is a crop of the turned picture.
    @Test func cropsInOrder() throws {
        var shape = HEIFShape()
        shape.properties += [HEIFShape.irot(3), HEIFShape.clap(40, 1, 20, 1, 0, 1, 0, 1)]
        shape.items[0].properties += [3, 4]
        let turned = try parse(shape.bytes)
        #expect(
            turned.transforms == [
                .orientation(.rotated90),
                .crop(PixelWindow(left: 4, top: 22, size: PixelSize(width: 40, height: 20))),
            ])
        #expect(turned.displaySize == PixelSize(width: 40, height: 20))

        shape.items[0].properties = [1, 2, 4, 3]
        let cropped = try parse(shape.bytes)
        #expect(
            cropped.transforms == [
                .crop(PixelWindow(left: 12, top: 14, size: PixelSize(width: 40, height: 20))),
                .orientation(.rotated90),
            ])
        #expect(cropped.displaySize == PixelSize(width: 20, height: 40))
    }

    @Test(
        arguments: [
            // width, height, offsets; then left, top, width, height of a 64×48 picture
            ([64, 1, 48, 1, 0, 1, 0, 1], [0, 0, 64, 48]), ([63, 1, 47, 1, 0, 1, 0, 1], [0, 0, 63, 47]),
            ([63, 1, 47, 1, 1, 2, 1, 2], [1, 1, 63, 47]), ([63, 1, 47, 1, -1, 2, -1, 2], [0, 0, 63, 47]),
            ([30, 1, 20, 1, 17, 1, -14, 1], [34, 0, 30, 20]), ([127, 2, 95, 2, 0, 1, 0, 1], [0, 0, 64, 48]),
            ([1, 1, 1, 1, 0, 1, 0, 1], [31, 23, 1, 1]), ([128, 2, 96, 2, 0, 7, 0, 9], [0, 0, 64, 48]),
        ] as [([Int], [Int])])
    func readsAnAperture(numbers: [Int], window: [Int]) throws {
        var shape = HEIFShape()
        shape.properties.append(HEIFShape.box("clap", numbers.flatMap { HEIFShape.big($0, 4) }))
        shape.items[0].properties.append(3)
        let expected = PixelWindow(
            left: window[0], top: window[1], size: PixelSize(width: window[2], height: window[3]))
        #expect(try parse(shape.bytes).transforms == [.crop(expected)])
    }

    // MARK: What else it holds

    private static let alpha = "urn:mpeg:hevc:2015:auxid:1"
    private static let rdf = "application/rdf+xml"

    @Test(
        arguments: [
            ("hvc1", "auxl", alpha, [.alpha]),
            ("hvc1", "auxl", "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha", [.alpha]),
            ("hvc1", "auxl", "urn:mpeg:hevc:2015:auxid:2", [.depthMap]),
            ("hvc1", "auxl", "urn:com:apple:photo:2020:aux:hdrgainmap", [.gainMap]),
            ("hvc1", "auxl", "urn:com:apple:photo:2018:aux:portraiteffectsmatte", [.auxiliaryImage]),
            ("hvc1", "thmb", "", [.thumbnail]), ("tmap", "dimg", "", [.gainMap]), ("Exif", "cdsc", "", [.exif]),
            ("iptc", "cdsc", "", [.iptc]), ("hvc1", "none", "", [.additionalImage]),
            ("jpeg", "none", "", [.additionalImage]),
            ("uri ", "cdsc", "", [.unknownSegment]),
        ] as [(String, String, String, [Removable])])
    func namesItems(type: String, reference: String, urn: String, removed: [Removable]) throws {
        var shape = HEIFShape()
        shape.items.append(HEIFShape.Item(id: 2, type: type, properties: [1, 2, 3]))
        shape.properties.append(urn.isEmpty ? HEIFShape.box("free", []) : HEIFShape.auxC(urn))
        if reference != "none" { shape.references.append(.init(type: reference, from: 2, to: [1])) }
        let structure = try parse(shape.bytes)
        #expect(structure.removed == Set(removed))
        #expect(structure.auxiliaryTypes == (urn.isEmpty ? [] : [urn]))
        #expect((structure.alpha?.id == 2) == removed.contains(.alpha))
        #expect(structure.warnings.contains(.otherImagesIgnored) == removed.contains(.additionalImage))
    }

    @Test func leavesHiddenPicturesUnnamed() throws {
        var shape = HEIFShape()
        shape.items.append(HEIFShape.Item(id: 2, type: "hvc1", isHidden: true, properties: [1, 2]))
        #expect(try parse(shape.bytes).removed.isEmpty)
    }

    @Test(
        arguments: [
            ("mpvd", [1, 2], [.motionVideo]), ("moov", [1, 2], [.motionVideo]), ("sefd", [1, 2], [.trailer]),
            ("free", [1], []), ("mdat", [1], []), ("wide", [], []), ("skip", [0], []), ("blub", [0], [.unknownSegment]),
            ("uuid", Array(repeating: 7, count: 20), [.unknownSegment]),
            (
                "uuid",
                [0xD8, 0xFE, 0xC3, 0xD6, 0x1B, 0x0E, 0x48, 0x3C, 0x92, 0x97, 0x58, 0x28, 0x87, 0x7E, 0xC4, 0x81],
                [.c2pa]
            ),
        ] as [(String, [UInt8], [Removable])])
    func namesBoxes(type: String, payload: [UInt8], removed: [Removable]) throws {
        var shape = HEIFShape()
        shape.appended = HEIFShape.box(type, payload)
        #expect(try parse(shape.bytes).removed == Set(removed))
    }

    @Test(arguments: [[0], Array(repeating: 0, count: 40), [1, 2, 3, 4, 0xFF, 0xD8, 0xFF, 0xE0, 9, 9]] as [[UInt8]])
    func namesATrailer(trailer: [UInt8]) throws {
        var shape = HEIFShape()
        shape.appended = trailer
        #expect(try parse(shape.bytes).removed == [.trailer])
    }

    @Test func readsSizesOf64BitsAndToTheEnd() throws {
        var shape = HEIFShape()
        shape.appended =
            HEIFShape.big(1, 4) + Array("mpvd".utf8) + HEIFShape.big(20, 8) + [1, 2, 3, 4]
            + HEIFShape.big(0, 4) + Array("sefd".utf8) + [1, 2, 3]
        #expect(try parse(shape.bytes).removed == [.motionVideo, .trailer])
    }

    // MARK: EXIF and XMP

    @Test(
        arguments: [
            [0, 0, 0, 0], [0, 0, 0, 6] + Array("Exif\0\0".utf8), [0, 0, 0, 0] + Array("Exif\0\0".utf8),
            [0, 0, 0, 3, 9, 9, 9], [0, 0, 9, 9], [0xFF, 0xFF, 0xFF, 0xFF] + Array("Exif\0\0".utf8),
        ] as [[UInt8]], [1, 3])
    func findsTheExif(head: [UInt8], extents: Int) throws {
        let tiff = Array("MM\0*the rest of it".utf8)
        var shape = HEIFShape()
        shape.items.append(HEIFShape.Item(id: 2, type: "Exif", data: head + tiff, extents: extents))
        shape.references.append(.init(type: "cdsc", from: 2, to: [1]))
        let file = shape.bytes
        let structure = try parse(file)
        #expect(structure.exif.map { $0.bytes(in: file.span) } == [tiff])
        #expect(structure.warnings.isEmpty)
        #expect(structure.removed == [.exif])
    }

    @Test(arguments: [[], [0, 0], [0, 0, 0, 0], [0, 0, 0, 0, 1, 2, 3, 4, 5], nil] as [[UInt8]?])
    func seesDamagedExif(data: [UInt8]?) throws {
        var shape = HEIFShape()
        shape.items.append(HEIFShape.Item(id: 2, type: "Exif", data: data))
        let structure = try parse(shape.bytes)
        #expect(structure.exif.isEmpty)
        #expect(structure.warnings == [.exifDamaged])
        #expect(structure.removed == [.exif])
    }

    /// The EXIF of another picture is not ours; EXIF that names no picture is.
    @Test func takesTheExifOfThePrimaryPicture() throws {
        let block = [0, 0, 0, 0] + Array("II*\0".utf8)
        var shape = HEIFShape()
        shape.items += [2, 3].map { HEIFShape.Item(id: $0, type: "Exif", data: block + [UInt8($0)]) }
        shape.items.append(HEIFShape.Item(id: 4, type: "hvc1", isHidden: true, properties: [1, 2]))
        #expect(try parse(shape.bytes).exif.count == 2)
        #expect(try parse(shape.bytes).warnings == [.exifRepeated])
        shape.references = [.init(type: "cdsc", from: 2, to: [4]), .init(type: "cdsc", from: 3, to: [4, 1])]
        let file = shape.bytes
        let structure = try parse(file)
        #expect(structure.exif.map { $0.bytes(in: file.span) } == [Array("II*\0\u{3}".utf8)])
        #expect(structure.warnings.isEmpty)
    }

    @Test func searchesTheXMP() throws {
        let packet = Array("<x exif:GPSLatitude='1' tiff:Orientation='6' hdrgm:Version='1'/>".utf8)
        var shape = HEIFShape()
        shape.items.append(HEIFShape.Item(id: 2, type: "mime", contentType: HEIFStructureTests.rdf, data: packet))
        let structure = try parse(shape.bytes)
        #expect(structure.removed == [.xmp, .xmpGPS, .gainMap])
        #expect(structure.xmp.orientation == .rotated90)
        shape.items[1].contentType = "text/plain"
        #expect(try parse(shape.bytes).removed == [.unknownSegment])
    }

    // MARK: Against heif-enc

    @Test func readsWhatLibheifWrites() throws {
        let folder = try ScratchFolder()
        let ppm = Array("P6 100 64 255\n".utf8) + TestPattern(100, 64).rgbBytes
        let png = try Tool.run(["/usr/bin/python3", "-c", Self.toPNG], input: ppm).output
        let source = try folder.file("in.png", png)
        let made = try Tool.run(["heif-enc", "-q", "50", source, "-o", folder.path + "/out.heic"])
        try #require(made.status == 0, "\(made.complaint)")
        let file = try folder.read("out.heic")
        let structure = try parse(file)
        #expect(Sniffer.sniff(Array(file.prefix(Sniffer.prefixLength)).span) == .accepted(.heic))
        #expect(structure.displaySize == PixelSize(width: 100, height: 64))
        #expect(structure.primary.format.chromaFormat == 1 && structure.primary.format.lumaDepth == 8)
        #expect(structure.removed.isEmpty)
    }

    private static let toPNG = """
        import sys, io
        from PIL import Image
        Image.open(io.BytesIO(sys.stdin.buffer.read())).save(sys.stdout.buffer, "PNG")
        """

    /// A picture counts with those that it is made of, once.
    @Test func countsWhatItNames() throws {
        var shape = HEIFShape.grid
        shape.items += [
            HEIFShape.Item(id: 6, type: "hvc1", properties: [1, 2], data: [1, 2, 3, 4, 5]),
            HEIFShape.Item(id: 7, type: "Exif", data: [0, 0, 0, 0] + Array("MM\0*".utf8) + [0, 0, 0, 8]),
            HEIFShape.Item(id: 8, type: "mime", contentType: "application/rdf+xml", data: Array("GPSLatitude".utf8)),
            HEIFShape.Item(id: 9, type: "hvc1", properties: [1, 2], data: [1, 2]),
            HEIFShape.Item(id: 10, type: "grid", properties: [3], data: [0, 0, 0, 0, 0, 64, 0, 64]),
        ]
        shape.references += [
            HEIFShape.Reference(type: "thmb", from: 6, to: [5]), HEIFShape.Reference(type: "thmb", from: 6, to: [1]),
            HEIFShape.Reference(type: "cdsc", from: 7, to: [5]), HEIFShape.Reference(type: "dimg", from: 10, to: [9]),
        ]
        shape.appended = [1, 2, 3]
        let found = try parse(shape.bytes).found
        #expect(found == [.thumbnail: 5, .exif: 12, .xmp: 11, .xmpGPS: 11, .additionalImage: 10, .trailer: 3])
    }

    /// Items of no end would be copied out and read one by one.
    @Test func boundsTheBlocks() throws {
        var shape = HEIFShape()
        for id in 2...40 {
            shape.items.append(
                HEIFShape.Item(id: id, type: "Exif", data: [0, 0, 0, 0] + Array("MM\0*".utf8) + [0, 0, 0, 8]))
        }
        let structure = try parse(shape.bytes)
        #expect(structure.exif.count == 16)
        #expect(structure.warnings == [.exifRepeated])
        #expect(structure.found == [.exif: 39 * 12])
    }

    /// A writer may describe the tone-mapped picture beside the primary one, and not the primary one itself.
    @Test func readsEXIFOfTheToneMappedPicture() throws {
        var shape = HEIFShape()
        let block = [0, 0, 0, 0] + Array("MM\0*".utf8) + [0, 0, 0, 8] as [UInt8]
        shape.items += [
            HEIFShape.Item(id: 2, type: "hvc1", isHidden: true, properties: [1, 2]),
            HEIFShape.Item(id: 3, type: "tmap"), HEIFShape.Item(id: 4, type: "Exif", data: block),
            HEIFShape.Item(id: 5, type: "Exif", data: block), HEIFShape.Item(id: 6, type: "tmap"),
        ]
        shape.references = [
            HEIFShape.Reference(type: "dimg", from: 3, to: [1, 2]), HEIFShape.Reference(type: "cdsc", from: 4, to: [3]),
            HEIFShape.Reference(type: "dimg", from: 6, to: [2]), HEIFShape.Reference(type: "cdsc", from: 5, to: [6]),
        ]
        let structure = try parse(shape.bytes)
        #expect(structure.exif.map { $0.bytes(in: shape.bytes.span) } == [Array(block[4...])])
        #expect(structure.warnings == [])
    }
}
