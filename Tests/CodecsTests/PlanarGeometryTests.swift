import Core
import Foundation
import Support
import Testing

@testable import Codecs

/// Sizes, slices, chroma grids and scaling: where samples go, not what they mean.
@Suite struct PlanarGeometryTests {
    private static func convert(
        _ picture: PlanarPicture, to layout: PlaneLayout, size: PixelSize? = nil, bandRows: Int = 32,
        sliceRows: Int = 64
    ) throws -> PlanarPicture {
        var converter = try PlanarConverter.converting(
            PlanarPictureSource(picture, rows: bandRows), to: layout, size: size, sliceRows: sliceRows)
        return try PlanarPicture(drawing: &converter)
    }

    private static let limited709 = ColourDescription(primaries: 1, transfer: 1, matrix: 1, isFullRange: false)

    /// Waves whose co-ordinates are those of the luma grid, so that every subsampling shows the same picture.
    private static func waves(
        _ layout: PlaneLayout, _ width: Int, _ height: Int, depth: Int = 8, colour: ColourDescription = .jfif
    ) -> PlanarPicture {
        let format = PictureFormat(
            size: PixelSize(width: width, height: height), layout: layout, depth: depth, colour: colour)
        let scale = Double(1 << (depth - 8))
        return PlanarPicture(format) { plane, x, y in
            let step = format.subsampling(ofPlane: plane)
            let column = (Double(x) + 0.5) * Double(step.horizontal)
            let row = (Double(y) + 0.5) * Double(step.vertical)
            let wave = sin(column / (9 + Double(plane)) + Double(plane)) * cos(row / (11 - Double(plane)))
            return Int(((plane == 0 ? 125 + 60 * wave : 128 + 40 * wave) * scale).rounded())
        }
    }

    private static let layouts: [PlaneLayout] =
        [.grey, .rgb] + ChromaSubsampling.allCases.map { .ycbcr($0) }

    @Test("every layout at every odd size has the right planes", arguments: layouts)
    func sizes(_ layout: PlaneLayout) throws {
        for (width, height) in [(1, 1), (2, 1), (1, 3), (3, 2), (17, 5), (33, 130)] {
            let source = Self.waves(layout, width, height, depth: 10, colour: Self.limited709)
            let targets: [PlaneLayout] =
                layout == .grey ? [.grey] : [.rgb, .ycbcr(.s444), .ycbcr(.s422), .ycbcr(.s420)]
            for target in targets {
                let result = try Self.convert(source, to: target, bandRows: 4)
                for plane in 0..<result.format.planeCount {
                    #expect(result.planes[plane].count == result.format.planeSize(plane).pixels)
                }
                #expect(result.format.size == source.format.size)
            }
        }
    }

    /// Ten bits are dithered, by a pattern that runs on from slice to slice.
    @Test("the bands drawn and the slices made leave no trace", arguments: layouts, [8, 10])
    func slices(_ layout: PlaneLayout, depth: Int) throws {
        let source = Self.waves(layout, 45, 203, depth: depth, colour: Self.limited709)
        let target: PlaneLayout = layout == .grey ? .grey : .ycbcr(.s420)
        let whole = try Self.convert(source, to: target, bandRows: 203, sliceRows: 1024)
        for (bandRows, sliceRows) in [(4, 16), (8, 64), (48, 16), (100, 32), (203, 48)] {
            #expect(try Self.convert(source, to: target, bandRows: bandRows, sliceRows: sliceRows) == whole)
        }
    }

    @Test("scaled slices agree with the whole picture", arguments: layouts)
    func scaledSlices(_ layout: PlaneLayout) throws {
        let source = Self.waves(layout, 90, 307)
        let target: PlaneLayout = layout == .grey ? .grey : .ycbcr(.s420)
        for size in [PixelSize(width: 41, height: 139), PixelSize(width: 90, height: 35)] {
            let whole = try Self.convert(source, to: target, size: size, bandRows: 307, sliceRows: 4096)
            let sliced = try Self.convert(source, to: target, size: size, bandRows: 8, sliceRows: 48)
            #expect(sliced.distance(to: whole) <= 1)
        }
    }

