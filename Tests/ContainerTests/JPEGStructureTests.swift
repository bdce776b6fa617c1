import Container
import Core
import Support
import Testing

@Suite struct JPEGStructureTests {
    private func parse(_ bytes: [UInt8], pixelsMax: Int = 1_000_000) throws -> JPEGStructure {
        var limits = Limits()
        limits.pixelsMax = pixelsMax
        return try JPEGStructure(parsing: bytes.span, limits: limits)
    }

    private func code(_ bytes: [UInt8], pixelsMax: Int = 1_000_000) -> Failure.Code? {
        do {
            _ = try parse(bytes, pixelsMax: pixelsMax)
            return nil
        } catch {
            return (error as? Failure)?.code
        }
    }

    // MARK: The picture

    @Test func readsTheFrame() throws {
        let frame = JPEGShape.frame(0xC2, width: 258, height: 513, factors: 0x42)
        let structure = try parse(JPEGShape.file(frame: frame))
        #expect(structure.frame.process == .progressive)
        #expect(!structure.frame.isArithmetic)
        #expect(structure.frame.size == PixelSize(width: 258, height: 513))
        #expect(structure.frame.components.map(\.id) == [1, 2, 3])
        #expect(structure.frame.components.allSatisfy { $0.horizontal == 4 && $0.vertical == 2 })
        #expect(structure.hasEOI && structure.trailer.isEmpty)
        #expect(structure.removed.isEmpty && structure.warnings.isEmpty)
        #expect(structure.profile == .absent)
    }

    @Test(
        arguments: [
            (0xC0, .baseline, false), (0xC1, .extended, false), (0xC2, .progressive, false), (0xC3, .lossless, false),
            (0xC9, .extended, true), (0xCA, .progressive, true),
        ] as [(UInt8, JPEGFrame.Process, Bool)])
    func readsTheProcess(marker: UInt8, process: JPEGFrame.Process, isArithmetic: Bool) throws {
        let structure = try parse(JPEGShape.file(frame: JPEGShape.frame(marker)))
        #expect(structure.frame.process == process)
        #expect(structure.frame.isArithmetic == isArithmetic)
    }

    @Test(
        arguments: [
            // JFIF wins over Adobe; Adobe over numbers; numbers decide last.
            (JPEGShape.jfif, [1, 2, 3], .ycbcr), (JPEGShape.jfif + JPEGShape.adobe(0), [1, 2, 3], .ycbcr),
            (JPEGShape.jfif, [82, 71, 66], .ycbcr), (JPEGShape.adobe(0), [1, 2, 3], .rgb),
            (JPEGShape.adobe(1), [82, 71, 66], .ycbcr), (JPEGShape.adobe(9), [1, 2, 3], .ycbcr),
            ([], [1, 2, 3], .ycbcr), ([], [82, 71, 66], .rgb), ([], [7, 8, 9], .ycbcr), ([], [1], .grey),
            (JPEGShape.adobe(0), [1], .grey), (JPEGShape.adobe(2), [1, 2, 3, 4], .ycck),
            (JPEGShape.adobe(0), [1, 2, 3, 4], .cmyk), ([], [1, 2, 3, 4], .cmyk),
            (JPEGShape.jfif, [1, 2, 3, 4], .cmyk),
        ] as [([UInt8], [UInt8], JPEGColourModel)])
    func decidesTheColourModel(markers: [UInt8], ids: [UInt8], model: JPEGColourModel) throws {
        let frame = JPEGShape.frame(ids: ids)
        #expect(try parse(JPEGShape.file(first: markers, frame: frame, ids: ids)).colourModel == model)
    }

