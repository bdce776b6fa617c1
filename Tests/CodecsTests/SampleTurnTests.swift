import Core
import Testing

@testable import Codecs

@Suite struct SampleTurnTests {
    /// Sizes around the edges of the blocks that are turned in registers (8 bytes, 4 words), and beside them.
    private static let sizes = [(1, 1), (3, 5), (8, 8), (4, 4), (16, 8), (17, 23), (7, 9), (9, 32)].map {
        PixelSize(width: $0.0, height: $0.1)
    }

    @Test(arguments: Orientation.allCases, sizes)
    func bytesGoWhereTheOrientationSays(orientation: Orientation, size: PixelSize) {
        check(orientation, size, as: UInt8.self)
    }

    @Test(arguments: Orientation.allCases, sizes)
    func wordsGoWhereTheOrientationSays(orientation: Orientation, size: PixelSize) {
        check(orientation, size, as: UInt16.self)
    }

    private func check<Sample: FixedWidthInteger>(_ orientation: Orientation, _ size: PixelSize, as: Sample.Type) {
        let bytes = MemoryLayout<Sample>.size
        let padded = size.width + 3
        let source = (0..<padded * size.height).map { Sample(truncatingIfNeeded: $0 &* 31 &+ $0 / 7) }
        let display = size.applying(orientation)
        let stride = display.width + 5
        let untouched = Sample(truncatingIfNeeded: 0xEEEE)
        var target = [Sample](repeating: untouched, count: stride * display.height)
        source.withUnsafeBytes { source in
            target.withUnsafeMutableBytes { target in
                guard let from = source.baseAddress, let to = target.baseAddress else { return }
                let plane = Plane(base: from, stride: padded * bytes, width: size.width, height: size.height)
                SampleTurn.copy(
                    plane, bytesPerSample: bytes, by: orientation, to: to, targetStride: stride * bytes)
            }
        }
        var expected = [Sample](repeating: untouched, count: stride * display.height)
        for y in 0..<display.height {
            for x in 0..<display.width {
                let (w, h) = (size.width - 1, size.height - 1)
                let stored =
                    switch orientation {
                    case .upright: (x, y)
                    case .mirrored: (w - x, y)
                    case .rotated180: (w - x, h - y)
                    case .flipped: (x, h - y)
                    case .transposed: (y, x)
                    case .rotated90: (y, h - x)
                    case .transversed: (w - y, h - x)
                    case .rotated270: (w - y, x)
                    }
                expected[y * stride + x] = source[stored.1 * padded + stored.0]
            }
        }
        #expect(target == expected)
    }
}
