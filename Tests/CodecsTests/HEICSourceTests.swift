import Core
import Support
import Testing

@testable import Codecs

@Suite struct HEICSourceTests {
    /// A picture drawn from a source to its end.
    private struct Drawn {
        let format: PictureFormat
        let storedSize: PixelSize
        let hasAlpha: Bool
        let icc: [UInt8]?
        let bands: [Int]
        /// Rows without padding.
        let planes: [[UInt8]]

        func sample(_ plane: [UInt8], at index: Int) -> Int {
            guard format.bytesPerSample == 2 else { return Int(plane[index]) }
            return Int(plane[2 * index]) | Int(plane[2 * index + 1]) << 8
        }
    }

    private func draw(
        _ bytes: [UInt8], limits: Limits = Limits(), colour: ColourDescription? = nil
    ) throws(CodecError) -> Drawn {
        var drawn: Result<Drawn, CodecError> = .failure(CodecError(.corrupt, "not drawn"))
        bytes.withUnsafeBytes { bytes in
            drawn = Result { () throws(CodecError) in try drawAll(bytes, limits, colour) }
        }
        return try drawn.get()
    }

    private func drawAll(
        _ bytes: UnsafeRawBufferPointer, _ limits: Limits, _ colour: ColourDescription?
    ) throws(CodecError) -> Drawn {
        var source = try HEICSource.opening(bytes, limits: limits, colour: colour)
        let format = source.format
        var planes = [[UInt8]](repeating: [], count: format.planeCount)
        var bands: [Int] = []
        var row = 0
        while let band = try source.nextBand() {
            #expect(band.firstRow == row)
            row += band.rows
            bands.append(band.rows)
            if case .ycbcr(let subsampling) = format.layout, row < format.size.height {
                #expect(band.rows % subsampling.vertical == 0)
            }
            for (index, plane) in band.planes.enumerated() {
                for y in 0..<plane.height {
                    let count = plane.width * format.bytesPerSample
                    planes[index] += UnsafeRawBufferPointer(start: plane.base + y * plane.stride, count: count)
                }
            }
        }
        #expect(row == format.size.height)
        return Drawn(
            format: format, storedSize: source.storedSize, hasAlpha: source.hasAlpha, icc: source.iccProfile,
            bands: bands, planes: planes)
    }

    private func layout(_ chroma: HEICPicture.Chroma) -> PlaneLayout {
        switch chroma {
        case .grey: .grey
        case .s420: .ycbcr(.s420)
        case .s422: .ycbcr(.s422)
        case .s444: .ycbcr(.s444)
        }
    }

    // MARK: - Geometry

    private static let chromas: [HEICPicture.Chroma] = [.grey, .s420, .s444]

    @Test(arguments: Orientation.allCases, chromas)
    func aTurnedGridEqualsItsWholeDecode(orientation: Orientation, chroma: HEICPicture.Chroma) throws {
        var picture = HEICPicture(150, 92)
        picture.tile = PixelSize(width: 64, height: 64)
        picture.orientation = orientation
        picture.chroma = chroma
        let bytes = try picture.make()
        let drawn = try draw(bytes)
        let whole = try HEICReference(decoding: bytes)
        #expect(drawn.format.size == picture.size.applying(orientation))
        #expect(drawn.format.size == whole.size)
        #expect(drawn.storedSize == picture.size)
        #expect(drawn.format.layout == layout(chroma))
        #expect(drawn.planes == whole.planes)
        // One band for each display row of tiles: 2 stored rows, or 3 columns turned to rows.
        #expect(drawn.bands.count == (orientation.swapsAxes ? 3 : 2))
    }

    @Test(arguments: Orientation.allCases)
    func pixelsStandWhereTheOrientationPutsThem(orientation: Orientation) throws {
        var picture = HEICPicture(150, 92)
        picture.tile = PixelSize(width: 64, height: 64)
        picture.orientation = orientation
        expect(try draw(try picture.make()), toShow: picture)
    }

