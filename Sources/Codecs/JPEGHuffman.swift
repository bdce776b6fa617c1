/// The Huffman tables of a JPEG (T.81, B.2.4.2), made for skipping: a look-up tells how many bits a code and the value
/// bits after it take together, and how far they advance in the block.
final class JPEGHuffmanTables {
    /// What one code does: 0 where there is no such code. Bits 0…4: the bits of code and value; from bit 5 on: of an AC code
    /// how many coefficients are passed over, of a DC code the bits of its value.
    typealias Step = UInt16

    /// More than a block has, however it is reached: an end of block.
    static let endOfBlock = 128

    /// Codes up to this length are looked up at once; longer ones are rare.
    static let shortBits = 10

    /// What the AC codes do that stand whole in the next `runBits` bits, about two of them; 0 where none does. Bits 0…4:
    /// their bits in all. Bits 5…12: the coefficients that they pass over. From bit 13 on: the same, with an end of block.
    typealias Run = UInt32

    static let runBits = 12

    /// One table in canonical form (T.81, C.2), for its long codes.
    private struct Canonical {
        /// The largest code of each length, -1 where there is none.
        var largest = [Int](repeating: -1, count: 17)
        /// Where the values of a length begin, less its first code.
        var offset = [Int](repeating: 0, count: 17)
        var steps: [Step] = []
        /// The bits of each code's value.
        var categories: [UInt8] = []
    }

    private let short: UnsafeMutablePointer<Step>
    /// The bits of the values, for those who read them.
    private let categories: UnsafeMutablePointer<UInt8>
    private let runs: UnsafeMutablePointer<Run>
    // By pointer: a stored property of a class would be watched at each access for another that overlaps it.
    private let canonical: UnsafeMutablePointer<Canonical?>

    init() {
        let count = 8 << Self.shortBits
        short = .allocate(capacity: count)
        short.initialize(repeating: 0, count: count)
        categories = .allocate(capacity: count)
        categories.initialize(repeating: 0, count: count)
        canonical = .allocate(capacity: 8)
        canonical.initialize(repeating: nil, count: 8)
        runs = .allocate(capacity: 4 << Self.runBits)
        runs.initialize(repeating: 0, count: 4 << Self.runBits)
    }

    deinit {
        short.deallocate()
        categories.deallocate()
        canonical.deinitialize(count: 8)
        canonical.deallocate()
        runs.deallocate()
    }

    func isDefined(_ index: Int) -> Bool { canonical[index] != nil }

    /// The look-up table of the short codes: `1 << shortBits` steps. Valid as long as the tables are.
    func shortSteps(_ index: Int) -> UnsafePointer<Step> { UnsafePointer(short + index << Self.shortBits) }

    /// Beside `shortSteps`: how many of a step's bits are the value's.
    func shortCategories(_ index: Int) -> UnsafePointer<UInt8> {
        UnsafePointer(categories + index << Self.shortBits)
    }

    /// The runs of AC table `index` (4…7): `1 << runBits`. Valid as long as the tables are.
    func runs(_ index: Int) -> UnsafePointer<Run> { UnsafePointer(runs + (index - 4) << Self.runBits) }

    /// What `values` yields for a code and its value: bits 0…4 their bits; from bit 5 on the coefficients passed over; from
    /// bit 16 on the value. 0 where they do not stand whole in the bits looked at.
    typealias Value = Int32

    /// The AC codes of table `index` (4…7) that stand with their values in the next `runBits` bits.
    func values(_ index: Int) -> [Value] {
        let (steps, categories) = (shortSteps(index), shortCategories(index))
        return (0..<(1 << Self.runBits)).map { bits in
            let place = bits >> (Self.runBits - Self.shortBits)
            let (step, category) = (steps[place], Int(categories[place]))
            let taken = Int(step & 31)
            guard step != 0, taken <= Self.runBits else { return 0 }
            let value = JPEGBits.value(UInt64(bits) << UInt64(64 - Self.runBits), after: taken - category, category)
            return Value(value) << 16 | Value(step)
        }
    }

    /// The step of a code longer than `shortBits`; `bits` begin with it. 0 where there is none.
    func longStep(_ index: Int, bits: UInt64) -> Step { longCode(index, bits: bits).step }

    /// The same with the bits of the value.
    func longCode(_ index: Int, bits: UInt64) -> (step: Step, category: UInt8) {
        guard let table = canonical[index] else { return (0, 0) }
        for length in (Self.shortBits + 1)...16 {
            let code = Int(bits >> UInt64(64 - length))
            if code <= table.largest[length] {
                let place = table.offset[length] + code
                return (table.steps[place], table.categories[place])
            }
        }
        return (0, 0)
    }