    /// libjpeg-turbo's rule.
    @Test(
        arguments: [
            ([], [1, 2, 3], .rgb), ([], [7, 8, 9], .ycbcr), (JPEGShape.jfif, [1, 2, 3], .ycbcr),
            (JPEGShape.adobe(1), [1, 2, 3], .ycbcr), ([], [1], .grey),
        ] as [([UInt8], [UInt8], JPEGColourModel)])
    func decidesTheColourModelOfLosslessPictures(markers: [UInt8], ids: [UInt8], model: JPEGColourModel) throws {
        let frame = JPEGShape.frame(0xC3, ids: ids)
        let structure = try parse(JPEGShape.file(first: markers, frame: frame, ids: ids, spectral: [1, 0, 0]))
        #expect(structure.colourModel == model)
        #expect(structure.warnings == [])
    }

    // MARK: Tables

    private static let dc = JPEGShape.segment(0xC4, [0, 1] + Array(repeating: 0, count: 15) + [0])
    private static let ac = JPEGShape.segment(0xC4, [0x10, 1] + Array(repeating: 0, count: 15) + [0])

    /// What a scan names must have been defined, by T.81, annexes F to H: no decoder's habit of implying the usual
    /// tables is every decoder's.
    @Test(
        arguments: [
            (0xC0, [], [0, 63, 0], .corrupt), (0xC0, dc, [0, 63, 0], .corrupt), (0xC0, ac, [0, 63, 0], .corrupt),
            (0xC0, dc + ac, [0, 63, 0], nil), (0xC2, dc, [0, 0, 1], nil), (0xC2, [], [0, 0, 1], .corrupt),
            (0xC2, [], [0, 0, 0x10], nil), (0xC2, ac, [1, 63, 0], nil), (0xC2, dc, [1, 63, 0x10], .corrupt),
            (0xC3, dc, [1, 0, 0], nil), (0xC3, ac, [1, 0, 0], .corrupt), (0xC9, [], [0, 63, 0], nil),
            (0xCA, [], [0, 0, 0], nil),
        ] as [(UInt8, [UInt8], [UInt8], Failure.Code?)])
    func wantsHuffmanTables(marker: UInt8, tables: [UInt8], spectral: [UInt8], expected: Failure.Code?) {
        let scan = JPEGShape.scanHeader(ids: [1], spectral: spectral) + [1]
        let file = JPEGShape.soi + JPEGShape.dqt + JPEGShape.frame(marker, ids: [1]) + tables + scan + JPEGShape.eoi
        #expect(code(file) == expected)
    }

    @Test(arguments: [(0xC0, .corrupt), (0xC2, .corrupt), (0xC9, .corrupt), (0xC3, nil)] as [(UInt8, Failure.Code?)])
    func wantsQuantizationTables(marker: UInt8, expected: Failure.Code?) {
        let scan = JPEGShape.scanHeader(spectral: marker == 0xC3 ? [1, 0, 0] : [0, 63, 0]) + [1]
        #expect(code(JPEGShape.soi + JPEGShape.frame(marker) + JPEGShape.dht + scan + JPEGShape.eoi) == expected)
    }

    // MARK: What a copy carries

    @Test func carriesThePictureAndNothingElse() throws {
        let comment = JPEGShape.segment(0xFE, "made by hand")
        let file = JPEGShape.progressive(comment, between: comment) + [1, 2, 3]
        let structure = try parse(file)
        let expected = JPEGShape.progressive().dropFirst(2 + JPEGShape.jfif.count).dropLast(2)
        #expect(structure.carried.bytes(in: file.span) == Array(expected))
        #expect(structure.isCopyable)
        #expect(structure.scanCount == 2)
        #expect(structure.trailer == (file.count - 3)..<file.count)
        #expect(structure.removed == [.comment, .trailer])
    }

