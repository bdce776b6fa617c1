package import Core

/// The little that matters of a file's XMP packets, found by searching their bytes: they are removed, not read.
package struct XMPFindings: Sendable, Equatable {
    /// `tiff:Orientation`, where it stands in them. It is not applied: no reader of pictures does.
    package private(set) var orientation: Orientation?
    /// They tell when the photo was taken. That is not used either.
    package private(set) var hasDate = false

    private static let position = ascii("GPSLatitude")
    private static let orientationName = ascii("tiff:Orientation")

    private static let dates = ["exif:DateTimeOriginal", "photoshop:DateCreated", "xmp:CreateDate"].map(ascii)

    /// - Returns: what the packet in `range` tells beside: a position (`exif:GPSLatitude`), a gain map (Ultra HDR's
    ///   `hdrgm`, Apple's `HDRGainMap`).
    mutating func search(_ range: Range<Int>, of bytes: Span<UInt8>) -> [Removable] {
        if orientation == nil { orientation = XMPFindings.orientation(in: range, of: bytes) }
        if !hasDate { hasDate = XMPFindings.dates.contains { bytes.contains($0, in: range) } }
        var told: [Removable] = []
        if bytes.contains(XMPFindings.position, in: range) { told.append(.xmpGPS) }
        if GainMapMark.isPresent(in: range, of: bytes) { told.append(.gainMap) }
        return told
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
