import Core

/// A piece of a JPEG file. The pieces follow each other without a gap.
enum JPEGPart: Equatable {
    /// A marker that stands alone.
    case bare(JPEGMarker)
    /// A marker with its length; `payload` is what follows the length.
    case segment(JPEGMarker, payload: Range<Int>)
    /// Entropy-coded data: the bytes FF in it are followed by 00 or are restart markers. With the markers of the scan so
    /// far, since fill bytes cut it into pieces.
    case scan(Range<Int>, JPEGRestarts)
    /// Bytes FF before a marker (T.81, section B.1.1.2 allows any number) or before a stuffed byte of a scan.
    case fill(Range<Int>)
    /// Bytes that belong to nothing.
    case stray(Range<Int>)
}

/// The restart markers of a scan.
struct JPEGRestarts: Equatable {
    private(set) var count = 0
    /// They are numbered as they should be (T.81, section B.2.1): modulo 8, from 0.
    private(set) var isOrdered = true

    mutating func note(_ marker: JPEGMarker) {
        if marker.rawValue & 7 != UInt8(count & 7) { isOrdered = false }
        count += 1
    }

    /// Whether they are what a scan of so many MCUs has. That they stand where they should is for decoders to prove.
    fileprivate func belong(toScanOf mcus: Int, interval: Int) -> Bool {
        isOrdered && count == (interval > 0 ? max(mcus - 1, 0) / interval : 0)
    }
}

/// Holds the restart markers of one scan after the other against the interval that is in force.
struct JPEGRestartCheck {
    private var restarts = JPEGRestarts()
    /// Of the scan that has begun and not ended yet.
    private var mcus: Int?

    var isInScan: Bool { mcus != nil }

    mutating func begin(mcus: Int) { self.mcus = mcus }

    /// - Parameter restarts: of the scan so far.
    mutating func note(_ restarts: JPEGRestarts) { self.restarts = restarts }

    /// Ends the scan, if there is one: at the next segment, before its interval holds.
    ///
    /// - Returns: whether its markers were what the interval asks for.
    mutating func end(interval: Int) -> Bool {
        guard let mcus else { return true }
        defer { self = JPEGRestartCheck() }
        return restarts.belong(toScanOf: mcus, interval: interval)
    }
}

/// Cuts a JPEG file into its pieces, from the first byte on. Each byte is looked at a fixed number of times at most.
///
/// It knows the grammar of markers and nothing of their order: that is for `JPEGStructure` and `OutputCheck`, which
/// both walk by it.
struct JPEGWalker {
    /// Where the next piece starts.
    private(set) var position = 0
    private var isInScan = false
    private var restarts = JPEGRestarts()

    /// - Returns: the next piece, or nil at the end of the file.
    /// - Throws: `corrupt` at a reserved marker or an impossible length, `truncated` where a segment is cut.
    mutating func next(in bytes: Span<UInt8>) throws(Failure) -> JPEGPart? {
        guard position < bytes.count else { return nil }
        let start = position
        if isInScan {
            let end = scanEnd(from: start, in: bytes)
            if end > start {
                position = end
                return .scan(start..<end, restarts)
            }
            // An FF stands here; what follows it says which kind.
            guard let code = bytes.byte(at: start + 1) else {
                position = bytes.count
                return .fill(start..<position)
            }
            if code == 0xFF { return fill(in: bytes) }
            isInScan = false
        }
        guard bytes[start] == 0xFF, let code = bytes.byte(at: start + 1), code != 0 else {
            position = JPEGWalker.strayEnd(from: start, in: bytes)
            return .stray(start..<position)
        }
        if code == 0xFF { return fill(in: bytes) }
        return try marker(JPEGMarker(rawValue: UInt8(code)), in: bytes)
    }

    private mutating func marker(_ marker: JPEGMarker, in bytes: Span<UInt8>) throws(Failure) -> JPEGPart {
        guard marker.isKnown else { throw Failure(.corrupt, "JPEG: the marker \(marker.text) has no place here") }
        let start = position
        if marker.isBare {
            position = start + 2
            return .bare(marker)
        }
        guard let length = bytes.bigEndian16(at: start + 2) else {
            throw Failure(.truncated, "JPEG: the file ends in the segment \(marker.text)")
        }
        guard length >= 2 else { throw Failure(.corrupt, "JPEG: the segment \(marker.text) has the length \(length)") }
        let end = start + 2 + length
        guard end <= bytes.count else {
            throw Failure(
                .truncated, "JPEG: the segment \(marker.text) ends at byte \(end); the file has \(bytes.count)")
        }
        position = end
        isInScan = marker == .sos
        restarts = JPEGRestarts()
        return .segment(marker, payload: (start + 4)..<end)
    }

    /// A run of FF, all but the last, which belongs to what follows.
    private mutating func fill(in bytes: Span<UInt8>) -> JPEGPart {
        let start = position
        while bytes.byte(at: position + 1) == 0xFF { position += 1 }
        return .fill(start..<position)
    }

    /// Where the scan's data that starts at `start` meets a marker, a fill byte or the end of the file.
    private mutating func scanEnd(from start: Int, in bytes: Span<UInt8>) -> Int {
        var position = start
        while let escape = bytes.firstIndex(of: 0xFF, in: position..<bytes.count) {
            guard let code = bytes.byte(at: escape + 1) else { return escape }
            if code != 0 {
                let marker = JPEGMarker(rawValue: UInt8(code))
                guard marker.isRestart else { return escape }
                restarts.note(marker)
            }
            position = escape + 2
        }
        return bytes.count
    }

    /// Where an FF stands next that is not followed by 00: what a reader takes for the next marker.
    private static func strayEnd(from start: Int, in bytes: Span<UInt8>) -> Int {
        var position = start
        while let escape = bytes.firstIndex(of: 0xFF, in: position..<bytes.count) {
            guard let code = bytes.byte(at: escape + 1) else { return bytes.count }
            if code != 0 { return escape }
            position = escape + 2
        }
        return bytes.count
    }
}
