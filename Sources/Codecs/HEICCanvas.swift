import CHEIF
import Core

/// Where the tiles of a grid are put together to the bands of its picture, turned as they come.
final class HEICCanvas: Sendable {
    let grid: HEICGrid
    let tile: PixelSize
    let planes: HEICPlanes
    /// The part of the display that is looked at; tiles outside are not decoded.
    private let part: PixelRectangle
    /// Lines take turns with them.
    private let buffers: [HEICBandBuffer]

    /// - Parameters:
    ///   - planes: of the tiles.
    ///   - format: of the picture.
    ///   - linesHeld: how many lines may be worked on at once.
    init(
        _ grid: HEICGrid, tile: PixelSize, planes: HEICPlanes, format: PictureFormat, part: PixelRectangle,
        linesHeld: Int
    ) {
        self.grid = grid
        self.tile = tile
        self.planes = planes
        self.part = part
        buffers = (0..<linesHeld).map { _ in HEICBandBuffer(format, rows: grid.lineRowsMax) }
    }

    var linesHeld: Int { buffers.count }

    func shows(_ cell: HEICGrid.Cell, _ line: HEICGrid.Line) -> Bool {
        let columns = cell.visible.applying(grid.orientation).width
        return part.intersects(PixelRectangle(x: cell.x, y: line.firstRow, width: columns, height: line.rows))
    }

    /// - Throws: `corrupt` where the image is no whole tile of this picture.
    func place(_ image: borrowing HEIFImage, _ cell: HEICGrid.Cell, line: Int) throws(CodecError) {
        try place(try planes.planes(of: image, size: tile), cell, line: line)
    }

    /// Copies what shows of a tile to its place. Tiles may be placed by several threads at once.
    ///
    /// - Parameter whole: the tile's planes.
    /// - Throws: `corrupt` where some of what shows was never decoded.
    func place(_ whole: [Plane], _ cell: HEICGrid.Cell, line: Int) throws(CodecError) {
        let parts = whole.enumerated().map { index, plane in
            let visible = index == 0 ? cell.visible : planes.subsampling.chromaSize(of: cell.visible)
            return Plane(base: plane.base, stride: plane.stride, width: visible.width, height: visible.height)
        }
        try planes.checkDecoded(parts)
        let buffer = buffers[line % buffers.count]
        for (index, part) in parts.enumerated() {
            SampleTurn.copy(
                part, bytesPerSample: planes.bytesPerSample, by: grid.orientation,
                to: buffer.column(cell.x, ofPlane: index), targetStride: buffer.strides[index])
        }
    }

    /// The band of a line whose tiles are all placed; valid until another line takes its buffer.
    func band(line: Int) -> Band {
        let (firstRow, rows) = { ($0.firstRow, $0.rows) }(grid.line(line))
        return buffers[line % buffers.count].band(firstRow: firstRow, rows: rows)
    }
}
