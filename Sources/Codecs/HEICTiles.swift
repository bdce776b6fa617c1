import CHEIF
import Core

/// Decodes a grid line by line: one display row of tiles at a time, in memory that follows the picture's width.
struct HEICTiles: ~Copyable {
    private let handle: HEIFHandle
    private let decoder: HEIFDecoder
    private let canvas: HEICCanvas
    /// Who decodes the tiles that need no libheif; nil where all do.
    private let crew: HEICTileCrew?
    private var crewDecoder: HEVCDecoder?
    /// The first tile of the first line: decoded at opening, to learn what the picture is.
    private var first: HEIFImage?
    private var nextLine = 0

    /// - Parameters:
    ///   - decoder: the one that reads such tiles.
    ///   - first: decoded by it.
    ///   - crew: of the same canvas; it is not given the first tile.
    init(
        _ handle: consuming HEIFHandle, decoder: HEIFDecoder, canvas: HEICCanvas, crew: HEICTileCrew?,
        first: consuming HEIFImage
    ) {
        self.handle = handle
        self.decoder = decoder
        self.canvas = canvas
        self.crew = crew
        self.first = consume first
    }

    deinit { crew?.stop() }

    /// - Throws: what is wrong with the first tile, in the display's order, that is not sound.
    mutating func nextBand() throws(CodecError) -> Band? {
        guard nextLine < canvas.grid.lineCount else { return nil }
        let index = nextLine
        nextLine += 1
        let line = canvas.grid.line(index)
        let left = crew?.finish(line: index, by: &crewDecoder) ?? line.cells.filter { canvas.shows($0, line) }
        if index == 0, canvas.shows(line.cells[0], line), let image = first.take() {
            try canvas.place(image, line.cells[0], line: 0)
        }
        for cell in left where index > 0 || cell != line.cells[0] {
            try canvas.place(try decode(cell), cell, line: index)
        }
        return canvas.band(line: index)
    }

    private func decode(_ cell: HEICGrid.Cell) throws(CodecError) -> HEIFImage {
        do throws(HEIFFailure) {
            return try handle.decode(.tile(column: cell.column, row: cell.row), by: decoder)
        } catch {
            // The first tile was taken, so this decoder reads the kind: the fault is in the data.
            let cause = error.error
            throw cause.kind == .unsupported ? CodecError(.corrupt, cause.message) : cause
        }
    }
}
