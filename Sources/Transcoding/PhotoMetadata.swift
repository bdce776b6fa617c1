import Container
import Core
import Metadata

/// What a photo tells of itself, and what becomes of it under a job's policy. XMP is only looked at, so that the caller
/// can be warned; nothing of it is used.
struct PhotoMetadata {
    private let reading: ExifReading
    private let policy: MetadataPolicy
    let warnings: Set<Warning>

    /// - Parameters:
    ///   - blocks: EXIF, in the order of the file.
    ///   - isTurnStated: whether the container itself tells how the picture is turned.
    init(
        _ blocks: [Extents], xmp: XMPFindings, of photo: Photo, policy: MetadataPolicy, isTurnStated: Bool = false
    ) {
        reading = ExifReading(blocks.lazy.map { photo.joined($0) })
        self.policy = policy
        var warnings = reading.warnings
        let block = reading.block
        if !isTurnStated, block?.facts.orientation == nil, xmp.orientation.map({ $0 != .upright }) == true {
            warnings.insert(.orientationInXMP)
        }
        if policy.exif != .strip {
            if block?.hasLatin1 == true { warnings.insert(.exifLatin1) }
            if xmp.hasDate, block?.capture.takenAt == nil { warnings.insert(.dateInXMP) }
        }
        self.warnings = warnings
    }

    /// As EXIF tells it, nil where it does not.
    var orientation: Orientation? { reading.block?.facts.orientation }

    var isAdobeRGB: Bool { reading.block?.facts.isAdobeRGB == true }

    var disclosure: Disclosure { reading.disclosed(by: policy) }

    /// The block to be written into a picture and what it keeps; nil where that is nothing.
    func kept(for picture: ExifBuilder.Picture) -> ExifBuilder.Result? {
        reading.block.flatMap { ExifBuilder.build($0, policy: policy, picture: picture) }
    }

    /// All that was found: by the container, which counts whole blocks of EXIF, and within these.
    func found(beside container: [Removable: Int]) -> [Removable: Int] {
        var found = container
        for (kind, bytes) in reading.foundBytes where kind != .exif { found.note(kind, bytes: bytes) }
        return found
    }
}