    /// An odd edge turned to the front puts chroma between the luma of two columns. (libheif's own turning is no
    /// reference: it gives the first line the chroma of others.)
    @Test(arguments: Orientation.allCases, [HEICPicture.Chroma.s420, .s422])
    func gridsOfOddSizeAreTurnedUpToTheirEdges(orientation: Orientation, chroma: HEICPicture.Chroma) throws {
        var picture = HEICPicture(149, 91)
        picture.tile = PixelSize(width: 64, height: 64)
        picture.orientation = orientation
        picture.chroma = chroma
        expect(try draw(try picture.make()), toShow: picture)
    }

    private static let parts = [
        HEICPicture.Part(20, 10, 100, 60), .init(0, 0, 150, 91), .init(21, 11, 100, 60), .init(20, 10, 101, 61),
        .init(21, 11, 101, 61), .init(149, 0, 1, 92),
    ]

    @Test(arguments: Orientation.allCases, parts)
    func aCleanApertureIsShownUpToItsEdges(orientation: Orientation, part: HEICPicture.Part) throws {
        var picture = HEICPicture(150, 92)
        picture.tile = PixelSize(width: 64, height: 64)
        picture.orientation = orientation
        picture.part = part
        expect(try draw(try picture.make()), toShow: picture)
    }

    @Test(arguments: parts, [HEICPicture.Chroma.grey, .s422, .s444])
    func aCleanApertureOfAnyKindIsShown(part: HEICPicture.Part, chroma: HEICPicture.Chroma) throws {
        for depth in [8, 10] {
            var picture = HEICPicture(150, 92)
            picture.chroma = chroma
            picture.depth = depth
            picture.part = part
            expect(try draw(try picture.make()), toShow: picture)
        }
    }

    /// Compares with the pattern that was coded. It is smooth and its code generous: 8 of 255 is far below what a wrong
    /// place would show.
    private func expect(_ drawn: Drawn, toShow picture: HEICPicture) {
        let part = picture.part ?? .init(0, 0, picture.size.width, picture.size.height)
        #expect(drawn.format.size == part.size.applying(picture.orientation))
        #expect(drawn.storedSize == picture.size)
        #expect(drawn.format.layout == layout(picture.chroma).turned(picture.orientation))
        let (w, h) = (part.size.width - 1, part.size.height - 1)
        for (index, plane) in drawn.planes.enumerated() {
            let size = drawn.format.planeSize(index)
            let step = drawn.format.subsampling(ofPlane: index)
            let coded = index == 0 ? (x: 1, y: 1) : picture.chroma.step
            var worst = 0
            for y in 0..<size.height {
                for x in 0..<size.width {
                    let (shownX, shownY) = (x * step.horizontal, y * step.vertical)
                    let (storedX, storedY) =
                        switch picture.orientation {
                        case .upright: (shownX, shownY)
                        case .mirrored: (w - shownX, shownY)
                        case .rotated180: (w - shownX, h - shownY)
                        case .flipped: (shownX, h - shownY)
                        case .transposed: (shownY, shownX)
                        case .rotated90: (shownY, h - shownX)
                        case .transversed: (w - shownY, h - shownX)
                        case .rotated270: (w - shownY, shownX)
                        }
                    let expected = picture.sample(
                        plane: index, x: (part.left + storedX) / coded.x, y: (part.top + storedY) / coded.y)
                    worst = max(worst, abs(drawn.sample(plane, at: y * size.width + x) - expected))
                }
            }
            #expect(worst <= 8 << (picture.depth - 8), "plane \(index)")
        }
    }

    @Test(arguments: Orientation.allCases)
    func aTurnedSinglePictureEqualsItsWholeDecode(orientation: Orientation) throws {
        var picture = HEICPicture(128, 72)
        picture.orientation = orientation
        let bytes = try picture.make()
        let drawn = try draw(bytes)
        #expect(drawn.format.size == picture.size.applying(orientation))
        #expect(drawn.planes == (try HEICReference(decoding: bytes)).planes)
    }

