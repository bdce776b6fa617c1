import CHEIF
import Core

/// A picture that was decoded at once, yielded in slices of its planes.
struct HEICWhole: ~Copyable {
    /// Every vertical subsampling divides it; small, so that what converters keep of a band stays small.
    private static let sliceRows = 64

    /// What holds the planes.
    private enum Owner: ~Copyable {
        case image(HEIFImage)
        case samples(JPEGPlanes)
    }

    private let owner: Owner
    private let planes: [Plane]
    let format: PictureFormat
    private let alpha: HEICAlpha?
    private var nextRow = 0

    /// Yields an image's own planes: nothing is copied.
    ///
    /// - Parameter alpha: how to lay the picture over white, or nil where it is opaque.
    init(_ image: consuming HEIFImage, planes: [Plane], format: PictureFormat, alpha: HEICAlpha?) {
        owner = .image(image)
        self.planes = planes
        self.format = format
        self.alpha = alpha
    }

    /// - Parameter samples: of all planes of `format`; rows and columns beyond it are not shown.
    init(_ samples: consuming JPEGPlanes, format: PictureFormat) {
        planes = (0..<format.planeCount).map { index in
            let size = format.planeSize(index)
            return samples.plane(index, width: size.width, height: size.height)
        }
        owner = .samples(samples)
        self.format = format
        alpha = nil
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
