import Core
import Testing

@testable import Codecs

@Suite struct HEICGridTests {
    private static let tiling = HEIFTiling(
        columns: 3, rows: 2, tile: PixelSize(width: 8, height: 6), size: PixelSize(width: 19, height: 10))

    /// Where a stored pixel is displayed, written out for each orientation (EXIF 3.0, section 4.6.5.1.6).
    private static func display(_ x: Int, _ y: Int, _ orientation: Orientation, _ size: PixelSize) -> (x: Int, y: Int) {
        let (w, h) = (size.width - 1, size.height - 1)
        return switch orientation {
        case .upright: (x, y)
        case .mirrored: (w - x, y)
        case .rotated180: (w - x, h - y)
        case .flipped: (x, h - y)
        case .transposed: (y, x)
        case .rotated90: (h - y, x)
        case .transversed: (h - y, w - x)
        case .rotated270: (y, w - x)
        }
    }

    @Test(arguments: Orientation.allCases)
    func everyStoredPixelLiesInItsTilesPlaceOnTheDisplay(orientation: Orientation) throws {
        let tiling = Self.tiling
        let grid = try #require(HEICGrid(tiling, orientation: orientation))
        #expect(grid.displaySize == tiling.size.applying(orientation))
        let lines = (0..<grid.lineCount).map(grid.line)
        for y in 0..<tiling.size.height {
            for x in 0..<tiling.size.width {
                let place = Self.display(x, y, orientation, tiling.size)
                let line = try #require(lines.first { ($0.firstRow..<$0.firstRow + $0.rows).contains(place.y) })
                let cell = try #require(line.cells.last { $0.x <= place.x })
                #expect(cell.column == x / 8 && cell.row == y / 6)
                #expect(x % 8 < cell.visible.width && y % 6 < cell.visible.height)
            }
        }
    }

    @Test(arguments: Orientation.allCases)
    func linesFollowEachOtherWithoutAGap(orientation: Orientation) throws {
        let grid = try #require(HEICGrid(Self.tiling, orientation: orientation))
        var row = 0
        for line in (0..<grid.lineCount).map(grid.line) {
            #expect(line.firstRow == row)
            #expect(line.rows <= grid.lineRowsMax)
            #expect(line.cells.first?.x == 0)
            row += line.rows
        }
        #expect(row == grid.displaySize.height)
    }

    @Test(arguments: [
        (3, 2, 7, 6), (2, 2, 8, 6), (4, 2, 8, 6), (3, 3, 8, 6), (3, 2, 0, 6), (Int.max, 2, 8, 6),
    ])
    func tilesThatDoNotFitThePictureAreRefused(columns: Int, rows: Int, width: Int, height: Int) {
        let tiling = HEIFTiling(
            columns: columns, rows: rows, tile: PixelSize(width: width, height: height),
            size: PixelSize(width: 24, height: 12))
        let fits = columns == 3 && rows == 2 && width == 8
        #expect((HEICGrid(tiling, orientation: .upright) != nil) == fits)
    }

    /// 19 is odd: the chroma column that it leaves half empty may lie last, but not first.
    @Test(arguments: Orientation.allCases)
    func anOddEdgeTurnedToTheFrontBreaksTheChromaLattice(orientation: Orientation) throws {
        let grid = try #require(HEICGrid(Self.tiling, orientation: orientation))
        let oddEdgeComesFirst: Set<Orientation> = [.mirrored, .rotated180, .transversed, .rotated270]
        let layout = grid.turned(.ycbcr(.s420))
        #expect((layout == nil) == oddEdgeComesFirst.contains(orientation))
        #expect(grid.turned(.ycbcr(.s444)) == .ycbcr(.s444))
        #expect(grid.turned(.grey) == .grey)
    }

    @Test func turnedByAQuarterTheChromaFactorsChangePlaces() throws {
        var tiling = Self.tiling
        tiling = HEIFTiling(
            columns: 3, rows: 2, tile: tiling.tile, size: PixelSize(width: 20, height: 10))
        let turned = try #require(HEICGrid(tiling, orientation: .rotated90))
        #expect(turned.turned(.ycbcr(.s422)) == .ycbcr(.s440))
        let upright = try #require(HEICGrid(tiling, orientation: .upright))
        #expect(upright.turned(.ycbcr(.s422)) == .ycbcr(.s422))
    }

    @Test func oddTilesBreakTheChromaLattice() throws {
        let tiling = HEIFTiling(
            columns: 2, rows: 1, tile: PixelSize(width: 9, height: 6), size: PixelSize(width: 18, height: 6))
        let grid = try #require(HEICGrid(tiling, orientation: .upright))
        #expect(grid.turned(.ycbcr(.s422)) == nil)
        #expect(grid.turned(.ycbcr(.s444)) != nil)
    }
}
