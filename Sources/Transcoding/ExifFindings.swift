import Container
import Core
import Metadata

/// What a photo's EXIF blocks say together: the first that can be read counts. XMP may say something else; it is only
/// looked at, so that the caller can be warned.
struct ExifFindings {
    private(set) var facts: ExifFacts?
    private(set) var found: Set<Removable> = []
    private(set) var warnings: Set<Warning> = []

    /// - Parameter isTurnStated: whether the container itself tells how the picture is turned.
    init(_ blocks: [Extents], xmp: XMPFindings, of photo: Photo, isTurnStated: Bool = false) {
        for block in blocks {
            let read = photo.joined(block).withUnsafeBytes { ExifFacts(reading: $0) }
            if let read {
                if facts == nil { facts = read }
                found.formUnion(read.found)
            } else {
                found.insert(.exif)
                warnings.insert(.exifDamaged)
            }
        }
        if blocks.count > 1 { warnings.insert(.exifRepeated) }
        if !isTurnStated, facts?.orientation == nil, xmp.orientation.map({ $0 != .upright }) == true {
            warnings.insert(.orientationInXMP)
        }
    }
}
