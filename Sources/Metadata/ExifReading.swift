package import Core

/// What a photo's EXIF blocks say together: the first that tells anything counts.
package struct ExifReading: Sendable {
    package private(set) var block: ExifBlock?
    /// Of all blocks, in bytes.
    package private(set) var foundBytes: [Removable: Int] = [:]
    /// `exif_repeated`, `exif_damaged`
    package private(set) var warnings: Set<Warning> = []

    /// - Parameter blocks: TIFF structures, in the order of the file.
    package init(_ blocks: [[UInt8]]) {
        for bytes in blocks {
            guard let read = ExifBlock(reading: bytes) else {
                foundBytes[.exif, default: 0] += bytes.count
                warnings.insert(.exifDamaged)
                continue
            }
            foundBytes.merge(read.foundBytes, uniquingKeysWith: +)
            if read.isDamaged { warnings.insert(.exifDamaged) }
            if block?.isTelling != true, block == nil || read.isTelling { block = read }
        }
        if blocks.count > 1 { warnings.insert(.exifRepeated) }
    }
}
