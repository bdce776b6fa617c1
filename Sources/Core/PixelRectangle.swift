/// A part of a picture, in pixels from its top left.
package struct PixelRectangle: Sendable, Hashable {
    package var x: Int
    package var y: Int
    package var width: Int
    package var height: Int

    package init(x: Int, y: Int, width: Int, height: Int) {
        self.x = x
        self.y = y
        self.width = width
        self.height = height
    }

    /// All of a picture.
    package init(all size: PixelSize) {
        self.init(x: 0, y: 0, width: size.width, height: size.height)
    }

    package var size: PixelSize { PixelSize(width: width, height: height) }

    /// Whether all four edges lie on the lines of a grid, or on the right or bottom edge of a picture of `size`.
    package func isAligned(to grid: PixelSize, in size: PixelSize) -> Bool {
        x % grid.width == 0 && y % grid.height == 0 && (width % grid.width == 0 || x + width == size.width)
            && (height % grid.height == 0 || y + height == size.height)
    }

    /// This part with at least 8 more pixels on each side where the picture has them, out to lines of 16: what filters
    /// and chroma at its edges look at.
    package func widened(in size: PixelSize) -> PixelRectangle {
        let (left, top) = (max(0, x - 8) / 16 * 16, max(0, y - 8) / 16 * 16)
        let right = min(size.width, (x + width + 23) / 16 * 16)
        let bottom = min(size.height, (y + height + 23) / 16 * 16)
        return PixelRectangle(x: left, y: top, width: right - left, height: bottom - top)
    }

    package func intersects(_ other: PixelRectangle) -> Bool {
        x < other.x + other.width && other.x < x + width && y < other.y + other.height && other.y < y + height
    }

    /// Where this part of a picture of `size` lies once the whole has been treated by `orientation`.
    package func applying(_ orientation: Orientation, in size: PixelSize) -> PixelRectangle {
        let right = size.width - x - width
        let bottom = size.height - y - height
        let (left, top) =
            switch orientation {
            case .upright: (x, y)
            case .mirrored: (right, y)
            case .rotated180: (right, bottom)
            case .flipped: (x, bottom)
            case .transposed: (y, x)
            case .rotated90: (bottom, x)
            case .transversed: (bottom, right)
            case .rotated270: (y, right)
            }
        let turned = self.size.applying(orientation)
        return PixelRectangle(x: left, y: top, width: turned.width, height: turned.height)
    }
}
