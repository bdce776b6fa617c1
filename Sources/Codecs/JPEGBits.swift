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

    /// What follows the last MCU of a scan. Padding there is odd and harmless; data that no MCU has taken tell that a
    /// code before them was read wrongly, or that the frame header states another size.
    ///
    /// - Throws: `corrupt` where data are left over.
    func finish() throws(CodecError) -> End {
        let end = end
        guard !end.holdsData else {
            throw CodecError(.corrupt, "\(end.strayBytes) bytes of data behind the last MCU")
        }
        return end
    }

    /// Where the data goes on behind the `number`th restart marker of the scan (T.81, B.2.1: counted modulo 8), which
    /// must follow at once.
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
