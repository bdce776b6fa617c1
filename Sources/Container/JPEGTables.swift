import Core

/// The tables and restart intervals that a JPEG has defined so far, which of them its scans have used, and the rules of
/// the segments that define them: each holds exactly what its length says, so that nothing else can hide in it.
struct JPEGTables {
    /// A segment DQT, DHT or DRI.
    private struct Segment {
        /// How many tables it defines.
        var defined = 0
        /// How many of them a scan has used before they were defined anew.
        var used = 0
    }

    /// A table as it is in force.
    private struct Definition {
        let segment: Int
        /// What the table is made of, without its head.
        let body: Range<Int>
        var isUsed = false
    }

    /// Where a definition stands in `inForce`.
    private enum Place {
        /// - Parameter table: 0…3.
        static func quantization(_ table: Int) -> Int { table }
        /// - Parameter table: 0…3 for DC, 4…7 for AC.
        static func huffman(_ table: Int) -> Int { 4 + table }
        static let restartInterval = 12
        static let count = 13
    }

    private var segments: [Segment] = []
    private var inForce = [Definition?](repeating: nil, count: Place.count)
    /// MCUs between restart markers; 0 for none.
    private(set) var restartInterval = 0
    /// The interval that is in force where intervals without use are left out.
    private var usedInterval = 0
    /// One bit a component: has had a scan.
    private var scanned: UInt8 = 0
    /// A table was defined anew before a scan used it.
    private(set) var hasReplacedUnused = false
    /// A scan uses a table that no encoder writes, or depends on an interval that is not its own.
    private(set) var hasOddUse = false

    /// A scan uses a quantization table with values of more than 8 bits.
    private(set) var hasWideQuantization = false

    /// The number of the latest segment that was taken, for `isUsed`.
    var latest: Int { segments.count - 1 }

    /// Whether a scan has used any table of a segment. To be asked after the last scan.
    func isUsed(_ segment: Int) -> Bool { segments.indices.contains(segment) && segments[segment].used > 0 }

    /// Segments that no scan uses aside, all that was defined was used, and as encoders do it.
    var isFreeOfSurplus: Bool { !hasOddUse && segments.allSatisfy { $0.used == 0 || $0.used == $0.defined } }

    /// All that was defined was used, and as encoders do it.
    var isFullyUsed: Bool { !hasOddUse && segments.allSatisfy { $0.used == $0.defined } }

    /// - Throws: `corrupt` for any segment that breaks its rules. Segments of other kinds pass.
    mutating func take(_ marker: JPEGMarker, payload: Range<Int>, of bytes: Span<UInt8>) throws(Failure) {
        let isLawful =
            switch marker {
            case .dqt: takeQuantization(payload, of: bytes)
            case .dht: takeHuffman(payload, of: bytes)
            case .dac: JPEGTables.arithmetic(payload, of: bytes)
            case .dri: takeRestartInterval(payload, of: bytes)
            case .dnl: payload.count == 2
            default: true
            }
        guard isLawful else { throw Failure(.corrupt, "JPEG: the segment \(marker.text) breaks its rules") }
    }

    /// T.81, section B.2.4.1: tables of 64 numbers of 1 or 2 bytes.
    private mutating func takeQuantization(_ payload: Range<Int>, of bytes: Span<UInt8>) -> Bool {
        segments.append(Segment())
        var position = payload.lowerBound
        while position < payload.upperBound {
            guard let head = bytes.byte(at: position), head >> 4 <= 1, head & 15 <= 3 else { return false }
            let end = position + (head >> 4 == 0 ? 65 : 129)
            define(Place.quantization(head & 3), (position + 1)..<end)
            position = end
        }
        return position == payload.upperBound && !payload.isEmpty
    }

