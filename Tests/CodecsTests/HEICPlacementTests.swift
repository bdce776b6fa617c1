import Core
import Testing

@testable import Codecs

@Suite struct HEICPlacementTests {
    /// Where the corners of what is shown were stored, by turning a picture of numbers step by step.
    @Test(arguments: Orientation.allCases, Orientation.allCases)
    func stepsComeToOnePartAndOneTurn(first: Orientation, last: Orientation) throws {
        let stored = Numbers(width: 7, height: 5)
        let whole = HEICPlacement(all: PixelSize(width: 7, height: 5))
        let half = try #require(whole.turned(first).cropped(left: 1, top: 0, right: 2, bottom: 1))
        let placement = try #require(half.turned(last).cropped(left: 0, top: 1, right: 0, bottom: 0))
        let shown = stored.turned(first).cropped(1, 0, 2, 1).turned(last).cropped(0, 1, 0, 0)
        #expect(placement.displaySize == PixelSize(width: shown.rows[0].count, height: shown.rows.count))
        let part = stored.cropped(
            placement.left, placement.top, 7 - placement.left - placement.size.width,
            5 - placement.top - placement.size.height)
        #expect(part.turned(placement.orientation) == shown)
    }

    @Test func nothingLeftIsNoPart() {
        let placement = HEICPlacement(all: PixelSize(width: 7, height: 5))
        for (left, top, right, bottom) in [(7, 0, 0, 0), (3, 0, 4, 0), (0, 2, 0, 3), (-1, 0, 0, 0), (0, 0, 0, -1)] {
            #expect(placement.cropped(left: left, top: top, right: right, bottom: bottom) == nil)
        }
    }

    private struct Numbers: Equatable {
        var rows: [[Int]]

        init(width: Int, height: Int) { rows = (0..<height).map { y in (0..<width).map { y * width + $0 } } }

        func cropped(_ left: Int, _ top: Int, _ right: Int, _ bottom: Int) -> Numbers {
            var result = self
            result.rows = rows.dropFirst(top).dropLast(bottom).map { Array($0.dropFirst(left).dropLast(right)) }
            return result
        }

        private var mirrored: Numbers { with(rows.map { $0.reversed() }) }
        private var flipped: Numbers { with(rows.reversed()) }
        private var transposed: Numbers { with(rows[0].indices.map { x in rows.map { $0[x] } }) }

        private func with(_ rows: [[Int]]) -> Numbers {
            var result = self
            result.rows = rows
            return result
        }

        /// EXIF 3.0, section 4.6.5.1.6, in mirrors and transpositions.
        func turned(_ orientation: Orientation) -> Numbers {
            switch orientation {
            case .upright: self
            case .mirrored: mirrored
            case .rotated180: mirrored.flipped
            case .flipped: flipped
            case .transposed: transposed
            case .rotated90: transposed.mirrored
            case .transversed: transposed.mirrored.flipped
            case .rotated270: transposed.flipped
            }
        }
    }
}