    @Test func anUprightGridOfOddSizeComesInBands() throws {
        var picture = HEICPicture(149, 91)
        picture.tile = PixelSize(width: 64, height: 64)
        let bytes = try picture.make()
        let drawn = try draw(bytes)
        #expect(drawn.format.layout == .ycbcr(.s420))
        #expect(drawn.bands == [64, 27])
        #expect(drawn.planes == (try HEICReference(decoding: bytes)).planes)
    }

    @Test func aQuarterTurnMakes422Into440() throws {
        var picture = HEICPicture(150, 92)
        picture.tile = PixelSize(width: 64, height: 64)
        picture.chroma = .s422
        let upright = try draw(try picture.make())
        picture.orientation = .rotated90
        let turned = try draw(try picture.make())
        #expect(upright.format.layout == .ycbcr(.s422))
        #expect(turned.format.layout == .ycbcr(.s440))
        for (index, plane) in upright.planes.enumerated() {
            let stored = upright.format.planeSize(index)
            let display = turned.format.planeSize(index)
            #expect(display == stored.transposed)
            let expected = (0..<display.height).flatMap { y in
                (0..<display.width).map { x in plane[(stored.height - 1 - x) * stored.width + y] }
            }
            #expect(turned.planes[index] == expected)
        }
    }

    // MARK: - Samples

    @Test(arguments: HEICPicture.Chroma.allCases, [8, 10])
    func everyKindOfPlaneEqualsItsWholeDecode(chroma: HEICPicture.Chroma, depth: Int) throws {
        for tile in [nil, PixelSize(width: 64, height: 64)] {
            var picture = HEICPicture(144, 80)
            picture.chroma = chroma
            picture.depth = depth
            picture.tile = tile
            let bytes = try picture.make()
            let drawn = try draw(bytes)
            #expect(drawn.format.depth == depth)
            #expect(drawn.format.layout == layout(chroma))
            #expect(drawn.planes == (try HEICReference(decoding: bytes)).planes)
        }
    }

    /// Y4M, written by libheif's own tool.
    @Test func heifDecSeesTheSamePlanes() throws {
        var picture = HEICPicture(150, 92)
        picture.tile = PixelSize(width: 64, height: 64)
        picture.orientation = .rotated270
        let bytes = try picture.make()
        let drawn = try draw(bytes)
        let folder = try ScratchFolder()
        let outcome = try Tool.run(["heif-dec", try folder.file("a.heic", bytes), folder.path + "/a.y4m"])
        #expect(outcome.status == 0)
        let file = try folder.read("a.y4m")
        let planes = drawn.planes.flatMap { $0 }
        #expect(String(decoding: file.prefix(20), as: UTF8.self).hasPrefix("YUV4MPEG2 W92 H150 "))
        #expect(Array(file.suffix(planes.count)) == planes)
    }

    // MARK: - Colour

    private static let p3 = ColourDescription(primaries: 12, transfer: 13, matrix: 6, isFullRange: true)
    private static let pq = ColourDescription(primaries: 9, transfer: 16, matrix: 9, isFullRange: false)

    @Test(arguments: [p3, pq], [nil, PixelSize(width: 64, height: 64)])
    func theContainersColourIsTold(colour: ColourDescription, tile: PixelSize?) throws {
        var picture = HEICPicture(96, 80)
        picture.tile = tile
        picture.nclx = colour
        #expect(try draw(try picture.make()).format.colour == colour)
    }

    @Test func whatTheCallerReadOfTheContainerCountsFirst() throws {
        var picture = HEICPicture(64, 64)
        picture.nclx = Self.pq
        #expect(try draw(try picture.make(), colour: Self.p3).format.colour == Self.p3)
    }

    /// The file says nothing and the bitstream has no VUI colours: MIAF's defaults.
    @Test func unspecifiedCodePointsAreSRGB() throws {
        var picture = HEICPicture(64, 64)
        picture.nclx = ColourDescription(primaries: 2, transfer: 2, matrix: 2, isFullRange: true)
        #expect(try draw(try picture.make()).format.colour == .jfif)
    }

