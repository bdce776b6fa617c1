import Codecs
import Core
import Support
import Testing

@Suite struct CropSourceTests {
    static let layouts: [PlaneLayout] = [.grey, .rgb, .ycbcr(.s444), .ycbcr(.s422), .ycbcr(.s420), .ycbcr(.s440)]

    /// Every sample's number is its own place in its plane.
    private func planes(_ format: PictureFormat) -> [[UInt8]] {
        (0..<format.planeCount).map { index in
            let size = format.planeSize(index)
            return (0..<size.width * size.height).flatMap { place -> [UInt8] in
                let number = place + 1000 * index
                return format.depth > 8
                    ? [UInt8(number & 255), UInt8(number >> 8)] : [UInt8(truncatingIfNeeded: number)]
            }
        }
    }

    @Test(arguments: layouts, [8, 10]) func everySampleIsThatOfItsPlace(layout: PlaneLayout, depth: Int) throws {
        let format = PictureFormat(size: PixelSize(width: 23, height: 19), layout: layout, depth: depth, colour: .jfif)
        let whole = planes(format)
        for (x, y, width, height) in [(0, 0, 23, 19), (4, 6, 7, 5), (22, 18, 1, 1), (2, 0, 20, 19), (0, 8, 23, 8)] {
            let part = PixelRectangle(x: x, y: y, width: width, height: height)
            for bandRows in [4, 8, 64] {
                var source = CropSource.cropping(PlanesSource(format, whole, bandRows: bandRows), to: part)
                let cropped = try collect(&source)
                #expect(cropped.format.size == part.size)
                for index in 0..<format.planeCount {
                    let step: (x: Int, y: Int) =
                        if index > 0, case .ycbcr(let chroma) = layout { (chroma.horizontal, chroma.vertical) } else {
                            (1, 1)
                        }
                    let size = cropped.format.planeSize(index)
                    let bytes = format.bytesPerSample
                    let stride = format.planeSize(index).width * bytes
                    let expected = (0..<size.height).flatMap { row in
                        let start = (y / step.y + row) * stride + x / step.x * bytes
                        return whole[index][start..<start + size.width * bytes]
                    }
                    #expect(cropped.planes[index] == expected, "\(part) plane \(index)")
                }
            }
        }
    }

    @Test func chromaIsNotCutThrough() {
        let format = PictureFormat(size: PixelSize(width: 8, height: 8), layout: .ycbcr(.s420), depth: 8, colour: .jfif)
        func canCrop(_ x: Int, _ y: Int) -> Bool {
            CropSource<PlanesSource>.canCrop(format, to: PixelRectangle(x: x, y: y, width: 1, height: 1))
        }
        #expect(canCrop(2, 4) && !canCrop(1, 4) && !canCrop(2, 3))
    }

    @Test func aSourceThatEndsEarlyIsTruncated() {
        let format = PictureFormat(size: PixelSize(width: 8, height: 8), layout: .grey, depth: 8, colour: .jfif)
        var short = format
        short.size.height = 4
        let error = #expect(throws: CodecError.self) {
            let held = PlanesSource(short, planes(short), bandRows: 2)
            var source = CropSource.cropping(Lying(held, format), to: PixelRectangle(x: 0, y: 2, width: 8, height: 6))
            _ = try collect(&source)
        }
        #expect(error?.kind == .truncated)
    }

    /// Announces another picture than it yields.
    private struct Lying: BandSource, ~Copyable {
        let format: PictureFormat
        private var source: PlanesSource

        init(_ source: consuming PlanesSource, _ format: PictureFormat) {
            self.source = source
            self.format = format
        }

        mutating func nextBand() -> Band? { source.nextBand() }
    }
}
