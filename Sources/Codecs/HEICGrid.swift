import Core

/// Where the tiles of a grid come to lie on the display, and which part of each shows. Arithmetic only.
///
/// The grid's last column and row may hang over the picture's right and bottom edge as stored (ISO/IEC 23008-12,
/// section 6.6.2.3); after irot and imir the overhang may lie on any side.
struct HEICGrid: Equatable {
    /// A tile that shows in a band.
    struct Cell: Equatable {
        let column: Int
        let row: Int
        /// The part of the tile, from its top left, that belongs to the picture; as stored.
        let visible: PixelSize
        /// The display column of the tile's left edge.
        let x: Int
    }

    /// One display row of tiles.
    struct Line: Equatable {
        let firstRow: Int
        let rows: Int
        let cells: [Cell]
    }

    /// One direction of the display, along which the tiles are counted.
    private struct Axis: Equatable {
        let tiles: Int
        let tileLength: Int
        let length: Int
        /// Whether the display runs against the stored direction.
        let isReversed: Bool

        /// Of the tile that comes `index`th on the display: its number as stored, and its stretch of the display.
        func tile(_ index: Int) -> (stored: Int, display: Range<Int>) {
            let stored = isReversed ? tiles - 1 - index : index
            let start = stored * tileLength
            let end = min(start + tileLength, length)
            return (stored, isReversed ? length - end..<length - start : start..<end)
        }
    }

    let orientation: Orientation
    private let horizontal: Axis
    private let vertical: Axis

    /// Nil where the tiles do not cover the picture, or whole tiles lie outside of it.
    init?(_ tiling: HEIFTiling, orientation: Orientation) {
        let columns = Axis(
            tiles: tiling.columns, tileLength: tiling.tile.width, length: tiling.size.width,
            isReversed: orientation.swapsAxes ? orientation.reversesRows : orientation.reversesColumns)
        let rows = Axis(
            tiles: tiling.rows, tileLength: tiling.tile.height, length: tiling.size.height,
            isReversed: orientation.swapsAxes ? orientation.reversesColumns : orientation.reversesRows)
        for axis in [columns, rows] {
            let (covered, overflow) = axis.tiles.multipliedReportingOverflow(by: axis.tileLength)
            guard !overflow, axis.length > 0, (0..<axis.tileLength).contains(covered - axis.length) else { return nil }
        }
        self.orientation = orientation
        (horizontal, vertical) = orientation.swapsAxes ? (rows, columns) : (columns, rows)
    }

    var displaySize: PixelSize { PixelSize(width: horizontal.length, height: vertical.length) }

    var lineCount: Int { vertical.tiles }

    /// Columns of tiles, as stored.
    var storedColumns: Int { orientation.swapsAxes ? vertical.tiles : horizontal.tiles }

    var lineRowsMax: Int { min(vertical.tileLength, vertical.length) }

    func line(_ index: Int) -> Line {
        let (line, rows) = vertical.tile(index)
        let cells = (0..<horizontal.tiles).map { index in
            let (position, columns) = horizontal.tile(index)
            let visible = PixelSize(width: columns.count, height: rows.count)
            return orientation.swapsAxes
                ? Cell(column: line, row: position, visible: visible.transposed, x: columns.lowerBound)
                : Cell(column: position, row: line, visible: visible, x: columns.lowerBound)
        }
        return Line(firstRow: rows.lowerBound, rows: rows.count, cells: cells)
    }

    /// The layout on the display of tiles that are stored with `layout`; nil where the chroma samples of neighbouring
    /// tiles, or of the turned picture, would not lie on one lattice: an odd tile, or an odd edge turned to the front.
    func turned(_ layout: PlaneLayout) -> PlaneLayout? {
        guard case .ycbcr(let stored) = layout else { return layout }
        guard let display = orientation.applied(to: stored) else { return nil }
        guard aligned(horizontal, display.horizontal), aligned(vertical, display.vertical) else { return nil }
        return .ycbcr(display)
    }

    private func aligned(_ axis: Axis, _ factor: Int) -> Bool {
        axis.tileLength % factor == 0 && (!axis.isReversed || axis.length % factor == 0)
    }
}

extension Orientation {
    /// Whether the display's columns are counted against the stored direction they come from.
    var reversesColumns: Bool {
        switch self {
        case .mirrored, .rotated180, .rotated90, .transversed: true
        case .upright, .flipped, .transposed, .rotated270: false
        }
    }

    /// Whether the display's rows are counted against the stored direction they come from.
    var reversesRows: Bool {
        switch self {
        case .rotated180, .flipped, .transversed, .rotated270: true
        case .upright, .mirrored, .transposed, .rotated90: false
        }
    }

    fileprivate func applied(to subsampling: ChromaSubsampling) -> ChromaSubsampling? {
        swapsAxes
            ? ChromaSubsampling(horizontal: subsampling.vertical, vertical: subsampling.horizontal) : subsampling
    }
}