    @Test(arguments: [nil, PixelSize(width: 64, height: 64)])
    func theICCProfileIsToldEvenOfTiles(tile: PixelSize?) throws {
        var picture = HEICPicture(96, 80)
        picture.tile = tile
        picture.icc = (0..<600).map { UInt8(truncatingIfNeeded: $0 * 7) }
        #expect(try draw(try picture.make()).icc == picture.icc)
        picture.icc = []
        #expect(try draw(try picture.make()).icc == nil)
    }

    @Test func matrix0SaysThatThePlanesAreRGB() throws {
        var picture = HEICPicture(64, 64)
        picture.chroma = .s444
        picture.nclx = ColourDescription(primaries: 1, transfer: 13, matrix: 0, isFullRange: true)
        let bytes = try picture.make()
        let drawn = try draw(bytes)
        let whole = try HEICReference(decoding: bytes)
        #expect(drawn.format.layout == .rgb)
        // H.273, table 4: G is coded as Y, B as Cb, R as Cr.
        #expect(drawn.planes == [whole.planes[2], whole.planes[0], whole.planes[1]])
    }

    // MARK: - Alpha

    @Test func aTransparentPictureLiesOnWhite() throws {
        var picture = HEICPicture(64, 64)
        picture.alpha = { x, _ in x < 16 ? 0 : x < 32 ? 128 : 255 }
        let bytes = try picture.make()
        let drawn = try draw(bytes)
        #expect(drawn.hasAlpha)
        #expect(drawn.format.layout == .rgb)
        let expected = try overWhite(bytes)
        for (channel, plane) in drawn.planes.enumerated() {
            for (index, sample) in plane.enumerated() {
                #expect(abs(Int(sample) - Int(expected[index * 3 + channel])) <= 1)
            }
        }
        #expect(drawn.planes[0][8 * 64 + 4] >= 253)
    }

    /// libheif writes irot and imir to the picture alone. They say how the whole is shown: its alpha goes with it.
    @Test(arguments: Orientation.allCases) func alphaIsTurnedWithItsPicture(orientation: Orientation) throws {
        var picture = HEICPicture(64, 48)
        picture.chroma = .s444
        picture.orientation = orientation
        picture.alpha = { x, y in x < 16 && y < 24 ? 0 : 255 }
        let drawn = try draw(try picture.make())
        #expect(drawn.format.size == picture.size.applying(orientation))
        let isClear = drawn.planes[0].indices.filter { index in drawn.planes.allSatisfy { $0[index] >= 253 } }
        #expect((350...420).contains(isClear.count))
        let (width, height) = (drawn.format.size.width, drawn.format.size.height)
        let corner = (
            x: orientation.reversesColumns ? width - 3 : 2, y: orientation.reversesRows ? height - 3 : 2
        )
        #expect(isClear.contains(corner.y * width + corner.x))
    }

    @Test func aTransparentGreyPictureStaysGrey() throws {
        var picture = HEICPicture(64, 64)
        picture.chroma = .grey
        picture.nclx = .jfif
        picture.alpha = { x, _ in x < 32 ? 0 : 255 }
        let drawn = try draw(try picture.make())
        #expect(drawn.format.layout == .grey)
        #expect(drawn.planes[0][32 * 64 + 8] >= 253)
        #expect(abs(Int(drawn.planes[0][32 * 64 + 56]) - picture.sample(plane: 0, x: 56, y: 32)) <= 6)
    }

    @Test(arguments: [
        // sample, alpha of 255, premultiplied, expected: c·a + 255·(1 − a), or c + 255·(1 − a)
        (100, 255, false, 100), (100, 0, false, 255), (100, 51, false, 224), (100, 255, true, 100), (0, 0, true, 255),
        (20, 51, true, 224), (100, 51, true, 255),
    ])
    func blending(sample: Int, alpha: Int, isPremultiplied: Bool, expected: Int) {
        let blend = HEICAlpha.Blend(
            opaque: 255, black: 0, white: 255, highest: 255, isPremultiplied: isPremultiplied)
        #expect(blend.overWhite(sample, alpha: alpha) == expected)
    }