    /// Defines table `index` (0…3 for DC, 4…7 for AC).
    ///
    /// - Parameter definition: as in a DHT segment: 16 counts of codes by length, then as many values.
    /// - Throws: `corrupt` where the counts do not make a prefix code or a DC category is above 15.
    func define(_ index: Int, _ definition: UnsafeRawBufferPointer) throws(CodecError) {
        var table = Canonical()
        let steps = short + index << Self.shortBits
        steps.update(repeating: 0, count: 1 << Self.shortBits)
        var code = 0
        var next = 0
        let values = UnsafeRawBufferPointer(rebasing: definition[16...])
        for length in 1...16 {
            let count = Int(definition[length - 1])
            guard code + count <= 1 << length else { throw CodecError(.corrupt, "bogus Huffman table") }
            table.offset[length] = next - code
            for _ in 0..<count {
                let step = try Self.step(of: values[next], codeBits: length, isDC: index < 4)
                table.steps.append(step)
                table.categories.append(values[next] & 15)
                if length <= Self.shortBits {
                    let free = Self.shortBits - length
                    (steps + code << free).update(repeating: step, count: 1 << free)
                    (categories + index << Self.shortBits + code << free).update(
                        repeating: values[next] & 15, count: 1 << free)
                }
                next += 1
                code += 1
            }
            table.largest[length] = count > 0 ? code - 1 : -1
            code <<= 1
        }
        canonical[index] = table
        if index >= 4 { defineRuns(index) }
    }

    private func defineRuns(_ index: Int) {
        let steps = shortSteps(index)
        let table = runs + (index - 4) << Self.runBits
        for bits in 0..<(1 << Self.runBits) {
            var used = 0
            var passed = 0
            var end = 0
            while end == 0 {
                let rest = bits << used & (1 << Self.runBits - 1)
                let step = steps[rest >> (Self.runBits - Self.shortBits)]
                let taken = used + Int(step & 31)
                let advance = Int(step >> 5)
                guard step != 0, taken <= Self.runBits, advance == Self.endOfBlock || passed + advance < 64 else {
                    break
                }
                used = taken
                if advance == Self.endOfBlock { end = advance } else { passed += advance }
            }
            table[bits] = Run(used) | Run(passed) << 5 | Run(passed + end) << 13
        }
    }

    /// T.81, F.1.2.1 and F.1.2.2: a DC value is a category; an AC value is a run of zeros and a category.
    private static func step(of value: UInt8, codeBits: Int, isDC: Bool) throws(CodecError) -> Step {
        let category = Int(value & 15)
        if isDC && value > 15 { throw CodecError(.corrupt, "bogus Huffman table") }
        let run = Int(value >> 4)
        let advance = isDC ? category : category > 0 || run == 15 ? run + 1 : endOfBlock
        return Step(codeBits + category) | Step(advance) << 5
    }
}

/// Reads the bits of entropy-coded data: takes out stuffed zeros and stops at a marker (T.81, F.2.2.5).
struct JPEGBits {
    private let bytes: UnsafeRawBufferPointer
    /// The first byte that is not in `buffer`.
    private(set) var position: Int
    /// The next bits, from the top; zeros follow the last one.
    private(set) var buffer: UInt64 = 0
    /// How many of them are real. Below zero: more were taken than there are.
    private(set) var count = 0
    /// A marker or the end of the bytes stands at `position`.
    private var isAtEnd = false

    init(_ bytes: UnsafeRawBufferPointer, at position: Int) {
        self.bytes = bytes
        self.position = position
    }

    /// Goes on where another reader of the same data stood.
    init(_ bytes: UnsafeRawBufferPointer, at position: Int, buffer: UInt64, count: Int) {
        self.bytes = bytes
        self.position = position
        self.buffer = buffer
        self.count = count
    }

