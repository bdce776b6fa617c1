/// Reading foreign bytes: every access is bounded, and answers nil where the bytes end too early.
extension Span where Element == UInt8 {
    func byte(at offset: Int) -> Int? {
        offset >= 0 && offset < count ? Int(self[offset]) : nil
    }

    func bigEndian16(at offset: Int) -> Int? {
        guard offset >= 0, count - 2 >= offset else { return nil }
        return Int(self[offset]) << 8 | Int(self[offset + 1])
    }

    func bigEndian32(at offset: Int) -> Int? {
        guard offset >= 0, count - 4 >= offset else { return nil }
        return Int(self[offset]) << 24 | Int(self[offset + 1]) << 16 | Int(self[offset + 2]) << 8
            | Int(self[offset + 3])
    }

    func matches(_ pattern: [UInt8], at offset: Int) -> Bool {
        guard offset >= 0, count - pattern.count >= offset else { return false }
        for index in pattern.indices where self[offset + index] != pattern[index] { return false }
        return true
    }

    /// Whether the bytes of `range` begin with `pattern`.
    func range(_ range: Range<Int>, startsWith pattern: [UInt8]) -> Bool {
        range.count >= pattern.count && matches(pattern, at: range.lowerBound)
    }

    /// Where `byte` first stands in `range`, or nil. Linear; about the speed of the memory.
    ///
    /// `range` is clamped to the span, so that each 8-byte load below lies within it: `end <= count`, and a load at
    /// `position` is made only while `end - position >= 8`. Any bit pattern is a valid `UInt64`.
    func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int? {
        let end = Swift.min(range.upperBound, count)
        var position = Swift.max(range.lowerBound, 0)
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highs: UInt64 = 0x8080_8080_8080_8080
        let wanted = UInt64(byte) &* ones
        let raw = unsafe bytes
        while end - position >= 8 {
            let word = unsafe raw.unsafeLoadUnaligned(fromUncheckedByteOffset: position, as: UInt64.self)
            // A zero byte in `difference` is a hit; its borrow can only raise false hits above the lowest true one.
            let difference = UInt64(littleEndian: word) ^ wanted
            let hits = (difference &- ones) & ~difference & highs
            if hits != 0 { return position + hits.trailingZeroBitCount / 8 }
            position += 8
        }
        while position < end {
            if self[position] == byte { return position }
            position += 1
        }
        return nil
    }

    /// Where `pattern` first stands whole within `range`, or nil. At most `pattern.count` steps a byte.
    func firstIndex(of pattern: [UInt8], in range: Range<Int>) -> Int? {
        guard let first = pattern.first else { return nil }
        let end = Swift.min(range.upperBound, count)
        var position = Swift.max(range.lowerBound, 0)
        while end - position >= pattern.count {
            let lastStart = end - pattern.count
            guard let candidate = firstIndex(of: first, in: position..<(lastStart + 1)) else { return nil }
            if matches(pattern, at: candidate) { return candidate }
            position = candidate + 1
        }
        return nil
    }

    func contains(_ pattern: [UInt8], in range: Range<Int>) -> Bool {
        firstIndex(of: pattern, in: range) != nil
    }
}

/// The bytes of an ASCII text, for signatures.
func ascii(_ text: String) -> [UInt8] { Array(text.utf8) }
