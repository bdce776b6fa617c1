/// Which rows of the source each slice of a converted picture needs. Only rows: the columns are always whole.
struct PlanarWindow {
    struct Slice {
        /// Rows of the source, on the grid; the last may lie below the picture.
        var firstSourceRow: Int
        var endSourceRow: Int
        /// Rows that the graph makes, on the grid.
        var targetRows: Int
        /// Of these, where the band begins, and how many it has.
        var skippedRows: Int
        var rows: Int
        /// Where the result lies within the source's rows, in fractions of a row; nil where rows correspond.
        var region: (top: Double, height: Double)?
    }

    /// Rows of the pictures.
    private let source: Int
    private let target: Int
    /// Rows of the source for each of the target's.
    private let ratio: Double
    /// Rows in which both chroma grids repeat; slices begin and end on its multiples.
    private let grid: Int
    private let isScaled: Bool
    /// Rows of a band.
    private let bandRows: Int
    /// Rows of the source beyond a band's own that the filters may reach, above and below.
    private let reach: Int

    /// Rows of the source that a slice takes at most, and rows that it makes.
    let inputCapacity: Int
    let outputCapacity: Int

    /// - Parameters:
    ///   - extent: what of the source's rows becomes the target, where it is not all.
    ///   - sourceRows: about how many rows of the source a band is made of, where not the usual number.
    init(source: Int, target: Int, grid: Int, extent: Double? = nil, isScaled: Bool, sourceRows: Int?) {
        self.source = source
        self.target = target
        self.grid = grid
        self.isScaled = isScaled
        ratio = (extent ?? Double(source)) / Double(target)
        // Slices that scale all lie differently between the rows, so each needs a graph of its own, which is dear.
        let sourceRows = sourceRows ?? (isScaled ? 512 : 64)
        // The pattern of dithering repeats in 16 rows of every plane: each slice begins with a new one.
        bandRows = min(roundedUp(max(Int(Double(sourceRows) / ratio), 1), to: 16 * grid), roundedUp(target, to: grid))
        if isScaled {
            // Lanczos' three lobes, wider where the picture shrinks, in rows of the coarser chroma; one for rounding.
            reach = (Int((3 * max(ratio, 1)).rounded(.up)) + 1) * grid
            inputCapacity = roundedUp(Int((Double(bandRows) * ratio).rounded(.up)), to: grid) + 2 * (reach + grid)
            outputCapacity = bandRows
        } else {
            // Chroma to luma's grid and back, each bilinear: two rows of chroma. Otherwise rows are alone.
            reach = grid > 1 ? 2 * grid : 0
            inputCapacity = bandRows + 2 * reach
            outputCapacity = inputCapacity
        }
    }

    /// The slice whose band begins with the target's `row`.
    func slice(at row: Int) -> Slice {
        // The first band is longer, so that the others' slices, which begin above their bands, begin on the pattern.
        let rows = min(row == 0 && !isScaled ? bandRows + reach : bandRows, target - row)
        let padded = roundedUp(rows, to: grid)
        let lowest = roundedUp(source, to: grid)
        guard isScaled else {
            let first = max(0, row - reach)
            let end = min(lowest, row + padded + reach)
            return Slice(
                firstSourceRow: first, endSourceRow: end, targetRows: end - first, skippedRows: row - first, rows: rows)
        }
        let top = Double(row) * ratio
        let bottom = Double(row + padded) * ratio
        let first = max(0, (Int(top) - reach) / grid * grid)
        let end = min(lowest, roundedUp(Int(bottom.rounded(.up)) + reach, to: grid))
        return Slice(
            firstSourceRow: first, endSourceRow: end, targetRows: padded, skippedRows: 0, rows: rows,
            region: (top: top - Double(first), height: bottom - top))
    }
}