    /// Any number of FF may stand before a marker; a copy leaves them out and is then a plain JPEG.
    @Test func carriesNoFillBytes() throws {
        let fill: [UInt8] = [0xFF, 0xFF, 0xFF]
        let file =
            JPEGShape.soi + fill
            + JPEGShape.file(JPEGShape.dri, scan: [1, 2] + fill + [0xFF, 0xD0, 4] + fill).dropFirst(2)
        let structure = try parse(file)
        #expect(structure.warnings.isEmpty && structure.isCopyable)
        let carried = structure.carried.bytes(in: file.span)
        #expect(carried.suffix(5) == [1, 2, 0xFF, 0xD0, 4])
        let copy = try JPEGPreamble.bytes(profile: []) + carried + JPEGShape.eoi
        try OutputCheck.verify(copy.span, size: structure.frame.size)
    }

    /// Lawful in a Huffman-coded picture, and without meaning there; the check of finished pictures lets none pass.
    @Test func leavesOutArithmeticConditioning() throws {
        let dac = JPEGShape.segment(0xCC, [0, 0x10, 0x10, 5])
        for file in [JPEGShape.file(dac), JPEGShape.file(frame: JPEGShape.frame() + dac)] {
            let structure = try parse(file)
            let carried = structure.carried.bytes(in: file.span)
            #expect(carried == Array(JPEGShape.file().dropFirst(2 + JPEGShape.jfif.count).dropLast(2)))
            let copy = try JPEGPreamble.bytes(profile: []) + carried + JPEGShape.eoi
            try OutputCheck.verify(copy.span, size: structure.frame.size)
        }
    }

    private static let text = "48.8584 N, 2.2945 E "

    /// Segments that no scan uses: the copy is the picture without them, and passes the check.
    @Test(
        arguments: [
            JPEGShape.file(JPEGShape.dqt(3, text)), JPEGShape.file(JPEGShape.dqt(0, text)),
            JPEGShape.file(JPEGShape.dht(0x13, text)), JPEGShape.file(JPEGShape.dht(0, text)),
            JPEGShape.file(JPEGShape.dht(0, text) + JPEGShape.dht(0, text)),
            JPEGShape.file(
                JPEGShape.segment(0xDB, JPEGShape.quantization(0, text) + JPEGShape.quantization(0, text))),
            JPEGShape.file(JPEGShape.segment(0xDD, [0x41, 0x42]) + JPEGShape.segment(0xDD, [0, 24])),
            JPEGShape.file(JPEGShape.segment(0xDD, [0x41, 0x42]) + JPEGShape.segment(0xDD, [0, 0])),
            JPEGShape.file(scan: JPEGShape.scanData + JPEGShape.dqt(0, text) + JPEGShape.dht(0, text)),
            JPEGShape.file(scan: JPEGShape.scanData + JPEGShape.dri + JPEGShape.segment(0xFE, text)),
        ])
    func leavesOutTablesThatNoScanUses(file: [UInt8]) throws {
        let structure = try parse(file)
        #expect(structure.isCopyable)
        let carried = structure.carried.bytes(in: file.span)
        #expect(carried == Array(JPEGShape.file().dropFirst(2 + JPEGShape.jfif.count).dropLast(2)))
        let copy = try JPEGPreamble.bytes(profile: []) + carried + JPEGShape.eoi
        try OutputCheck.verify(copy.span, size: structure.frame.size)
    }

    @Test(
        arguments: [
            // A quantization table for a component that has had its scan, a table of the class that the scan has not.
            JPEGShape.progressive(between: JPEGShape.dqt(0, text)),
            JPEGShape.progressive(between: JPEGShape.dht(0, text)),
            JPEGShape.progressive(between: JPEGShape.segment(0xDD, [0x41, 0x42])),
            JPEGShape.progressive(JPEGShape.dht(0x10, text)), JPEGShape.progressive(JPEGShape.dht(0, text)),
        ])
    func leavesOutTablesThatNoProgressiveScanUses(file: [UInt8]) throws {
        let structure = try parse(file)
        #expect(structure.isCopyable)
        let carried = structure.carried.bytes(in: file.span)
        #expect(carried == Array(JPEGShape.progressive().dropFirst(2 + JPEGShape.jfif.count).dropLast(2)))
    }