    /// Interleaved RGB of the picture over white, by heif-dec and Pillow.
    private func overWhite(_ bytes: [UInt8]) throws -> [UInt8] {
        let folder = try ScratchFolder()
        let png = folder.path + "/a.png"
        #expect(try Tool.run(["heif-dec", try folder.file("a.heic", bytes), png]).status == 0)
        let script = """
            import sys; from PIL import Image
            top = Image.open(sys.argv[1]).convert("RGBA"); white = Image.new("RGBA", top.size, (255, 255, 255, 255))
            sys.stdout.buffer.write(Image.alpha_composite(white, top).convert("RGB").tobytes())
            """
        return try Tool.run(["/usr/bin/python3", "-c", script, png]).output
    }

    // MARK: - Broken and hostile

    private func grid() throws -> [UInt8] {
        var picture = HEICPicture(256, 192)
        picture.tile = PixelSize(width: 64, height: 64)
        return try picture.make()
    }

    @Test func aFileCutAnywhereIsRefused() throws {
        let bytes = try grid()
        for count in stride(from: 0, to: bytes.count, by: 97) {
            #expect(throws: CodecError.self) { try draw(Array(bytes.prefix(count))) }
        }
    }

    @Test func aFileWithoutItsLastByteIsTruncated() throws {
        let bytes = try grid()
        do {
            _ = try draw(bytes.dropLast())
            Issue.record("drawn")
        } catch {
            #expect(error.kind == .truncated)
        }
    }

    /// libheif and FFmpeg yield a picture of such data without a word; FFmpeg's log tells where the code's rules are
    /// broken, which is not everywhere.
    @Test func damagedPictureDataIsCorrupt() throws {
        var picture = HEICPicture(256, 192)
        picture.isTextured = true
        let whole = try picture.make()
        _ = try draw(whole)
        var random = SplitMix64(seed: 1)
        var refused = 0
        for _ in 0..<20 {
            var bytes = whole
            let start = bytes.count / 8 + .random(in: 0..<bytes.count * 3 / 4, using: &random)
            for index in start..<start + 16 { bytes[index] = random.next() }
            do {
                _ = try draw(bytes)
            } catch {
                #expect(error.kind == .corrupt)
                refused += 1
            }
        }
        #expect(refused >= 5)
    }

    @Test func whatIsNoHEICIsRefused() {
        for bytes in [[], [0], Array("\u{0}\u{0}\u{0}\u{18}ftypheic".utf8), [UInt8](repeating: 0xFF, count: 5000)] {
            #expect(throws: CodecError.self) { try draw(bytes) }
        }
    }

    @Test func aPictureOverTheLimitsIsRefusedBeforeItIsDecoded() throws {
        // 4:2:0 has 1.5 samples a pixel: a whole decode takes it twice, bands of 64 rows once and two tiles.
        let whole = 256 * 192 * 3
        let bands = (256 * 64 + 2 * 64 * 64) * 3 / 2
        for (bytes, memory) in [(try HEICPicture(256, 192).make(), whole), (try grid(), bands)] {
            var few = Limits()
            few.pixelsMax = 256 * 192 - 1
            var small = Limits()
            small.workerBytesMax = memory - 1
            for limits in [few, small] {
                do {
                    _ = try draw(bytes, limits: limits)
                    Issue.record("drawn")
                } catch {
                    #expect(error.kind == .outOfMemory)
                }
            }
            small.workerBytesMax = memory
            _ = try draw(bytes, limits: small)
        }
    }

    @Test func theLibraryPreparesAsOftenAsAsked() throws {
        try HEIFLibrary.prepare()
        try HEIFLibrary.prepare()
    }
}
