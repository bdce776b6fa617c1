package import Core

/// What a photo's EXIF blocks say together: the first that tells anything counts.
package struct ExifReading: Sendable {
    package private(set) var block: ExifBlock?
    /// Of all blocks, in bytes.
    package private(set) var foundBytes: [Removable: Int] = [:]
    /// `exif_repeated`, `exif_damaged`
    package private(set) var warnings: Set<Warning> = []

    /// - Parameter blocks: TIFF structures, in the order of the file.
    package init(_ blocks: some Sequence<[UInt8]>) {
        var count = 0
        for bytes in blocks {
            count += 1
            guard let read = ExifBlock(reading: bytes) else {
                foundBytes[.exif, default: 0] += bytes.count
                warnings.insert(.exifDamaged)
                continue
            }
            foundBytes.merge(read.foundBytes, uniquingKeysWith: +)
            if read.isDamaged { warnings.insert(.exifDamaged) }
            if block?.isTelling != true, block == nil || read.isTelling { block = read }
        }
        if count > 1 { warnings.insert(.exifRepeated) }
    }

    /// What the answer may tell. Where the policy lets EXIF through and the photo has none it is there, and empty.
    package func disclosed(by policy: MetadataPolicy) -> Disclosure {
        var disclosure = Disclosure()
        disclosure.exif = block?.record ?? ExifRecord()
        disclosure.capture = block?.capture ?? Capture()
        disclosure.gpsStatus = block?.gpsStatus ?? GPSStatus.none
        disclosure.position = block?.position
        return disclosure.limited(by: policy)
    }
}
