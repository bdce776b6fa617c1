import Core

/// What a HEVC decoder is told of the samples before it sees any (ISO/IEC 14496-15, section 8.3.3.1).
package struct HEVCFormat: Sendable, Hashable {
    /// 0 monochrome, 1 4:2:0, 2 4:2:2, 3 4:4:4.
    package let chromaFormat: Int
    package let lumaDepth: Int
    package let chromaDepth: Int
}

/// A property of an item: a box in `ipco` (ISO/IEC 23008-12, section 6.5).
enum HEIFProperty {
    case size(PixelSize)
    case rotation(Orientation)
    case mirror(Orientation)
    case cleanAperture(CleanAperture)
    case colour(ColourDescription)
    case profile(Range<Int>)
    case hevc(HEVCConfiguration)
    case auxiliaryType(String)
    case other

    /// - Throws: `corrupt` where the box is shorter than its fields or breaks a rule that matters here.
    init(_ box: Box, of bytes: Span<UInt8>) throws(Failure) {
        var reader = BoxReader(box)
        switch box.type {
        case "ispe":
            _ = try reader.version(bytes)
            self = .size(PixelSize(width: try reader.int(4, bytes), height: try reader.int(4, bytes)))
        case "irot": self = .rotation(Orientation(irot: UInt8(try reader.int(1, bytes))))
        case "imir": self = .mirror(Orientation(imir: UInt8(try reader.int(1, bytes))))
        case "clap": self = .cleanAperture(try CleanAperture(&reader, bytes))
        case "colr": self = try HEIFProperty.colour(&reader, bytes)
        case "pixi":
            // The depths stand in the coding, too, which is what counts; a box cut short is refused all the same.
            _ = try reader.version(bytes)
            for _ in 0..<(try reader.int(1, bytes)) { _ = try reader.int(1, bytes) }
            self = .other
        case "hvcC": self = .hevc(try HEVCConfiguration(box, of: bytes))
        case "auxC":
            _ = try reader.version(bytes)
            self = .auxiliaryType(try reader.text(bytes))
        default: self = .other
        }
    }

    /// ISO/IEC 14496-12, section 12.1.5.
    private static func colour(_ reader: inout BoxReader, _ bytes: Span<UInt8>) throws(Failure) -> HEIFProperty {
        switch try reader.fourCC(bytes) {
        case "nclx":
            return .colour(
                ColourDescription(
                    primaries: UInt16(try reader.int(2, bytes)), transfer: UInt16(try reader.int(2, bytes)),
                    matrix: UInt16(try reader.int(2, bytes)), isFullRange: try reader.int(1, bytes) & 0x80 != 0))
        case "prof", "rICC": return reader.isAtEnd ? .other : .profile(reader.rest)
        default: return .other
        }
    }
}
