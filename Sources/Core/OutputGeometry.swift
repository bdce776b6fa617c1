/// The arithmetic of crops and sizes: exact integers, so that everybody can compute them.
package enum OutputGeometry {
    /// The part of an upright picture of `size` that `crop` takes.
    ///
    /// A ratio's binding side is the picture's own, the other is the nearest integer, at least 1; the offset is rounded
    /// down.
    ///
    /// - Returns: nil where a rectangle does not lie inside the picture.
    package static func rectangle(_ crop: Crop?, in size: PixelSize) -> PixelRectangle? {
        switch crop {
        case nil: return PixelRectangle(all: size)
        case .rectangle(let part):
            return part.x + part.width <= size.width && part.y + part.height <= size.height ? part : nil
        case .ratio(let width, let height):
            let isTooWide = size.width * height > size.height * width
            let part =
                isTooWide
                ? PixelSize(width: nearest(size.height * width, over: height), height: size.height)
                : PixelSize(width: size.width, height: nearest(size.width * height, over: width))
            return PixelRectangle(
                x: (size.width - part.width) / 2, y: (size.height - part.height) / 2, width: part.width,
                height: part.height)
        }
    }

    /// `size` shrunk to fit inside: the side that binds is exact, the other the nearest integer, at least 1.
    package static func fitting(_ size: PixelSize, maxWidth: Int?, maxHeight: Int?) -> PixelSize {
        let width = min(maxWidth ?? size.width, size.width)
        let height = min(maxHeight ?? size.height, size.height)
        guard width < size.width || height < size.height else { return size }
        let widthBinds = width * size.height <= height * size.width
        return widthBinds
            ? PixelSize(width: width, height: nearest(size.height * width, over: size.width))
            : PixelSize(width: nearest(size.width * height, over: size.height), height: height)
    }

    /// The nearest integer to a quotient, halves up, at least 1.
    private static func nearest(_ dividend: Int, over divisor: Int) -> Int {
        max(1, (2 * dividend + divisor) / (2 * divisor))
    }

    /// Whether DCT coefficients alone turn such a picture. Edges that come to lie at the left or the top must end on
    /// whole MCUs, since JPEG lets only the right and the bottom be incomplete (the rule of `jpegtran -perfect`).
    /// Subsampling that is not the same in both directions would come out in a form (4:4:0 from 4:2:2) that few readers
    /// expect.
    ///
    /// - Parameters:
    ///   - subsampling: nil for grey.
    ///   - mcu: what an MCU covers; more than `mcuSize` where sampling factors are larger than they need to be.
    package static func canTurnLosslessly(
        _ size: PixelSize, _ subsampling: ChromaSubsampling?, mcu: PixelSize, _ orientation: Orientation
    ) -> Bool {
        if orientation.swapsAxes, let subsampling, subsampling.horizontal != subsampling.vertical { return false }
        let isWidthWhole = size.width % mcu.width == 0
        let isHeightWhole = size.height % mcu.height == 0
        switch orientation {
        case .upright, .transposed: return true
        case .mirrored, .rotated270: return isWidthWhole
        case .flipped, .rotated90: return isHeightWhole
        case .rotated180, .transversed: return isWidthWhole && isHeightWhole
        }
    }

    /// The pixels that an MCU of an interleaved scan covers; a block for grey.
    package static func mcuSize(_ subsampling: ChromaSubsampling?) -> PixelSize {
        PixelSize(width: 8 * (subsampling?.horizontal ?? 1), height: 8 * (subsampling?.vertical ?? 1))
    }
}
