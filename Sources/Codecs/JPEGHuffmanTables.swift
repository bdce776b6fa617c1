/// The Huffman tables of a JPEG (T.81, B.2.4.2), made for skipping: a look-up tells how many bits a code and the value
/// bits after it take together, and how far they advance in the block.
final class JPEGHuffmanTables {
    /// What one code does: 0 where there is no such code. Bits 0…4: the bits of code and value; from bit 5 on: of an AC
    /// code how many coefficients are passed over, of a DC code the bits of its value.
    typealias Step = UInt16

    /// More than a block has, however it is reached: an end of block.
    static let endOfBlock = 128

    /// Codes up to this length are looked up at once; longer ones are rare.
    static let shortBits = 10

    /// What the AC codes do that stand whole in the next `runBits` bits, about two of them; 0 where none does. Bits
    /// 0…4: their bits in all. Bits 5…12: the coefficients that they pass over. From bit 13 on: the same, with an end
    /// of block.
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

    /// What `values` yields for a code and its value: bits 0…4 their bits; from bit 5 on the coefficients passed over;
    /// from bit 16 on the value. 0 where they do not stand whole in the bits looked at.
    typealias Value = Int32

    /// The AC codes of table `index` (4…7) that stand with their values in the next `runBits` bits.
    func values(_ index: Int) -> [Value] {
        let (steps, categories) = (shortSteps(index), shortCategories(index))
        return (0..<(1 << Self.runBits)).map { bits in
            let place = bits >> (Self.runBits - Self.shortBits)
            let (step, category) = (steps[place], Int(categories[place]))
            let taken = Int(step & 31)
            // No picture of 8 bits has a wider one (T.81, table F.2); the slow way tells what is wrong with it.
            guard step != 0, taken <= Self.runBits, category <= 10 else { return 0 }
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
