/// Width and height in pixels.
package struct PixelSize: Sendable, Hashable {
    package var width: Int
    package var height: Int

    package init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// The area, or nil where it does not fit an `Int`.
    package var pixels: Int? {
        let (area, overflow) = width.multipliedReportingOverflow(by: height)
        return overflow ? nil : area
    }

    package var transposed: PixelSize { PixelSize(width: height, height: width) }

    /// The size of the picture after `orientation` has been applied.
    package func applying(_ orientation: Orientation) -> PixelSize {
        orientation.swapsAxes ? transposed : self
    }
}

extension PixelSize: CustomStringConvertible {
    package var description: String { "\(width)x\(height)" }
}