    /// Makes 32 bits available, unless the data ends before.
    @inline(__always) mutating func fill() {
        guard count < 32 else { return }
        guard position + 4 <= bytes.count else { return fillByByte() }
        let word = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self))
        // Whether any of the four bytes is FF: whether its complement is zero.
        guard (~word &- 0x0101_0101) & word & 0x8080_8080 == 0, !isAtEnd else { return fillByByte() }
        buffer |= UInt64(word) << UInt64(32 &- count)
        count &+= 32
        position &+= 4
    }

    @inline(never) private mutating func fillByByte() {
        while count <= 56, !isAtEnd {
            guard position < bytes.count else {
                isAtEnd = true
                return
            }
            let byte = bytes[position]
            if byte == 0xFF {
                // Fill bytes before a marker are more FFs (T.81, B.1.1.2).
                var next = position + 1
                while next < bytes.count, bytes[next] == 0xFF { next += 1 }
                guard next < bytes.count, bytes[next] == 0 else {
                    isAtEnd = true
                    return
                }
                position = next
            }
            position += 1
            buffer |= UInt64(byte) << UInt64(56 - count)
            count += 8
        }
    }

    /// The value of `category` bits that follow a code of `codeBits` bits (T.81, F.2.2.1, EXTEND).
    @inline(__always) static func value(_ bits: UInt64, after codeBits: Int, _ category: Int) -> Int {
        guard category > 0 else { return 0 }
        let rest = bits << UInt64(truncatingIfNeeded: codeBits)
        let value = Int(rest >> UInt64(truncatingIfNeeded: 64 &- category))
        return rest >> 63 == 1 ? value : value &- (1 << category) &+ 1
    }

    @inline(__always) mutating func drop(_ bits: Int) {
        buffer <<= UInt64(truncatingIfNeeded: bits)
        count &-= bits
    }

    /// What follows the last MCU of a scan or of a restart interval.
    struct End {
        /// Where the next marker stands, or the end of the bytes.
        var position: Int
        /// Bytes between the last MCU and that place.
        var strayBytes: Int
        /// Whether one of them is neither 00 nor FF: no padding, but data.
        var holdsData: Bool
    }

    /// Whole bytes that the last MCU left over are stray, and so is what stands before the next marker.
    var end: End {
        // Behind the last MCU's own byte, which is filled up with bits of any kind.
        var left = buffer << UInt64(count & 7)
        var holdsData = false
        for _ in 0..<(count / 8) {
            holdsData = holdsData || !Self.isPadding(UInt8(left >> 56))
            left <<= 8
        }
        let first = position
        var position = first
        while position < bytes.count {
            if bytes[position] == 0xFF {
                var next = position + 1
                while next < bytes.count, bytes[next] == 0xFF { next += 1 }
                guard next < bytes.count else { break }
                if bytes[next] != 0 {
                    return End(
                        position: next - 1, strayBytes: count / 8 + position - first, holdsData: holdsData)
                }
                position = next
            }
            holdsData = holdsData || !Self.isPadding(bytes[position])
            position += 1
        }
        return End(position: bytes.count, strayBytes: count / 8 + bytes.count - first, holdsData: holdsData)
    }

    private static func isPadding(_ byte: UInt8) -> Bool { byte == 0 || byte == 0xFF }

    /// What follows the last MCU of a scan. Padding there is odd and harmless; data that no MCU has taken tell that a code
    /// before them was read wrongly, or that the frame header states another size.
    ///
    /// - Throws: `corrupt` where data are left over.
    func finish() throws(CodecError) -> End {
        let end = end
        guard !end.holdsData else {
            throw CodecError(.corrupt, "\(end.strayBytes) bytes of data behind the last MCU")
        }
        return end
    }

    /// Where the data goes on behind the `number`th restart marker of the scan (T.81, B.2.1: counted modulo 8), which must
    /// follow at once.
    ///
    /// - Throws: `truncated` where the picture ends here, `corrupt` where another marker or anything else stands here.
    func restart(_ number: Int) throws(CodecError) -> Int {
        let end = end
        guard end.position < bytes.count else { throw CodecError(.truncated, "the data ends at RST\(number & 7)") }
        let marker = bytes[end.position + 1]
        guard marker == 0xD0 + UInt8(number & 7), end.strayBytes == 0 else {
            throw CodecError(
                marker == 0xD9 ? .truncated : .corrupt, "marker \(marker) where RST\(number & 7) belongs")
        }
        return end.position + 2
    }
}

/// Entropy-decodes the scans of a sequential Huffman-coded picture without keeping anything, so that nothing wrong goes
/// unnoticed: libjpeg-turbo's fast decoder takes an undefined code for a zero and a run past a block's end for its end.
struct JPEGHuffmanScan {
    /// The tables of one block of the MCU.
    struct Block {
        var component: Int
        var dc: Int
        var ac: Int
    }

    var blocks: [Block]
    var mcus: Int
    /// MCUs between restart markers, 0 for none.
    var restartInterval: Int
    /// Told where each MCU begins, where there is one.
    var index: JPEGScanIndex?

