/// How much coarser than luma the two chroma planes of a YCbCr picture are.
package enum ChromaSubsampling: UInt8, Sendable, CaseIterable {
    case s444, s422, s420, s440, s411, s410, s441

    /// Luma columns per chroma column (the horizontal sampling factor of component 1 in JPEG).
    package var horizontal: Int {
        switch self {
        case .s444, .s440, .s441: 1
        case .s422, .s420: 2
        case .s411, .s410: 4
        }
    }

    /// Luma rows per chroma row (the vertical sampling factor of component 1 in JPEG).
    package var vertical: Int {
        switch self {
        case .s444, .s422, .s411: 1
        case .s420, .s440, .s410: 2
        case .s441: 4
        }
    }

    /// The subsampling with these factors, or nil where none is known.
    package init?(horizontal: Int, vertical: Int) {
        for candidate in ChromaSubsampling.allCases
        where candidate.horizontal == horizontal && candidate.vertical == vertical {
            self = candidate
            return
        }
        return nil
    }

    /// Columns and rows of a chroma plane of a picture of `size`.
    package func chromaSize(of size: PixelSize) -> PixelSize {
        PixelSize(
            width: (size.width + horizontal - 1) / horizontal, height: (size.height + vertical - 1) / vertical)
    }
}
