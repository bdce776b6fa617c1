package import Core

/// One EXIF block, parsed once: what the preparation of a picture needs to know, what a caller may read, and what may
/// be written again.
package struct ExifBlock: Sendable {
    package let facts: ExifFacts
    /// The classes of `facts.found`, in bytes of the source. A whole block counts as `exif`, what is in it too.
    package let foundBytes: [Removable: Int]
    /// Without GPS.
    package let record: ExifRecord
    package let capture: Capture
    package let gpsStatus: GPSStatus
    package let position: Position?
    /// Some of the block could not be read; what could is here.
    package let isDamaged: Bool
    /// A text was no UTF-8 and was read as Latin-1.
    package let hasLatin1: Bool

    /// Whether it tells anything that is read here.
    package var isTelling: Bool { !fields.isEmpty }

    /// What `ExifBuilder` writes from.
    let fields: [ExifField]
    let gps: ExifRecord

    /// Reads a TIFF structure as it stands in an Exif APP1 segment after `Exif\0\0`, or in a HEIF Exif item; of any
    /// length.
    ///
    /// - Returns: nil where there is no TIFF header, or no single entry.
    package init?(reading tiff: [UInt8]) {
        guard let walk = TIFFWalk(tiff) else { return nil }
        let data = ExifData.loading(CompactBlock(walk))
        let keys = walk.entries.keys.sorted()
        let fields: [ExifField] = keys.compactMap { key in
            guard let tag = StandardTag.all[key], let value = data.value(key) else { return nil }
            return ExifField(tag: tag, value: value)
        }
        let exif = ExifRecord.Reading(fields.filter { $0.tag.key.directory != .gps })
        let gps = ExifRecord.Reading(fields.filter { $0.tag.key.directory == .gps })
        self.fields = fields
        self.gps = gps.record
        record = exif.record
        capture = Capture(exif.record)
        let places = [0x02, 0x04].map { StandardTag.Key(directory: .gps, number: $0) }
        (gpsStatus, position) = Position.reading(
            gps.record, isStated: places.contains { walk.entries[$0] != nil })
        isDamaged = walk.isDamaged || exif.isDamaged || gps.isDamaged || fields.count < keys.count
        hasLatin1 = exif.hasLatin1
        foundBytes = walk.found
        facts = ExifFacts(record: exif.record, found: Set(walk.found.keys))
    }
}
