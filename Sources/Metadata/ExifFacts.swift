package import Core

/// What the preparation of a picture needs to know of its EXIF block, and what the privacy receipt tells of it.
package struct ExifFacts: Sendable, Equatable {
    /// Orientation of IFD0, where it is 1…8. IFD1 describes the thumbnail and does not count.
    package var orientation: Orientation?
    /// ColorSpace "uncalibrated" with interoperability index R03: Adobe RGB (DCF 2.0, section 5.5).
    package var isAdobeRGB = false
    /// `exif`, and `gps`, `makernote`, `thumbnail` where the block holds them.
    package var found: Set<Removable> = [.exif]

    init(record: ExifRecord, found: Set<Removable>) {
        orientation = record.integer("Orientation").flatMap(UInt8.init(exactly:)).flatMap(Orientation.init(rawValue:))
        isAdobeRGB = record.integer("ColorSpace") == 65535 && record.text("InteroperabilityIndex") == "R03"
        self.found = found
    }
}
