import Core

/// The top level of a HEIF file: its `meta` box, and what lies around the picture's data.
struct HEIFFile {
    let meta: Box
    /// What does not belong to the picture, in bytes.
    private(set) var found: [Removable: Int] = [:]

    /// C2PA's manifest store (C2PA 2.1, section A.5.1).
    private static let c2pa: [UInt8] = [
        0xD8, 0xFE, 0xC3, 0xD6, 0x1B, 0x0E, 0x48, 0x3C, 0x92, 0x97, 0x58, 0x28, 0x87, 0x7E, 0xC4, 0x81,
    ]

    /// - Throws: `corrupt` where there is no or more than one `meta` box, or no `ftyp` at the start; `truncated` where
    ///   a box runs past the end of the file.
    init(_ bytes: Span<UInt8>) throws(Failure) {
        var meta: Box?
        var position = 0
        while position < bytes.count {
            guard HEIFFile.isBox(at: position, of: bytes) else {
                guard meta != nil else { throw Failure(.corrupt, "HEIF: no box starts at byte \(position)") }
                found.note(.trailer, bytes: bytes.count - position)
                break
            }
            let box = try Box(at: position, within: bytes.count, of: bytes)
            guard position > 0 || box.type == "ftyp" else {
                throw Failure(.corrupt, "HEIF: the file does not start with the box 'ftyp'")
            }
            if box.type == "meta" {
                guard meta == nil else { throw Failure(.corrupt, "HEIF: a second box 'meta'") }
                meta = box
            }
            if let kind = HEIFFile.removable(box, bytes) { found.note(kind, bytes: box.range.count) }
            position = box.range.upperBound
        }
        guard let meta else { throw Failure(.corrupt, "HEIF: there is no box 'meta'") }
        self.meta = meta
    }

    /// Whether a box may start here, rather than bytes that someone appended. (A box that is cut counts as one.)
    private static func isBox(at position: Int, of bytes: Span<UInt8>) -> Bool {
        FourCC(at: position + 4, of: bytes)?.isPrintable ?? false
    }

    /// What a reader loses with this box, beside the picture.
    private static func removable(_ box: Box, _ bytes: Span<UInt8>) -> Removable? {
        switch box.type {
        case "ftyp", "meta", "mdat", "free", "skip", "wide": nil
        case "moov", "moof", "mpvd": .motionVideo
        case "sefd": .trailer
        case "uuid": bytes.range(box.payload, startsWith: c2pa) ? .c2pa : .unknownSegment
        default: .unknownSegment
        }
    }
}