    /// T.81, section B.2.4.2: for each table 16 counts of codes by length, then as many symbols.
    private mutating func takeHuffman(_ payload: Range<Int>, of bytes: Span<UInt8>) -> Bool {
        segments.append(Segment())
        var position = payload.lowerBound
        while position < payload.upperBound {
            guard payload.upperBound - position >= 17, let head = bytes.byte(at: position), head >> 4 <= 1,
                head & 15 <= 3
            else { return false }
            var symbols = 0
            for index in 1...16 { symbols += bytes.byte(at: position + index) ?? 0 }
            guard symbols <= 256 else { return false }
            let end = position + 17 + symbols
            define(Place.huffman(4 * (head >> 4) + (head & 3)), (position + 1)..<end)
            position = end
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

    /// T.81, section B.2.4.4.
    private mutating func takeRestartInterval(_ payload: Range<Int>, of bytes: Span<UInt8>) -> Bool {
        guard payload.count == 2, let interval = bytes.bigEndian16(at: payload.lowerBound) else { return false }
        segments.append(Segment())
        define(Place.restartInterval, payload)
        restartInterval = interval
        return true
    }

    private mutating func define(_ place: Int, _ body: Range<Int>) {
        if let old = inForce[place], !old.isUsed { hasReplacedUnused = true }
        inForce[place] = Definition(segment: latest, body: body)
        segments[latest].defined += 1
    }
}

// MARK: What a scan uses

extension JPEGTables {
    /// Notes what `scan` uses. Some decoders imply the usual tables where there are none, which others do not know.
    ///
    /// - Throws: `corrupt` where a table that it names is not defined.
    mutating func use(
        _ scan: JPEGScanHeader, of frame: JPEGFrame, in bytes: Span<UInt8>
    ) throws(Failure) {
        for part in scan.parts {
            let table = frame.components[part.component].quantizationTable
            let quantization = inForce[Place.quantization(table)]
            guard frame.process == .lossless || quantization != nil else {
                throw Failure(.corrupt, "JPEG: the quantization table \(table) is not defined")
            }
            // It holds for all scans of the component (T.81, section B.2.4.1): one that is defined between them is heard
            // by no decoder.
            let bit: UInt8 = 1 << UInt8(part.component)
            if scanned & bit == 0 {
                use(Place.quantization(table))
                if let quantization, JPEGTables.isWide(quantization.body, of: bytes) { hasWideQuantization = true }
            }
            scanned |= bit
            for table in scan.huffmanTables(of: part, in: frame) {
                guard let definition = inForce[Place.huffman(table)] else {
                    throw Failure(
                        .corrupt, "JPEG: the Huffman table \(table & 3) of class \(table >> 2) is not defined")
                }
                if !definition.isUsed, JPEGTables.repeatsSymbols(definition.body, of: bytes) { hasOddUse = true }
                use(Place.huffman(table))
            }
        }
        useRestartInterval(mcus: frame.mcus(of: scan))
    }

    /// - Parameter body: of a quantization table: 64 numbers of 1 or 2 bytes.
    private static func isWide(_ body: Range<Int>, of bytes: Span<UInt8>) -> Bool {
        body.count == 128 && stride(from: body.lowerBound, to: body.upperBound, by: 2).contains { bytes[$0] != 0 }
    }

    /// A second code for a symbol is of no use: no encoder makes one, but a text of codes would.
    private static func repeatsSymbols(_ body: Range<Int>, of bytes: Span<UInt8>) -> Bool {
        var seen = [Bool](repeating: false, count: 256)
        for position in body.dropFirst(16) {
            guard let symbol = bytes.byte(at: position), !seen[symbol] else { return true }
            seen[symbol] = true
        }
        return false
    }

    /// An interval that is no shorter than the scan is of no use: there is no marker by which to see it. None is of use
    /// where another would hold.
    private mutating func useRestartInterval(mcus: Int) {
        func isHeard(_ interval: Int) -> Bool { interval > 0 && interval < mcus }
        guard isHeard(restartInterval) || isHeard(usedInterval) else { return }
        if restartInterval > 0, !isHeard(restartInterval) { hasOddUse = true }
        use(Place.restartInterval)
        usedInterval = restartInterval
    }

    private mutating func use(_ place: Int) {
        guard let definition = inForce[place], !definition.isUsed else { return }
        inForce[place]?.isUsed = true
        segments[definition.segment].used += 1
    }
}
