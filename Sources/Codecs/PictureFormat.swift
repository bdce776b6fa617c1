package import Core

/// Which planes a picture has.
package enum PlaneLayout: Sendable, Equatable {
    /// One plane: luma.
    case grey
    /// Three planes: Y, Cb, Cr.
    case ycbcr(ChromaSubsampling)
    /// Three planes of equal size: R, G, B.
    case rgb
}

/// What a source's samples look like and mean.
package struct PictureFormat: Sendable, Equatable {
    /// In the orientation in which the source yields its bands.
    package var size: PixelSize
    package var layout: PlaneLayout
    /// Bits of a sample: 8 in one byte, 9…16 in two bytes (native order, low bits).
    package var depth: Int
    /// Matrix and range of the numbers, primaries and transfer of the light.
    package var colour: ColourDescription

    package init(size: PixelSize, layout: PlaneLayout, depth: Int, colour: ColourDescription) {
        self.size = size
        self.layout = layout
        self.depth = depth
        self.colour = colour
    }

    package var bytesPerSample: Int { depth > 8 ? 2 : 1 }

    /// The size of plane `index` of the whole picture.
    package func planeSize(_ index: Int) -> PixelSize {
        if index > 0, case .ycbcr(let subsampling) = layout { return subsampling.chromaSize(of: size) }
        return size
    }

    package var planeCount: Int { layout == .grey ? 1 : 3 }
}

/// One plane of a band: `height` rows of `width` samples, `stride` bytes apart. Borrowed from the source that yielded
/// it; valid until the source is asked for its next band.
package struct Plane {
    package let base: UnsafeRawPointer
    package let stride: Int
    package let width: Int
    package let height: Int

    package init(base: UnsafeRawPointer, stride: Int, width: Int, height: Int) {
        self.base = base
        self.stride = stride
        self.width = width
        self.height = height
    }
}

/// Some rows of a picture, all planes. Bands follow each other from the top without a gap; every band but the last has
/// a number of rows that the vertical chroma subsampling divides.
package struct Band {
    package let firstRow: Int
    package let rows: Int
    package let planes: [Plane]

    package init(firstRow: Int, rows: Int, planes: [Plane]) {
        self.firstRow = firstRow
        self.rows = rows
        self.planes = planes
    }
}

/// Where a picture's rows come from: a decoder, or a converter that draws from one.
package protocol BandSource: ~Copyable {
    var format: PictureFormat { get }

    /// The next band from the top, or nil after the last row.
    mutating func nextBand() throws(CodecError) -> Band?
}