    /// What cannot be left out segment by segment.
    @Test(
        arguments: [
            ("beside used ones", JPEGShape.file(tables: JPEGShape.segment(0xC4, mixed))),
            (
                "twice in a segment",
                JPEGShape.file(tables: JPEGShape.segment(0xC4, JPEGShape.huffman(0, text) + JPEGShape.dht.dropFirst(4)))
            ),
            (
                "of the other class",
                JPEGShape.file(frame: JPEGShape.frame(0xC2), spectral: [0, 0, 0], scan: JPEGShape.scanData)
            ),
            ("repeated symbols", JPEGShape.file(tables: JPEGShape.dc + JPEGShape.dht(0x10, text))),
            ("markers without an interval", JPEGShape.file(scan: JPEGShape.restartedData)),
            ("more markers", JPEGShape.file(JPEGShape.dri, scan: JPEGShape.restartedData + [0xFF, 0xD1])),
            ("fewer markers", JPEGShape.file(JPEGShape.dri)),
            ("another number", JPEGShape.file(JPEGShape.dri, scan: [1, 0xFF, 0xD3, 2])),
            ("markers at the end of a scan", JPEGShape.progressive(first: JPEGShape.scanData + [0xFF, 0xD0])),
            (
                "an interval that only ends another",
                JPEGShape.progressive(
                    JPEGShape.dri, between: JPEGShape.segment(0xDD, [0x41, 0x42]), first: JPEGShape.restartedData)
            ),
        ] as [(String, [UInt8])])
    func tellsWhatIsNotCopyable(what: String, file: [UInt8]) throws {
        #expect(try !parse(file).isCopyable, "\(what)")
    }

    private static let mixed = Array(JPEGShape.dht.dropFirst(4)) + JPEGShape.huffman(1, text)

    /// By arithmetic: MCUs of 16×16 pixels, or the blocks of a single component.
    @Test func countsTheMCUsOfEachScan() throws {
        let frame = JPEGShape.segment(0xC0, [8, 0, 32, 0, 48, 3, 1, 0x22, 0, 2, 0x11, 0, 3, 0x11, 0])
        let restarts = { (count: Int) -> [UInt8] in (0..<count).flatMap { [1, 0xFF, 0xD0 + UInt8($0 % 8)] } + [2] }
        for (ids, mcus) in [([1, 2, 3], 6), ([1], 24), ([2], 6), ([1, 2], 6)] as [([UInt8], Int)] {
            for count in (mcus - 3)...(mcus + 1) {
                let file = JPEGShape.file(
                    JPEGShape.segment(0xDD, [0, 1]), frame: frame, ids: ids, scan: restarts(count))
                #expect(try parse(file).isCopyable == (count == mcus - 1), "\(ids), \(count)")
            }
        }
    }

    @Test func leavesOutLineCountsThatAgree() throws {
        let file = JPEGShape.file(scan: JPEGShape.scanData + JPEGShape.segment(0xDC, [0, 32]))
        let structure = try parse(file)
        #expect(structure.carried.bytes(in: file.span).suffix(JPEGShape.scanData.count) == JPEGShape.scanData[...])
        #expect(structure.warnings == [.headerIrregular])
        #expect(code(JPEGShape.file(scan: JPEGShape.segment(0xDC, [0, 33]))) == .corrupt)
    }

    @Test func tellsOfAMissingEnd() throws {
        let whole = JPEGShape.file()
        let structure = try parse(whole.dropLast(2))
        #expect(!structure.hasEOI)
        #expect(structure.trailer == (whole.count - 2)..<(whole.count - 2))
        #expect(!(try parse(whole.dropLast(1)).hasEOI))
    }

    // MARK: What is removed

    private static let xmp = "http://ns.adobe.com/xap/1.0/\0"
    private static let extendedXMP = "http://ns.adobe.com/xmp/extension/\0"

