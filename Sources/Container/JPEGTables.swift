import Core

/// The tables that a JPEG has defined so far, and the rules of the segments that do: each holds exactly what its length
/// says, so that nothing else can hide in it.
struct JPEGTables {
    /// One bit a table: 0…3.
    private var quantization: UInt8 = 0
    /// One bit a table: 0…3 for DC, 4…7 for AC.
    private var huffman: UInt8 = 0

    /// - Throws: `corrupt` for any segment that breaks its rules. Segments of other kinds pass.
    mutating func take(_ marker: JPEGMarker, payload: Range<Int>, of bytes: Span<UInt8>) throws(Failure) {
        let isLawful =
            switch marker {
            case .dqt: takeQuantization(payload, of: bytes)
            case .dht: takeHuffman(payload, of: bytes)
            case .dac: JPEGTables.arithmetic(payload, of: bytes)
            case .dri, .dnl: payload.count == 2
            default: true
            }
        guard isLawful else { throw Failure(.corrupt, "JPEG: the segment \(marker.text) breaks its rules") }
    }

    /// Whether all tables are there that a scan names. Some decoders imply the usual ones, which others do not know.
    ///
    /// - Throws: `corrupt` where one is not.
    func check(_ scan: JPEGScanHeader, of frame: JPEGFrame) throws(Failure) {
        for part in scan.parts {
            let table = frame.components[part.component].quantizationTable
            guard frame.process == .lossless || quantization & 1 << UInt8(table) != 0 else {
                throw Failure(.corrupt, "JPEG: the quantization table \(table) is not defined")
            }
            for table in scan.huffmanTables(of: part, in: frame) where huffman & 1 << UInt8(table) == 0 {
                throw Failure(
                    .corrupt, "JPEG: the Huffman table \(table & 3) of class \(table >> 2) is not defined")
            }
        }
    }

    /// T.81, section B.2.4.1: tables of 64 numbers of 1 or 2 bytes.
    private mutating func takeQuantization(_ payload: Range<Int>, of bytes: Span<UInt8>) -> Bool {
        var position = payload.lowerBound
        while position < payload.upperBound {
            guard let head = bytes.byte(at: position), head >> 4 <= 1, head & 15 <= 3 else { return false }
            quantization |= 1 << UInt8(head & 15)
            position += head >> 4 == 0 ? 65 : 129
        }
        return position == payload.upperBound && !payload.isEmpty
    }

    /// T.81, section B.2.4.2: for each table 16 counts of codes by length, then as many symbols.
    private mutating func takeHuffman(_ payload: Range<Int>, of bytes: Span<UInt8>) -> Bool {
        var position = payload.lowerBound
        while position < payload.upperBound {
            guard payload.upperBound - position >= 17, let head = bytes.byte(at: position), head >> 4 <= 1,
                head & 15 <= 3
            else { return false }
            var symbols = 0
            for index in 1...16 { symbols += bytes.byte(at: position + index) ?? 0 }
            guard symbols <= 256 else { return false }
            huffman |= 1 << UInt8(4 * (head >> 4) + (head & 3))
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
