import Codecs
import Core
import Support
import Testing

@Suite struct TurnedSourceTests {
    static let layouts: [PlaneLayout] = [.grey, .ycbcr(.s444), .ycbcr(.s420), .ycbcr(.s422), .rgb]

    /// Sizes whose mirrored chroma needs no new grid: Pillow's turned planes are the answer.
    @Test(arguments: Orientation.allCases) func planesAreThoseOfPillow(orientation: Orientation) throws {
        let sizes = [(36, 52), (64, 16), (2, 2)].map { PixelSize(width: $0.0, height: $0.1) }
        let pictures = sizes.flatMap { size in Self.layouts.map { texture(size, $0) } }
        let planes = pictures.flatMap { picture in
            picture.planes.indices.map { index in
                JPEGPictures.Raster(mode: "L", size: picture.format.planeSize(index), samples: picture.planes[index])
            }
        }
        var expected = try JPEGPictures.turned(planes, orientation)[...]
        for picture in pictures {
            let answer = expected.prefix(picture.planes.count).flatMap { $0 }
            expected = expected.dropFirst(picture.planes.count)
            for bandRows in [2, 8, 20, 64] {
                let turned = try turn(picture, orientation, bandRows: bandRows)
                #expect(turned.format.size == picture.format.size.applying(orientation))
                #expect(same(turned.joined, answer), "\(picture.format) in bands of \(bandRows)")
            }
        }
        #expect(expected.isEmpty)
    }

    @Test(arguments: Orientation.allCases) func axesOfSubsamplingAreSwapped(orientation: Orientation) throws {
        let picture = texture(PixelSize(width: 36, height: 52), .ycbcr(.s422))
        let turned = try turn(picture, orientation, bandRows: 8)
        #expect(turned.format.layout == .ycbcr(orientation.swapsAxes ? .s440 : .s422))
        #expect(PlaneLayout.ycbcr(.s410).turned(orientation) == (orientation.swapsAxes ? nil : .ycbcr(.s410)))
    }

    /// Five columns have three chroma samples, the last over one column only. Mirrored, the new samples lie over the
    /// old columns 4 3, 2 1 and 0, between the old samples' centres.
    @Test func mirroredChromaIsBroughtToTheGrid() throws {
        let format = PictureFormat(
            size: PixelSize(width: 5, height: 2), layout: .ycbcr(.s420), depth: 8, colour: .jfif)
        let luma = Array(UInt8(1)...10)
        let picture = WholePicture(format: format, planes: [luma, [10, 20, 40], [200, 100, 0]])
        let mirrored = try turn(picture, .mirrored, bandRows: 2)
        #expect(mirrored.planes == [[5, 4, 3, 2, 1, 10, 9, 8, 7, 6], [30, 15, 10], [50, 150, 200]])
        let turned = try turn(picture, .rotated270, bandRows: 2)
        #expect(turned.planes == [[5, 10, 4, 9, 3, 8, 2, 7, 1, 6], [30, 15, 10], [50, 150, 200]])
        #expect(try turn(picture, .rotated90, bandRows: 2).planes[1] == [10, 20, 40])
    }

    @Test func flippedChromaIsBroughtToTheGrid() throws {
        let format = PictureFormat(
            size: PixelSize(width: 3, height: 3), layout: .ycbcr(.s420), depth: 8, colour: .jfif)
        let planes: [[UInt8]] = [Array(1...9), [0, 100, 20, 40], [8, 8, 8, 8]]
        let picture = WholePicture(format: format, planes: planes)
        #expect(try turn(picture, .flipped, bandRows: 2).planes[1] == [10, 70, 0, 100])
        // Both ways: first (40 + 100) / 2 and (20 + 0) / 2 down, then their mean across.
        #expect(try turn(picture, .rotated180, bandRows: 2).planes[1] == [40, 10, 50, 0])
    }

