import Core

/// The rules of the segments that carry a picture's tables and scan headers: each holds exactly what its length says,
/// so that nothing else can hide in it.
enum JPEGTables {
    /// - Throws: `corrupt` for any segment that breaks its rules. Segments of other kinds pass.
    static func check(_ marker: JPEGMarker, payload: Range<Int>, of bytes: Span<UInt8>) throws(Failure) {
        let isLawful =
            switch marker {
            case .dqt: quantization(payload, of: bytes)
            case .dht: huffman(payload, of: bytes)
            case .dac: arithmetic(payload, of: bytes)
            case .dri, .dnl: payload.count == 2
            default: true
            }
        guard isLawful else { throw Failure(.corrupt, "JPEG: the segment \(marker.text) breaks its rules") }
    }

    /// T.81, section B.2.4.1: tables of 64 numbers of 1 or 2 bytes.
    private static func quantization(_ payload: Range<Int>, of bytes: Span<UInt8>) -> Bool {
        var position = payload.lowerBound
        while position < payload.upperBound {
            guard let head = bytes.byte(at: position), head >> 4 <= 1, head & 15 <= 3 else { return false }
            position += head >> 4 == 0 ? 65 : 129
        }
        return position == payload.upperBound && !payload.isEmpty
    }

    /// T.81, section B.2.4.2: for each table 16 counts of codes by length, then as many symbols.
    private static func huffman(_ payload: Range<Int>, of bytes: Span<UInt8>) -> Bool {
        var position = payload.lowerBound
        while position < payload.upperBound {
            guard payload.upperBound - position >= 17, let head = bytes.byte(at: position), head >> 4 <= 1,
                head & 15 <= 3
            else { return false }
            var symbols = 0
            for index in 1...16 { symbols += bytes.byte(at: position + index) ?? 0 }
            guard symbols <= 256 else { return false }
            position += 17 + symbols
        }
        return position == payload.upperBound && !payload.isEmpty
    }

    /// T.81, section B.2.4.3: pairs of a table's number and its conditioning.
    private static func arithmetic(_ payload: Range<Int>, of bytes: Span<UInt8>) -> Bool {
        guard payload.count.isMultiple(of: 2), !payload.isEmpty else { return false }
        for position in stride(from: payload.lowerBound, to: payload.upperBound, by: 2) {
            guard let head = bytes.byte(at: position), head >> 4 <= 1 else { return false }
        }
        return true
    }
}

/// A scan header (ITU-T T.81, section B.2.3).
struct JPEGScanHeader {
    /// Whether a sequential scan says of itself that it covers all coefficients whole, as it must. Some Samsung phones
    /// write other numbers; decoders pay no heed.
    let isRegular: Bool

    /// - Throws: `corrupt` where it has the wrong length, or names a component that the frame does not have.
    init(_ payload: Range<Int>, of bytes: Span<UInt8>, in frame: JPEGFrame) throws(Failure) {
        let at = payload.lowerBound
        guard let count = payload.isEmpty ? nil : bytes.byte(at: at), (1...4).contains(count),
            payload.count == 4 + 2 * count
        else { throw Failure(.corrupt, "JPEG: a scan header has the wrong length") }
        for index in 0..<count {
            guard let id = bytes.byte(at: at + 1 + 2 * index), frame.components.contains(where: { $0.id == id }) else {
                throw Failure(.corrupt, "JPEG: a scan names a component that the frame does not have")
            }
        }
        isRegular = frame.process == .progressive || bytes.matches([0, 63, 0], at: payload.upperBound - 3)
    }
}
