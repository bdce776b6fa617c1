import CHEIF
import Core

/// Decodes a grid line by line: one display row of tiles at a time, in memory that follows the picture's width.
struct HEICTiles: ~Copyable {
    private let handle: HEIFHandle
    private let decoder: HEIFDecoder
    private let grid: HEICGrid
    private let tile: PixelSize
    private let planes: HEICPlanes
    private let format: PictureFormat
    private let buffer: HEICBandBuffer
    /// The part of the display that is looked at; tiles outside are not decoded.
    private let part: PixelRectangle
    /// The first tile of the first line: decoded at opening, to learn what the picture is.
    private var first: HEIFImage?
    private var nextLine = 0

    init(
        _ handle: consuming HEIFHandle, grid: HEICGrid, tile: PixelSize, decoder: HEIFDecoder, planes: HEICPlanes,
        format: PictureFormat, part: PixelRectangle, first: consuming HEIFImage
    ) {
        self.handle = handle
        self.decoder = decoder
        self.grid = grid
        self.tile = tile
        self.planes = planes
        self.format = format
        self.part = part
        self.first = consume first
        buffer = HEICBandBuffer(format, rows: grid.lineRowsMax)
    }

    mutating func nextBand() throws(CodecError) -> Band? {
        guard nextLine < grid.lineCount else { return nil }
        let line = grid.line(nextLine)
        nextLine += 1
        for cell in line.cells where shows(cell, line) {
            let image = try take(cell)
            try place(image, cell)
        }
        return buffer.band(firstRow: line.firstRow, rows: line.rows)
    }

    private func shows(_ cell: HEICGrid.Cell, _ line: HEICGrid.Line) -> Bool {
        let columns = cell.visible.applying(grid.orientation).width
        return part.intersects(
            PixelRectangle(x: cell.x, y: line.firstRow, width: columns, height: line.rows))
    }

    private mutating func take(_ cell: HEICGrid.Cell) throws(CodecError) -> HEIFImage {
        if nextLine == 1, cell == grid.line(0).cells[0], let image = first.take() { return image }
        do throws(HEIFFailure) {
            return try handle.decode(.tile(column: cell.column, row: cell.row), by: decoder)
        } catch {
            // The first tile was taken, so this decoder reads the kind: the fault is in the data.
            let cause = error.error
            throw cause.kind == .unsupported ? CodecError(.corrupt, cause.message) : cause
        }
    }

    private func place(_ image: borrowing HEIFImage, _ cell: HEICGrid.Cell) throws(CodecError) {
        let parts = try planes.planes(of: image, size: tile).enumerated().map { index, plane in
            let visible = index == 0 ? cell.visible : planes.subsampling.chromaSize(of: cell.visible)
            return Plane(base: plane.base, stride: plane.stride, width: visible.width, height: visible.height)
        }
        try planes.checkDecoded(parts)
        for (index, part) in parts.enumerated() {
            SampleTurn.copy(
                part, bytesPerSample: planes.bytesPerSample, by: grid.orientation,
                to: buffer.column(cell.x, ofPlane: index), targetStride: buffer.strides[index])
        }
    }
}

/// The memory of one band, used again for each.
struct HEICBandBuffer: ~Copyable {
    private let base: UnsafeMutableRawPointer
    private let offsets: [Int]
    private let format: PictureFormat
    let strides: [Int]

    init(_ format: PictureFormat, rows: Int) {
        self.format = format
        var strides: [Int] = []
        var offsets: [Int] = []
        var total = 0
        for index in 0..<format.planeCount {
            // Rows begin where vector instructions like them.
            let stride = (format.planeSize(index).width * format.bytesPerSample + 63) & ~63
            strides.append(stride)
            offsets.append(total)
            total += stride * format.planeRows(index, of: rows)
        }
        self.strides = strides
        self.offsets = offsets
        base = .allocate(byteCount: total, alignment: 64)
    }

    deinit { base.deallocate() }

    /// Where the samples of luma column `x` begin in plane `index`.
    func column(_ x: Int, ofPlane index: Int) -> UnsafeMutableRawPointer {
        base + offsets[index] + x / format.horizontalFactor(index) * format.bytesPerSample
    }

    func band(firstRow: Int, rows: Int) -> Band {
        Band(
            firstRow: firstRow, rows: rows,
            planes: (0..<format.planeCount).map { index in
                Plane(
                    base: UnsafeRawPointer(base + offsets[index]), stride: strides[index],
                    width: format.planeSize(index).width, height: format.planeRows(index, of: rows))
            })
    }
}

extension PictureFormat {
    /// Luma columns for each column of plane `index`.
    fileprivate func horizontalFactor(_ index: Int) -> Int {
        if index > 0, case .ycbcr(let subsampling) = layout { return subsampling.horizontal }
        return 1
    }

    /// The rows of plane `index` in a band of `rows` rows.
    func planeRows(_ index: Int, of rows: Int) -> Int {
        guard index > 0, case .ycbcr(let subsampling) = layout else { return rows }
        return (rows + subsampling.vertical - 1) / subsampling.vertical
    }
}