    /// Six columns at one chroma sample for four: the mirrored grid lies two columns, half a sample, further.
    @Test func widerSubsamplingIsInterpolatedByParts() throws {
        for (width, expected) in [(6, [40, 20]), (7, [50, 20]), (5, [30, 20]), (8, [60, 20])] {
            let format = PictureFormat(
                size: PixelSize(width: width, height: 1), layout: .ycbcr(.s411), depth: 8, colour: .jfif)
            let luma = [UInt8](repeating: 1, count: width)
            let picture = WholePicture(format: format, planes: [luma, [20, 60], [20, 60]])
            #expect(try turn(picture, .mirrored, bandRows: 1).planes[1].map(Int.init) == expected, "\(width)")
        }
    }

    /// Means of neighbours that differ by one are half codes: rounded to the same side they would tint the picture.
    @Test(arguments: [Orientation.mirrored, .rotated180, .flipped, .transversed])
    func interpolatedChromaIsAsBrightAsBefore(orientation: Orientation) throws {
        let size = PixelSize(width: 201, height: 101)
        let format = PictureFormat(size: size, layout: .ycbcr(.s420), depth: 8, colour: .jfif)
        var random = SplitMix64(seed: 1)
        let chroma = (0..<51 * 101).map { _ in UInt8.random(in: 100...101, using: &random) }
        let luma = [UInt8](repeating: 1, count: size.width * size.height)
        let picture = WholePicture(format: format, planes: [luma, chroma, chroma])
        let turned = try turn(picture, orientation, bandRows: 16)
        func mean(_ samples: [UInt8]) -> Double { Double(samples.reduce(0) { $0 + Int($1) }) / Double(samples.count) }
        #expect(abs(mean(turned.planes[1]) - mean(chroma)) < 0.05)
    }

    /// The whole chain against an independent one: full chroma, turned as pixels.
    @Test(arguments: Orientation.allCases) func oddPicturesLookAsTurnedPixelsDo(orientation: Orientation) throws {
        let size = PixelSize(width: 121, height: 91)
        let pixmap = Array("P6\n121 91\n255\n".utf8) + TestPattern(121, 91).rgbBytes
        let jpeg = try JPEGPictures.output(["cjpeg", "-quality", "98", "-sample", "2x2"], input: pixmap)
        let turned = try turn(decode(jpeg).picture, orientation, bandRows: 16)
        let result = try JPEGPictures.rgb(encode(turned, bandRows: 16, quality: 98))
        let pixels = JPEGPictures.Raster(mode: "RGB", size: size, samples: try JPEGPictures.rgb(jpeg))
        #expect(JPEGPictures.psnr(result, try JPEGPictures.turned([pixels], orientation)[0]) > 45)
    }

    @Test(arguments: Orientation.allCases) func deepSamplesAreTurned(orientation: Orientation) throws {
        let size = PixelSize(width: 35, height: 20)
        let format = PictureFormat(size: size, layout: .grey, depth: 10, colour: .jfif)
        let low = texture(size, .grey).planes[0]
        let deep = low.flatMap { [$0, $0 & 3] }
        let turned = try turn(WholePicture(format: format, planes: [deep]), orientation, bandRows: 8)
        let expected = try JPEGPictures.turned(
            [JPEGPictures.Raster(mode: "L", size: size, samples: low)], orientation)[0]
        #expect(same(turned.planes[0], expected.flatMap { [$0, $0 & 3] }))
    }

    @Test(arguments: [0, 1, 40, 90]) func aSourceThatEndsEarlyIsTruncated(rows: Int) throws {
        let format = PictureFormat(
            size: PixelSize(width: 20, height: 91), layout: .ycbcr(.s420), depth: 8, colour: .jfif)
        let picture = PlanarPicture(format) { _, x, y in (x + y) % 256 }
        var turned = try TurnedSource.turning(PlanarPictureSource(picture, rows: 8, endingAt: rows), .rotated180)
        #expect(try failure { _ = try turned.nextBand() } == .truncated)
    }

    private func turn(_ picture: WholePicture, _ orientation: Orientation, bandRows: Int) throws -> WholePicture {
        let source = PlanesSource(picture.format, picture.planes, bandRows: bandRows)
        var turned = try TurnedSource.turning(source, orientation)
        return try collect(&turned)
    }
}