    @Test(
        arguments: [
            (JPEGShape.segment(0xE1, "Exif\0\0", Array("II*\0".utf8)), [.exif]),
            (JPEGShape.segment(0xE1, xmp + "<x/>"), [.xmp]),
            (JPEGShape.segment(0xE1, xmp + "exif:GPSLatitude=\"48,51N\""), [.xmp, .xmpGPS]),
            (JPEGShape.segment(0xE1, extendedXMP + "<exif:GPSLatitude>48,51N"), [.xmp, .xmpGPS]),
            (JPEGShape.segment(0xE1, xmp + "hdrgm:Version=\"1.0\""), [.xmp, .gainMap]),
            (JPEGShape.segment(0xE1, "http://example.org/"), [.unknownSegment]),
            (JPEGShape.segment(0xE2, "MPF\0", [1, 2]), [.mpf]),
            (JPEGShape.segment(0xE2, "urn:iso:std:iso:ts:21496:-1\0", [0]), [.gainMap]),
            (JPEGShape.segment(0xE2, "FPXR\0"), [.unknownSegment]),
            (JPEGShape.segment(0xED, "Photoshop 3.0\08BIM\u{4}\u{25}\0\0\0\0\0\u{1}x"), [.photoshop]),
            (JPEGShape.segment(0xED, "Photoshop 3.0\08BIM\u{4}\u{4}\0\0\0\0\0\0"), [.photoshop]),
            (JPEGShape.segment(0xED, "Photoshop 3.0\08BIM\u{4}\u{4}\0\0\0\0\0\u{1}x"), [.photoshop, .iptc]),
            (JPEGShape.segment(0xEB, "JP", [0, 1, 0, 0, 0, 1, 0, 0, 0, 9] + Array("jumbx".utf8)), [.c2pa]),
            (JPEGShape.segment(0xEB, "HDR_RI ver=11"), [.unknownSegment]),
            (JPEGShape.segment(0xE0, "JFXX\0", [0x13, 1, 1, 0, 0, 0]), [.thumbnail]),
            (JPEGShape.segment(0xE0, "AVI1"), [.unknownSegment]), (JPEGShape.segment(0xE7, "x"), [.unknownSegment]),
            (JPEGShape.segment(0xFE, "hello"), [.comment]), (JPEGShape.segment(0xEA, []), [.unknownSegment]),
        ] as [([UInt8], [Removable])])
    func names(segment: [UInt8], removed: [Removable]) throws {
        #expect(try parse(JPEGShape.file(segment)).removed == Set(removed))
    }

    /// Lengths by arithmetic: of a segment what follows its length, of a trailer what follows EOI.
    @Test func countsWhatItNames() throws {
        let iptc = JPEGShape.segment(0xED, "Photoshop 3.0\08BIM\u{4}\u{4}\0\0\0\0\0\u{3}xyz8BIM\u{4}\u{25}\0\0")
        let segments = JPEGShape.segment(0xFE, "hello") + JPEGShape.segment(0xFE, "you") + iptc
        let film: [UInt8] = [0, 0, 0, 24] + Array("ftypmp42".utf8) + [UInt8](repeating: 0, count: 40)
        let found = try parse(JPEGShape.file(segments, appended: [1, 2, 3] + film)).found
        #expect(found == [.comment: 8, .photoshop: 37, .iptc: 3, .trailer: 55, .motionVideo: 52])
    }

    @Test func namesAThumbnailInJFIF() throws {
        let jfif = JPEGShape.segment(0xE0, "JFIF\0", [1, 1, 0, 0, 1, 0, 1, 1, 1, 9, 9, 9])
        let structure = try parse(JPEGShape.file(first: jfif))
        #expect(structure.removed == [.thumbnail])
        #expect(structure.colourModel == .ycbcr)
    }

