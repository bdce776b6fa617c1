package import Core

/// The little that matters of a file's XMP packets, found by searching their bytes: they are removed, not read.
package struct XMPFindings: Sendable, Equatable {
    /// A position stands in them (`exif:GPSLatitude`).
    package private(set) var hasPosition = false
    /// `tiff:Orientation`, where it stands in them. It is not applied: no reader of pictures does.
    package private(set) var orientation: Orientation?
    /// They describe a gain map (Ultra HDR's `hdrgm`, Apple's `HDRGainMap`).
    private(set) var hasGainMap = false

    private static let position = ascii("GPSLatitude")
    private static let orientationName = ascii("tiff:Orientation")

    mutating func search(_ range: Range<Int>, of bytes: Span<UInt8>) {
        if bytes.contains(XMPFindings.position, in: range) { hasPosition = true }
        if GainMapMark.isPresent(in: range, of: bytes) { hasGainMap = true }
        if orientation == nil { orientation = XMPFindings.orientation(in: range, of: bytes) }
    }

    /// The value of `tiff:Orientation="6"` or `<tiff:Orientation>6</…>`.
    private static func orientation(in range: Range<Int>, of bytes: Span<UInt8>) -> Orientation? {
        guard let name = bytes.firstIndex(of: orientationName, in: range) else { return nil }
        let value = name + orientationName.count
        for position in value..<min(value + 8, range.upperBound) {
            guard let byte = bytes.byte(at: position) else { return nil }
            if let orientation = Orientation(rawValue: UInt8(truncatingIfNeeded: byte &- 0x30)) { return orientation }
            guard ascii("=\"'> \t\r\n").contains(UInt8(byte)) else { return nil }
        }
        return nil
    }
}

/// The marks by which a gain map's own metadata is known.
enum GainMapMark {
    private static let all = ["hdrgm:", "hdrgainmap", "HDRGainMap"].map(ascii)

    static func isPresent(in range: Range<Int>, of bytes: Span<UInt8>) -> Bool {
        all.contains { bytes.contains($0, in: range) }
    }
}
