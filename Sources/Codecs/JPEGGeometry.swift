package import Core

/// What a JPEG's frame header says, as far as it decides how the picture can be worked on and what memory that takes.
package struct JPEGGeometry: Sendable, Equatable {
    /// A component's sampling factors (T.81, B.2.2).
    package struct Component: Sendable, Equatable {
        package var horizontal: Int
        package var vertical: Int

        package init(horizontal: Int, vertical: Int) {
            self.horizontal = horizontal
            self.vertical = vertical
        }
    }

    package var size: PixelSize
    /// One to four components, factors 1…4.
    package var components: [Component]
    package var isProgressive: Bool
    /// Progressive, or components in scans of their own: decoding then holds all coefficients.
    package var hasMultipleScans: Bool

    package init(size: PixelSize, components: [Component], isProgressive: Bool, hasMultipleScans: Bool) {
        self.size = size
        self.components = components
        self.isProgressive = isProgressive
        self.hasMultipleScans = hasMultipleScans
    }

    var horizontalMax: Int { components.reduce(1) { max($0, $1.horizontal) } }
    var verticalMax: Int { components.reduce(1) { max($0, $1.vertical) } }

    /// The subsampling where it is one of those that planes can have: luma has the largest factors, chroma's are equal
    /// and divide them. Nil for grey, four components and uncommon factors.
    package var subsampling: ChromaSubsampling? {
        guard components.count == 3, components[1] == components[2] else { return nil }
        let luma = components[0]
        let chroma = components[1]
        guard luma.horizontal % chroma.horizontal == 0, luma.vertical % chroma.vertical == 0 else { return nil }
        return ChromaSubsampling(
            horizontal: luma.horizontal / chroma.horizontal, vertical: luma.vertical / chroma.vertical)
    }

    /// Blocks of a component across and down (T.81, A.1.1 and A.2).
    func blocks(of component: Component) -> PixelSize {
        PixelSize(
            width: (size.width * component.horizontal).dividedUp(by: 8 * horizontalMax),
            height: (size.height * component.vertical).dividedUp(by: 8 * verticalMax))
    }

    /// The samples that an MCU covers: a block for a single component, whatever its factors say (T.81, A.2.2).
    var mcuSize: PixelSize {
        components.count == 1
            ? PixelSize(width: 8, height: 8) : PixelSize(width: 8 * horizontalMax, height: 8 * verticalMax)
    }

    /// MCUs of an interleaved scan across and down.
    var interleavedMCUs: PixelSize {
        PixelSize(
            width: size.width.dividedUp(by: 8 * horizontalMax), height: size.height.dividedUp(by: 8 * verticalMax))
    }

    /// All coefficients in memory: 16 bits each, blocks filled up to whole MCUs.
    package var coefficientBytes: Int {
        let mcus = interleavedMCUs
        return components.reduce(0) { $0 + mcus.width * mcus.height * $1.horizontal * $1.vertical * 128 }
    }

    /// The shapes of one iMCU row as it is decoded: whole blocks.
    var bandShapes: [JPEGPlanes.Shape] { bandShapes(blockSides: components.map { _ in 8 }) }

    /// - Parameter blockSides: samples a side of each component's blocks.
    func bandShapes(blockSides: [Int]) -> [JPEGPlanes.Shape] {
        zip(components, blockSides).map { component, side in
            JPEGPlanes.Shape(bytesPerRow: blocks(of: component).width * side, rows: component.vertical * side)
        }
    }

    /// The subsampling of planes whose blocks have these sides.
    func subsampling(blockSides: [Int]) -> ChromaSubsampling? {
        guard subsampling != nil else { return nil }
        let luma = (components[0].horizontal * blockSides[0], components[0].vertical * blockSides[0])
        let chroma = (components[1].horizontal * blockSides[1], components[1].vertical * blockSides[1])
        return ChromaSubsampling(horizontal: luma.0 / chroma.0, vertical: luma.1 / chroma.1)
    }
}

extension Int {
    func dividedUp(by divisor: Int) -> Int { (self + divisor - 1) / divisor }
}
