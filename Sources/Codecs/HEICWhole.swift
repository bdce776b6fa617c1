import CHEIF
import Core

/// A picture that was decoded at once, yielded in slices of its own planes: nothing is copied.
struct HEICWhole: ~Copyable {
    /// Every vertical subsampling divides it; small, so that what converters keep of a band stays small.
    private static let sliceRows = 64

    private let image: HEIFImage
    private let planes: [Plane]
    private let format: PictureFormat
    private let alpha: HEICAlpha?
    private var nextRow = 0

    /// - Parameter alpha: how to lay the picture over white, or nil where it is opaque.
    init(_ image: consuming HEIFImage, planes: [Plane], format: PictureFormat, alpha: HEICAlpha?) {
        self.image = image
        self.planes = planes
        self.format = format
        self.alpha = alpha
    }

    mutating func nextBand() -> Band? {
        guard nextRow < format.size.height else { return nil }
        let first = nextRow
        let rows = min(Self.sliceRows, format.size.height - first)
        nextRow += rows
        alpha?.flatten(rows: first..<first + rows)
        return Band(
            firstRow: first, rows: rows,
            planes: planes.enumerated().map { index, plane in
                Plane(
                    base: plane.base + format.planeRows(index, of: first) * plane.stride, stride: plane.stride,
                    width: plane.width, height: format.planeRows(index, of: rows))
            })
    }
}
