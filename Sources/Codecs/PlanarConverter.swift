package import Core

/// Converts pixels on their way: matrix, range, depth, chroma subsampling and size, by zimg, in slices of rows.
///
/// Primaries and transfer are left as they are: what the colours look like is the ICC profile's matter. The result
/// is over the full range, with the matrix of BT.601 where it is YCbCr, as JFIF wants it (T.871, section 7).
///
/// zimg may walk a picture in columns, each from top to bottom, so it cannot be fed by rows that are gone afterwards.
/// Hence each slice is a picture of its own to it, with some rows more above and below than are taken from the result,
/// as many as its filters reach. Memory depends on the width alone.
package struct PlanarConverter<Source: BandSource & ~Copyable>: BandSource, ~Copyable {
    package let format: PictureFormat

    private var source: Source
    /// The source's format, its matrix resolved.
    private let sourceFormat: PictureFormat
    /// Columns of the source that become the picture.
    private let columns: Double
    /// Luma columns and rows in which both pictures' chroma grids repeat.
    private let grid: PixelSize
    private let window: PlanarWindow
    private var input: PlanarSlice
    private var output: PlanarSlice
    private var graph: PlanarGraph?
    private var graphShape: PlanarGraph.Shape?
    /// The source's latest band, and how many of its rows were taken.
    private var pending: Band?
    private var taken = 0
    private var nextRow = 0

    /// - Parameters:
    ///   - layout: grey for a grey source only.
    ///   - depth: 8…16 bits; where it is less than the source's the result is dithered.
    ///   - size: another size scales, by Lanczos' filter of three lobes.
    ///   - extent: what of the source's columns and rows, from the top left, is the picture that is scaled; the rest is
    ///     less than a sample. Nil for all.
    ///   - sliceRows: about how many rows of the source a band is made of, for tests: the result does not depend on it.
    /// - Throws: `unsupported` for numbers whose meaning zimg does not know (some codes of the matrix), `outOfMemory`.
    package static func converting(
        _ source: consuming Source, to layout: PlaneLayout, depth: Int = 8, size: PixelSize? = nil,
        extent: PlanarExtent? = nil, sliceRows: Int? = nil
    ) throws(CodecError) -> PlanarConverter {
        let sourceFormat = try resolved(source.format)
        var format = sourceFormat
        format.layout = layout
        format.depth = depth
        format.size = size ?? format.size
        format.colour.isFullRange = true
        format.colour.matrix = layout == .rgb ? 0 : ColourDescription.jfif.matrix
        guard layout != .grey || sourceFormat.layout == .grey else {
            throw CodecError(.unsupported, "a coloured picture to grey")
        }
        guard min(sourceFormat.size.width, sourceFormat.size.height, format.size.width, format.size.height) > 0 else {
            throw CodecError(.unsupported, "\(sourceFormat.size) to \(format.size)")
        }
        let chroma = (sourceFormat.subsampling(ofPlane: 1), format.subsampling(ofPlane: 1))
        let grid = PixelSize(
            width: max(chroma.0.horizontal, chroma.1.horizontal), height: max(chroma.0.vertical, chroma.1.vertical))
        let window = PlanarWindow(
            source: sourceFormat.size.height, target: format.size.height, grid: grid.height,
            extent: extent?.height, isScaled: sourceFormat.size != format.size, sourceRows: sliceRows)
        let input = try PlanarSlice.allocating(
            sourceFormat, paddedWidth: roundedUp(sourceFormat.size.width, to: grid.width),
            capacity: window.inputCapacity)
        let output = try PlanarSlice.allocating(
            format, paddedWidth: roundedUp(format.size.width, to: grid.width), capacity: window.outputCapacity)
        return PlanarConverter(
            source: source, sourceFormat: sourceFormat, format: format,
            columns: extent?.width ?? Double(sourceFormat.size.width), grid: grid, window: window, input: input,
            output: output)
    }

    private init(
        source: consuming Source, sourceFormat: PictureFormat, format: PictureFormat, columns: Double, grid: PixelSize,
        window: PlanarWindow, input: consuming PlanarSlice, output: consuming PlanarSlice
    ) {
        self.source = source
        self.sourceFormat = sourceFormat
        self.format = format
        self.columns = columns
        self.grid = grid
        self.window = window
        self.input = input
        self.output = output
    }

    /// - Throws: what the source throws; `truncated` where it ends early; `unsupported` or `outOfMemory` from zimg.
    package mutating func nextBand() throws(CodecError) -> Band? {
        guard nextRow < format.size.height else { return nil }
        let slice = window.slice(at: nextRow)
        input.discard(before: slice.firstSourceRow)
        try fill(until: slice.endSourceRow)
        try prepareGraph(for: slice)
        try graph?.process(input, into: output)
        let firstRow = nextRow
        nextRow += slice.rows
        return Band(
            firstRow: firstRow, rows: slice.rows, planes: output.planes(skipping: slice.skippedRows, rows: slice.rows))
    }

    /// Draws from the source until the slice holds the rows above `end`, those below the picture repeated from its
    /// last.
    private mutating func fill(until end: Int) throws(CodecError) {
        let height = sourceFormat.size.height
        while input.firstRow + input.rows < min(end, height) {
            let row = input.firstRow + input.rows
            guard let band = try currentBand(), band.firstRow + taken == row else {
                throw CodecError(.truncated, "the source has \(row) of \(height) rows")
            }
            let count = min(band.rows - taken, min(end, height) - row)
            input.append(band, skipping: taken, count: count)
            taken += count
        }
        input.pad(to: end - input.firstRow)
    }

    /// The band that holds the next row to be taken.
    private mutating func currentBand() throws(CodecError) -> Band? {
        if let band = pending, taken < band.rows { return band }
        pending = try source.nextBand()
        taken = 0
        return pending
    }

    /// Graphs are made for a number of rows: the first, the last and all slices between them need one each.
    private mutating func prepareGraph(for slice: PlanarWindow.Slice) throws(CodecError) {
        let source = PixelSize(width: roundedUp(sourceFormat.size.width, to: grid.width), height: input.rows)
        let target = PixelSize(width: roundedUp(format.size.width, to: grid.width), height: slice.targetRows)
        var shape = PlanarGraph.Shape(source: source, target: target, region: nil)
        if let part = slice.region {
            let scale = columns / Double(format.size.width)
            shape.region = .init(top: part.top, width: Double(target.width) * scale, height: part.height)
        }
        guard shape != graphShape else { return }
        graph = try PlanarGraph.building(from: sourceFormat, to: format, shape: shape)
        graphShape = shape
    }

    /// zimg refuses a matrix that says nothing. Such YCbCr is BT.601, as JFIF has it (T.871, section 7) and HEIF
    /// readers take it; and a matrix of identity says that the planes are not YCbCr at all.
    private static func resolved(_ format: PictureFormat) throws(CodecError) -> PictureFormat {
        var format = format
        guard case .ycbcr = format.layout else { return format }
        if format.colour.matrix == 2 { format.colour.matrix = ColourDescription.jfif.matrix }
        guard format.colour.matrix != 0 else { throw CodecError(.unsupported, "matrix 0 for planes that are not RGB") }
        return format
    }
}

/// Columns and rows of a picture that does not fill its last samples.
package struct PlanarExtent: Sendable, Equatable {
    package var width: Double
    package var height: Double

    package init(width: Double, height: Double) {
        self.width = width
        self.height = height
    }
}
