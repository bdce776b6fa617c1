import Core

/// Which part of a stored picture is shown, and how it is turned: what `clap`, `irot` and `imir` come to, whatever
/// their order (ISO/IEC 23008-12, section 6.5). Arithmetic only.
struct HEICPlacement: Equatable {
    /// In the picture as stored.
    private(set) var left = 0
    private(set) var top = 0
    private(set) var size: PixelSize
    /// Of the part.
    private(set) var orientation = Orientation.upright

    /// All of a picture of `size`, as it is stored.
    init(all size: PixelSize) { self.size = size }

    var displaySize: PixelSize { size.applying(orientation) }

    func turned(_ next: Orientation) -> HEICPlacement {
        var result = self
        result.orientation = orientation.followed(by: next)
        return result
    }

    /// With so many columns and rows taken away from the edges of what is shown so far; nil where nothing would be
    /// left, or more would be shown than there is.
    func cropped(left: Int, top: Int, right: Int, bottom: Int) -> HEICPlacement? {
        let display = displaySize
        guard min(left, top, right, bottom) >= 0, left + right < display.width, top + bottom < display.height else {
            return nil
        }
        var columns = orientation.reversesColumns ? (first: right, last: left) : (first: left, last: right)
        var rows = orientation.reversesRows ? (first: bottom, last: top) : (first: top, last: bottom)
        if orientation.swapsAxes { (columns, rows) = (rows, columns) }
        var result = self
        result.left += columns.first
        result.top += rows.first
        result.size.width -= columns.first + columns.last
        result.size.height -= rows.first + rows.last
        return result
    }
}

extension HEICPlacement {
    /// Copies the part that is shown to its place on the display, to be yielded from there.
    ///
    /// Where an edge of the part that comes to lie at the left or the top parts the luma samples of a chroma sample,
    /// the chroma is moved to the display's grid. (libheif upsamples it first, and gets the outermost line wrong.)
    ///
    /// - Parameters:
    ///   - planes: of the whole stored picture.
    ///   - stored: their format.
    /// - Throws: `outOfMemory`.
    func apply(to planes: [Plane], _ stored: PictureFormat) throws(CodecError) -> HEICWhole {
        guard let layout = stored.layout.turned(orientation) else {
            throw CodecError(.unsupported, "\(stored.layout) turned")
        }
        var format = stored
        format.size = displaySize
        format.layout = layout
        let parts = parts(of: planes, stored)
        let samples = try JPEGPlanes.allocating(
            parts.map { part in
                let size = PixelSize(width: part.width, height: part.height).applying(orientation)
                return JPEGPlanes.Shape(bytesPerRow: size.width * stored.bytesPerSample, rows: size.height)
            })
        for (index, part) in parts.enumerated() {
            SampleTurn.copy(
                part, bytesPerSample: stored.bytesPerSample, by: orientation, to: samples.address(of: index),
                targetStride: samples.shapes[index].stride)
            guard index > 0, case .ycbcr = layout else { continue }
            samples.shift(
                index, PixelSize(width: part.width, height: part.height).applying(orientation), shift(stored.layout),
                bytesPerSample: stored.bytesPerSample)
        }
        return HEICWhole(samples, format: format)
    }

    /// The samples of a picture's planes that cover the part that is shown; not turned.
    func parts(of planes: [Plane], _ stored: PictureFormat) -> [Plane] {
        planes.enumerated().map { index, plane in part(of: plane, index, stored) }
    }

    private func part(of plane: Plane, _ index: Int, _ stored: PictureFormat) -> Plane {
        let horizontal = index > 0 ? stored.layout.horizontalFactor : 1
        let vertical = index > 0 ? stored.layout.verticalFactor : 1
        let (column, row) = (left / horizontal, top / vertical)
        return Plane(
            base: plane.base + row * plane.stride + column * stored.bytesPerSample, stride: plane.stride,
            width: (left + size.width).dividedUp(by: horizontal) - column,
            height: (top + size.height).dividedUp(by: vertical) - row)
    }

    private func shift(_ layout: PlaneLayout) -> ChromaShift {
        /// How far the outermost chroma sample reaches over the edge that comes first on the display.
        func excess(_ start: Int, _ length: Int, _ factor: Int, _ isReversed: Bool) -> (part: Int, of: Int) {
            let end = start + length
            return (isReversed ? end.dividedUp(by: factor) * factor - end : start % factor, factor)
        }
        let swaps = orientation.swapsAxes
        let columns = excess(
            left, size.width, layout.horizontalFactor, swaps ? orientation.reversesRows : orientation.reversesColumns)
        let rows = excess(
            top, size.height, layout.verticalFactor, swaps ? orientation.reversesColumns : orientation.reversesRows)
        return ChromaShift(horizontal: swaps ? rows : columns, vertical: swaps ? columns : rows)
    }
}
