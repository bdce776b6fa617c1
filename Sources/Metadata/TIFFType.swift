/// The types that an entry of a directory may have (TIFF 6.0, section 2; EXIF 3.0, section 4.6.2).
enum TIFFType: UInt16 {
    case byte = 1
    case ascii = 2
    case short = 3
    case long = 4
    case rational = 5
    case signedByte = 6
    case undefined = 7
    case signedShort = 8
    case signedLong = 9
    case signedRational = 10
    case float = 11
    case double = 12
    /// The offset of a directory (TIFF Technical Note 1).
    case directory = 13
    /// New in EXIF 3.0.
    case utf8 = 129

    /// Bytes of one element.
    var size: Int {
        switch self {
        case .byte, .ascii, .signedByte, .undefined, .utf8: 1
        case .short, .signedShort: 2
        case .long, .signedLong, .float, .directory: 4
        case .rational, .signedRational, .double: 8
        }
    }

    /// The same bytes under a type that libexif knows; it drops what it does not.
    var common: TIFFType {
        switch self {
        case .utf8: .ascii
        case .directory: .long
        default: self
        }
    }
}