    /// - Parameter position: where the scan's data begins.
    /// - Throws: `truncated` where the data ends, or a marker comes, before the last MCU; `corrupt` where a code is
    ///   undefined, a block has more than 64 coefficients, a restart marker is missing or wrong, or data are left over.
    func prove(
        _ bytes: UnsafeRawBufferPointer, at position: Int, tables: borrowing JPEGHuffmanTables
    ) throws(CodecError) -> JPEGBits.End {
        var position = position
        var left = mcus
        var restarts = 0
        while true {
            let count = restartInterval > 0 ? min(left, restartInterval) : left
            var bits = JPEGBits(bytes, at: position)
            try decode(count, from: &bits, tables: tables, at: mcus - left)
            left -= count
            if left == 0 { return try bits.finish() }
            position = try bits.restart(restarts)
            restarts += 1
        }
    }

    private func decode(
        _ mcus: Int, from bits: inout JPEGBits, tables: borrowing JPEGHuffmanTables, at first: Int
    ) throws(CodecError) {
        var local = bits
        let looks = blocks.map { Look($0, tables) }
        var predictors: (Int, Int, Int) = (0, 0, 0)
        for mcu in first..<(first + mcus) {
            if let index { index.note(mcu, local, predictors) }
            // By index: iterating would retain the array for each MCU.
            for number in looks.indices {
                let look = looks[number]
                local.fill()
                if index != nil {
                    let difference = Self.difference(local.buffer, look, tables)
                    switch look.block.component {
                    case 0: predictors.0 &+= difference
                    case 1: predictors.1 &+= difference
                    default: predictors.2 &+= difference
                    }
                }
                try Self.decodeBlock(look, from: &local, tables: tables)
            }
        }
        bits = local
    }

    /// The DC difference that `bits` begin with (T.81, F.2.2.1); 0 where that is no code.
    @inline(__always)
    private static func difference(_ bits: UInt64, _ look: Look, _ tables: borrowing JPEGHuffmanTables) -> Int {
        var step = look.dc[Int(bits >> UInt64(64 - JPEGHuffmanTables.shortBits))]
        if step == 0 { step = tables.longStep(look.block.dc, bits: bits) }
        let category = Int(step >> 5)
        return JPEGBits.value(bits, after: Int(step & 31) - category, category)
    }

    /// What a block's codes are looked up in, found once for all blocks of its kind.
    private struct Look {
        let block: Block
        let dc: UnsafePointer<JPEGHuffmanTables.Step>
        let ac: UnsafePointer<JPEGHuffmanTables.Step>
        let runs: UnsafePointer<JPEGHuffmanTables.Run>

        init(_ block: Block, _ tables: borrowing JPEGHuffmanTables) {
            self.block = block
            dc = tables.shortSteps(block.dc)
            ac = tables.shortSteps(block.ac)
            runs = tables.runs(block.ac)
        }
    }

    /// - Parameter source: filled.
    @inline(__always)
    private static func decodeBlock(
        _ look: Look, from source: inout JPEGBits, tables: borrowing JPEGHuffmanTables
    ) throws(CodecError) {
        // In registers.
        var bits = source
        let shift = UInt64(64 - JPEGHuffmanTables.shortBits)
        let (dc, ac, runs) = (look.dc, look.ac, look.runs)
        var step = dc[Int(bits.buffer >> shift)]
        if step == 0 { step = tables.longStep(look.block.dc, bits: bits.buffer) }
        var isUndefined = step == 0
        bits.drop(Int(step & 31))
        var position = 1
        while position < 64 {
            bits.fill()
            let run = runs[Int(bits.buffer >> UInt64(64 - JPEGHuffmanTables.runBits))]
            // Where the block might end inside a run, its codes are taken one by one.
            if run != 0, position &+ Int(run >> 5 & 0xFF) < 64 {
                bits.drop(Int(run & 31))
                position &+= Int(run >> 13)
                continue
            }
            step = ac[Int(bits.buffer >> shift)]
            if step == 0 {
                step = tables.longStep(look.block.ac, bits: bits.buffer)
                if step == 0 {
                    isUndefined = true
                    break
                }
            }
            bits.drop(Int(step & 31))
            position &+= Int(step >> 5)
        }
        source = bits
        if bits.count < 0 { throw CodecError(.truncated, "premature end of entropy-coded data") }
        if isUndefined { throw CodecError(.corrupt, "undefined Huffman code") }
        if position > 64, position < JPEGHuffmanTables.endOfBlock {
            throw CodecError(.corrupt, "more than 64 coefficients in a block")
        }
    }
}