    @Test("chroma that changes its grid stays where it was", arguments: ChromaSubsampling.allCases)
    func chromaGrid(_ chroma: ChromaSubsampling) throws {
        let fine = try Self.convert(Self.waves(.ycbcr(chroma), 96, 96), to: .ycbcr(.s444))
        let expectedFine = Self.waves(.ycbcr(.s444), 96, 96)
        let coarse = try Self.convert(Self.waves(.ycbcr(.s444), 96, 96), to: .ycbcr(chroma))
        let expectedCoarse = Self.waves(.ycbcr(chroma), 96, 96)
        for plane in 1...2 {
            #expect(fine.psnr(of: plane, against: expectedFine) > 37)
            #expect(coarse.psnr(of: plane, against: expectedCoarse) > 37)
        }
        #expect(fine.planes[0] == expectedFine.planes[0])
        #expect(coarse.planes[0] == expectedCoarse.planes[0])
    }

    @Test("a change of matrix costs subsampled chroma little of its detail")
    func chromaDetail() throws {
        let source = Self.waves(.ycbcr(.s420), 96, 96, colour: Self.limited709)
        let result = try Self.convert(source, to: .ycbcr(.s420))
        // Chroma of one matrix is a linear map of the other's chroma alone, so it is known without resampling.
        let code = CodeRange(depth: 8, isFull: false)
        let expected = PlanarPicture(result.format) { plane, x, y in
            guard plane > 0 else { return result.sample(0, x, y) }
            let pair = [0.5, code.chromaUnit(source.sample(1, x, y)), code.chromaUnit(source.sample(2, x, y))]
            let value = Luminance(matrix: 6).ycbcr(Luminance(matrix: 1).rgb(pair))[plane]
            return CodeRange(depth: 8, isFull: true).chroma(value)
        }
        #expect(result.psnr(of: 1, against: expected) > 40)
        #expect(result.psnr(of: 2, against: expected) > 40)
    }

    @Test("Lanczos as Pillow has it", arguments: [(61, 40), (200, 77), (33, 301), (64, 106), (40, 60)])
    func scaling(_ width: Int, _ height: Int) throws {
        let source = PlanarPicture(
            PictureFormat(size: PixelSize(width: 127, height: 211), layout: .grey, depth: 8, colour: .jfif)
        ) { _, x, y in 64 + (x * 5 + y * 3) % 64 + (x / 16 + y / 16) % 2 * 64 }
        let result = try Self.convert(source, to: .grey, size: PixelSize(width: width, height: height))
        let script = """
            import sys
            from PIL import Image
            picture = Image.frombytes("L", (127, 211), sys.stdin.buffer.read())
            sys.stdout.buffer.write(picture.resize((\(width), \(height)), Image.LANCZOS).tobytes())
            """
        let outcome = try Tool.run(["/usr/bin/python3", "-c", script], input: source.planes[0].map(UInt8.init))
        try #require(outcome.status == 0, "\(outcome.complaint)")
        // Three lobes from the edge: there zimg mirrors the picture, Pillow leaves weights out.
        func margin(_ source: Int, _ target: Int) -> Int { 3 * max(1, target / source) + 1 }
        let columns = margin(127, width)..<(width - margin(127, width))
        let rows = margin(211, height)..<(height - margin(211, height))
        let distances = rows.flatMap { y in
            columns.map { x in abs(result.sample(0, x, y) - Int(outcome.output[y * width + x])) }
        }
        #expect(try #require(distances.max()) <= 1)
    }

    @Test("nothing has no pixels to convert", arguments: [(0, 0), (0, 5), (5, 0)])
    func empty(_ width: Int, _ height: Int) {
        let source = Self.waves(.ycbcr(.s420), width, height)
        #expect(throws: CodecError.self) { try Self.convert(source, to: .rgb) }
        #expect(throws: CodecError.self) {
            try Self.convert(Self.waves(.rgb, 8, 8), to: .rgb, size: PixelSize(width: width, height: height))
        }
    }

    @Test("a source that ends before its last row is truncated", arguments: [0, 1, 40, 150])
    func endsEarly(_ rows: Int) throws {
        let picture = Self.waves(.ycbcr(.s420), 20, 151, colour: Self.limited709)
        var converter = try PlanarConverter.converting(
            PlanarPictureSource(picture, rows: 8, endingAt: rows), to: .ycbcr(.s420))
        let error = #expect(throws: CodecError.self) { while try converter.nextBand() != nil {} }
        #expect(error?.kind == .truncated)
    }
}
