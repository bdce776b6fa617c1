import CEXIF
package import Core

/// What the preparation of a picture needs to know of its EXIF block, and what the privacy receipt tells of it.
package struct ExifFacts: Sendable, Equatable {
    /// Orientation of IFD0, where it is 1…8. IFD1 describes the thumbnail and does not count.
    package var orientation: Orientation?
    /// ColorSpace "uncalibrated" with interoperability index R03: Adobe RGB (DCF 2.0, section 5.5).
    package var isAdobeRGB = false
    /// `exif`, and `gps`, `makernote`, `thumbnail` where the block holds them.
    package var found: Set<Removable> = [.exif]

    /// Reads a TIFF structure as it stands in an Exif APP1 segment after `Exif\0\0`, or in a HEIF Exif item.
    ///
    /// - Returns: nil where libexif finds no single entry in it.
    package init?(reading tiff: UnsafeRawBufferPointer) {
        guard let data = ExifData.loading(tiff) else { return nil }
        orientation = data.integer(EXIF_TAG_ORIENTATION, in: EXIF_IFD_0)
            .flatMap(UInt8.init(exactly:)).flatMap(Orientation.init(rawValue:))
        isAdobeRGB =
            data.integer(EXIF_TAG_COLOR_SPACE, in: EXIF_IFD_EXIF) == 65535
            && data.bytes(EXIF_TAG_INTEROPERABILITY_INDEX, in: EXIF_IFD_INTEROPERABILITY)?
                .starts(with: Array("R03".utf8)) == true
        if data.entryCount(in: EXIF_IFD_GPS) > 0 { found.insert(.gps) }
        if data.bytes(EXIF_TAG_MAKER_NOTE, in: EXIF_IFD_EXIF) != nil { found.insert(.makernote) }
        if data.hasThumbnail || data.entryCount(in: EXIF_IFD_1) > 0 { found.insert(.thumbnail) }
    }
}
