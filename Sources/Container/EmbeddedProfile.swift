/// The ICC profile of a file: which bytes of the file it is. Its content is not looked at.
package enum EmbeddedProfile: Sendable, Equatable {
    case absent
    case complete(Extents)
    /// Chunks are missing, repeated or disagree about their number. They have so many bytes.
    case damaged(byteCount: Int)

    package var byteCount: Int {
        switch self {
        case .absent: 0
        case .complete(let extents): extents.count
        case .damaged(let byteCount): byteCount
        }
    }
}

/// Puts the APP2 chunks of an ICC profile in their order (ICC.1:2022, annex B.4), as they come.
struct ICCChunks {
    /// Before a chunk's number and the number of chunks.
    static let signature = ascii("ICC_PROFILE\0")

    private var chunks: [Range<Int>?] = []
    private var isDamaged = false
    private var byteCount = 0

    /// - Parameter payload: of an APP2 segment that starts with `signature`.
    mutating func add(_ payload: Range<Int>, of bytes: Span<UInt8>) {
        byteCount += payload.count - ICCChunks.signature.count
        let at = payload.lowerBound + ICCChunks.signature.count
        guard payload.upperBound >= at + 2, let number = bytes.byte(at: at), let total = bytes.byte(at: at + 1),
            number >= 1, number <= total
        else {
            isDamaged = true
            return
        }
        if chunks.isEmpty { chunks = Array(repeating: nil, count: total) }
        guard chunks.count == total, chunks[number - 1] == nil else {
            isDamaged = true
            return
        }
        chunks[number - 1] = (at + 2)..<payload.upperBound
    }

    var profile: EmbeddedProfile {
        if isDamaged { return .damaged(byteCount: byteCount) }
        if chunks.isEmpty { return .absent }
        let present = chunks.compactMap(\.self)
        let extents = Extents(present)
        return present.count == chunks.count && extents.count > 0 ? .complete(extents) : .damaged(byteCount: byteCount)
    }
}
