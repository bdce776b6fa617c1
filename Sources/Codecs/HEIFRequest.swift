import Core

/// How the cells of a picture lie, as its grid item states it.
struct HEIFTiling: Equatable {
    let columns: Int
    let rows: Int
    let tile: PixelSize
    /// The picture as stored, before irot and imir.
    let size: PixelSize
}

/// What of a picture is to be decoded.
enum HEIFRegion: Equatable {
    /// Everything, in display orientation, cropped and turned by libheif.
    case shown
    /// Everything, as it is stored.
    case stored
    /// One cell of the grid, as it is stored: neither turned nor cropped.
    case tile(column: Int, row: Int)
}

/// In which planes a picture is to be given.
enum HEIFTarget {
    /// As they are coded.
    case source
    /// Converted to R, G and B of equal size.
    case rgb
}

/// Why a decoder gave no picture that may be used.
enum HEIFFailure: Error {
    /// This decoder does not take such pictures; another may.
    case refused(CodecError)
    /// No decoder would do better.
    case failed(CodecError)

    var error: CodecError {
        switch self {
        case .refused(let error), .failed(let error): error
        }
    }
}
