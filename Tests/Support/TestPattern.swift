package import Core

/// A picture by arithmetic: smooth, coloured, and different in every orientation, so that a turned or mirrored copy
/// cannot pass for the original.
package struct TestPattern: Sendable {
    package let size: PixelSize

    package init(_ width: Int, _ height: Int) { size = PixelSize(width: width, height: height) }

    /// Red grows to the right, green grows downwards, blue is high in the top left quarter only.
    package func rgb(x: Int, y: Int) -> (r: UInt8, g: UInt8, b: UInt8) {
        let right = size.width > 1 ? Double(x) / Double(size.width - 1) : 0
        let down = size.height > 1 ? Double(y) / Double(size.height - 1) : 0
        let corner = max(0, 1 - 2 * right) * max(0, 1 - 2 * down)
        return (UInt8(32 + 192 * right), UInt8(32 + 192 * down), UInt8(32 + 192 * corner))
    }

    /// Interleaved RGB, 3 bytes a pixel, rows from the top.
    package var rgbBytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size.width * size.height * 3)
        for y in 0..<size.height {
            for x in 0..<size.width {
                let (r, g, b) = rgb(x: x, y: y)
                bytes += [r, g, b]
            }
        }
        return bytes
    }
}