    @Test(
        arguments: [
            ([], [0, 0, 0], [.trailer], []),
            ([], [0, 0, 0, 24] + Array("ftypmp42".utf8), [.trailer, .motionVideo], []),
            ([], Array("no film: ftyp".utf8), [.trailer], []),
            (
                JPEGShape.segment(0xE2, "MPF\0"), [0] + JPEGShape.file(), [.mpf, .trailer, .additionalImage],
                [.otherImagesIgnored]
            ),
            (
                JPEGShape.segment(0xE2, "MPF\0"), JPEGShape.file(JPEGShape.segment(0xE1, xmp + "hdrgm:Version")),
                [.mpf, .trailer, .gainMap], []
            ),
        ] as [([UInt8], [UInt8], [Removable], [Warning])])
    func namesTrailers(inserted: [UInt8], trailer: [UInt8], removed: [Removable], warnings: [Warning]) throws {
        let structure = try parse(JPEGShape.file(inserted, appended: trailer))
        #expect(structure.removed == Set(removed))
        #expect(structure.warnings == Set(warnings))
        #expect(structure.trailer.count == trailer.count)
    }

    @Test func findsTheExifBlocks() throws {
        let first = JPEGShape.segment(0xE1, "Exif\0\0", Array("II*\0one".utf8))
        let second = JPEGShape.segment(0xE1, "Exif\0\0", Array("MM\0*two".utf8))
        let file = JPEGShape.file(first + second)
        let structure = try parse(file)
        #expect(
            structure.exif.map { String(decoding: $0.bytes(in: file.span), as: UTF8.self) } == ["II*\0one", "MM\0*two"])
        #expect(structure.warnings == [.exifRepeated])
        #expect(try parse(JPEGShape.file(first)).warnings == [])
        let many = JPEGShape.file(Array(repeating: first, count: 100).flatMap(\.self))
        #expect(try parse(many).exif.count == JPEGStructure.exifSegmentsMax)
    }

    @Test(
        arguments: [
            ("tiff:Orientation=\"6\"", .rotated90), ("<tiff:Orientation>3</tiff:Orientation>", .rotated180),
            ("tiff:Orientation = '8'", .rotated270), ("tiff:Orientation=\"1\"", .upright),
            ("tiff:Orientation=\"9\"", nil), ("tiff:Orientation=\"x6\"", nil), ("tiff:Orientation", nil), ("", nil),
        ] as [(String, Orientation?)])
    func findsTheOrientationInXMP(text: String, orientation: Orientation?) throws {
        let structure = try parse(JPEGShape.file(JPEGShape.segment(0xE1, JPEGStructureTests.xmp + text)))
        #expect(structure.xmp.orientation == orientation)
        #expect(!structure.removed.contains(.xmpGPS))
    }

    // MARK: The ICC profile

    @Test func ordersTheProfile() throws {
        let file = JPEGShape.file(
            JPEGShape.icc(3, of: 3, [5, 6]) + JPEGShape.icc(1, of: 3, [1, 2]) + JPEGShape.icc(2, of: 3, [3, 4]))
        let structure = try parse(file)
        guard case .complete(let extents) = structure.profile else {
            Issue.record("\(structure.profile)")
            return
        }
        #expect(extents.bytes(in: file.span) == [1, 2, 3, 4, 5, 6])
        #expect(structure.removed.isEmpty)
    }

    @Test(
        arguments: [
            JPEGShape.icc(1, of: 2, [1]), JPEGShape.icc(1, of: 2, [1]) + JPEGShape.icc(1, of: 2, [1]),
            JPEGShape.icc(1, of: 1, [1]) + JPEGShape.icc(2, of: 2, [1]), JPEGShape.icc(0, of: 1, [1]),
            JPEGShape.icc(2, of: 1, [1]), JPEGShape.icc(0, of: 0, [1]), JPEGShape.icc(1, of: 1, []),
            JPEGShape.segment(0xE2, "ICC_PROFILE\0"),
        ])
    func seesADamagedProfile(segments: [UInt8]) throws {
        #expect(try parse(JPEGShape.file(segments)).profile.isDamaged)
    }

    // MARK: Irregular and refused

    @Test(
        arguments: [
            JPEGShape.file([1, 2, 3]), JPEGShape.file([0xFF, 0x00]), JPEGShape.file([0xFF, 0x01]),
            JPEGShape.file([0xFF, 0xD3]),
            JPEGShape.soi + JPEGShape.dqt + JPEGShape.frame() + JPEGShape.dht
                + JPEGShape.scanHeader(spectral: [0, 0, 0]) + [1] + JPEGShape.eoi,
        ])
    func warnsOf(file: [UInt8]) throws {
        #expect(try parse(file).warnings == [.headerIrregular])
    }

    @Test(
        arguments: [
            ("no frame", JPEGShape.soi + JPEGShape.dqt + JPEGShape.scanHeader() + [1] + JPEGShape.eoi, .corrupt),
            ("two frames", JPEGShape.file(JPEGShape.frame()), .corrupt),
            ("no scan", JPEGShape.soi + JPEGShape.frame() + JPEGShape.eoi, .corrupt),
            ("nothing", JPEGShape.soi + JPEGShape.eoi, .corrupt), ("only SOI", JPEGShape.soi, .truncated),
            ("no SOI", Array(JPEGShape.file().dropFirst(2)), .corrupt), ("empty", [], .truncated),
            ("second SOI", JPEGShape.file(JPEGShape.soi), .corrupt),
            ("width 0", JPEGShape.file(frame: JPEGShape.frame(width: 0)), .corrupt),
            ("height by DNL", JPEGShape.file(frame: JPEGShape.frame(height: 0)), .undecodable),
            ("factor 0", JPEGShape.file(frame: JPEGShape.frame(factors: 0x01)), .corrupt),
            ("factor 5", JPEGShape.file(frame: JPEGShape.frame(factors: 0x51)), .corrupt),
            ("12 bits", JPEGShape.file(frame: JPEGShape.frame(0xC1, precision: 12)), .undecodable),
            ("arithmetic-coded lossless", JPEGShape.file(frame: JPEGShape.frame(0xCB)), .undecodable),
            ("hierarchical", JPEGShape.file(frame: JPEGShape.frame(0xC5)), .undecodable),
            ("2 components", JPEGShape.file(frame: JPEGShape.frame(ids: [1, 2]), ids: [1, 2]), .undecodable),
            ("9 components", JPEGShape.file(frame: JPEGShape.frame(ids: Array(1...9)), ids: [1]), .undecodable),
            ("frame length", JPEGShape.file(frame: JPEGShape.segment(0xC0, [8, 0, 1, 0, 1, 3, 1, 0x11, 0])), .corrupt),
            ("strange component", JPEGShape.file(ids: [1, 2, 9]), .corrupt),
            ("scan of none", JPEGShape.file(ids: []), .corrupt),
            ("table 4", JPEGShape.file(scan: JPEGShape.segment(0xDA, [1, 1, 0x40, 0, 63, 0]) + [1]), .corrupt),
            ("reserved", JPEGShape.file([0xFF, 0xF3, 0, 2]), .corrupt),
            ("DHP", JPEGShape.file([0xFF, 0xDE, 0, 2]), .corrupt),
            ("reserved in scan", JPEGShape.file(scan: [1, 0xFF, 0x02, 3]), .corrupt),
            ("length 1", JPEGShape.file([0xFF, 0xE5, 0, 1]), .corrupt),
            ("length past the end", JPEGShape.soi + [0xFF, 0xE5, 0xFF, 0xFF, 1], .truncated),
            ("DQT length", JPEGShape.file(JPEGShape.segment(0xDB, [0, 1, 2])), .corrupt),
            ("DQT empty", JPEGShape.file(JPEGShape.segment(0xDB, [])), .corrupt),
            ("DQT number", JPEGShape.file(JPEGShape.segment(0xDB, [4] + Array(repeating: 1, count: 64))), .corrupt),
            ("DHT tail", JPEGShape.file(JPEGShape.segment(0xC4, [0] + Array(repeating: 0, count: 16) + [7])), .corrupt),
            ("DHT symbols", JPEGShape.file(JPEGShape.segment(0xC4, [0] + Array(repeating: 17, count: 16))), .corrupt),
            ("DRI length", JPEGShape.file(JPEGShape.segment(0xDD, [0, 1, 2])), .corrupt),
            ("DAC length", JPEGShape.file(JPEGShape.segment(0xCC, [0])), .corrupt),
        ] as [(String, [UInt8], Failure.Code)])
    func refuses(what: String, file: [UInt8], expected: Failure.Code) {
        #expect(code(file) == expected, "\(what)")
    }

    @Test func holdsTheLimits() throws {
        #expect(code(JPEGShape.file(), pixelsMax: 48 * 32) == nil)
        let failure = #expect(throws: Failure.self) { try parse(JPEGShape.file(), pixelsMax: 48 * 32 - 1) }
        #expect(failure?.code == .tooManyPixels)
        #expect(failure?.detail.contains("1536") == true && failure?.detail.contains("1535") == true)

        let scan = JPEGShape.scanHeader(spectral: [0, 0, 0]) + [1]
        let scans = { Array(repeating: scan, count: $0).flatMap(\.self) }
        let head = JPEGShape.soi + JPEGShape.dqt + JPEGShape.dht + JPEGShape.frame(0xC2)
        #expect(try parse(head + scans(100) + JPEGShape.eoi).scanCount == 100)
        #expect(code(head + scans(101) + JPEGShape.eoi) == .corrupt)

        let comments = { Array(repeating: JPEGShape.segment(0xFE, "a"), count: $0).flatMap(\.self) }
        #expect(code(JPEGShape.file(comments(4000))) == nil)
        #expect(code(JPEGShape.file(comments(5000))) == .corrupt)
    }

    // MARK: Against cjpeg and djpeg

    @Test(
        arguments: [
            [], ["-progressive"], ["-grayscale"], ["-restart", "1"], ["-sample", "2x1"],
            ["-progressive", "-restart", "1"],
            ["-sample", "1x1", "-optimize"],
            ["-rgb"],
        ])
    func aCopyDecodesToTheSamePixels(options: [String]) throws {
        let picture = TestPattern(50, 37)
        let ppm = Array("P6 50 37 255\n".utf8) + picture.rgbBytes
        let source = try Tool.run(["cjpeg", "-quality", "80"] + options, input: ppm).output
        let noisy = source.prefix(2) + JPEGShape.segment(0xE1, "Exif\0\0", [1]) + source.dropFirst(2) + [9, 9]
        let file = Array(noisy)
        let structure = try parse(file)
        #expect(structure.frame.size == picture.size)
        #expect(structure.frame.process == (options.contains("-progressive") ? .progressive : .baseline))
        #expect(structure.colourModel == (options == ["-rgb"] ? .rgb : options == ["-grayscale"] ? .grey : .ycbcr))
        #expect(structure.removed == [.exif, .trailer])
        // Behind a JFIF marker red, green and blue would be taken for YCbCr.
        if structure.colourModel == .rgb { return }
        let copy = try JPEGPreamble.bytes(profile: []) + structure.carried.bytes(in: file.span) + JPEGShape.eoi
        try OutputCheck.verify(copy.span, size: picture.size)
        #expect(try Tool.run(["djpeg"], input: copy).output == Tool.run(["djpeg"], input: source).output)
        #expect(try !Tool.run(["djpeg"], input: copy).output.isEmpty)
    }
}
