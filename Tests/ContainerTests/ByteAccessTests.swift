import Support
import Testing

@testable import Container

@Suite struct ByteAccessTests {
    /// The 8-byte steps must agree with a plain loop for every place of the byte, of the range, and of near misses.
    @Test func findsAByteLikeAPlainLoop() {
        var random = SplitMix64(seed: 0x5AFE)
        for count in 0...41 {
            for _ in 0..<60 {
                let choice: [UInt8] = [0xFE, 0xFF, 0x00, 0x7F, 0x80]
                let bytes = (0..<count).map { _ in choice[Int.random(in: 0...4, using: &random)] }
                let low = Int.random(in: 0...count, using: &random)
                let high = Int.random(in: low...count, using: &random)
                for wanted: UInt8 in [0xFF, 0x00, 0x80] {
                    let plain = bytes[low..<high].firstIndex(of: wanted)
                    let found = bytes.span.firstIndex(of: wanted, in: low..<high)
                    #expect(found == plain, "\(bytes) \(low)..<\(high)")
                }
            }
        }
    }

    @Test(
        arguments: [
            ("abc", 0..<8, 3), ("abc", 4..<8, nil), ("abc", 0..<5, nil), ("ab", 6..<8, 6), ("abc", 0..<100, 3),
            ("", 0..<8, nil),
        ] as [(String, Range<Int>, Int?)])
    func findsAPatternOnlyWhole(pattern: String, range: Range<Int>, place: Int?) {
        let found = Array("aababcab".utf8).span.firstIndex(of: Array(pattern.utf8), in: range)
        #expect(found == place)
    }

    @Test func readsNothingPastTheEnd() {
        let bytes: [UInt8] = [1, 2, 3, 4, 5]
        let read = [3, 4, -1, Int.max].map { bytes.span.bigEndian16(at: $0) }
        #expect(read == [0x0405, nil, nil, nil])
        let wide = [1, 2, -1, Int.max].map { bytes.span.bigEndian32(at: $0) }
        #expect(wide == [0x0203_0405, nil, nil, nil])
        let single = [4, 5, -1].map { bytes.span.byte(at: $0) }
        #expect(single == [5, nil, nil])
        let matches = [3, 4, Int.max].map { bytes.span.matches([4, 5], at: $0) }
        #expect(matches == [true, false, false])
    }

    @Test func joinsExtents() {
        let bytes: [UInt8] = [0, 1, 2, 3, 4, 5, 6, 7]
        let extents = Extents([4..<6, 0..<3])
        #expect(extents.bytes(in: bytes.span) == [4, 5, 0, 1, 2])
        #expect(extents.byte(at: 2, in: bytes.span) == 0)
        #expect(extents.byte(at: 5, in: bytes.span) == nil)
        #expect(extents.bigEndian(3, at: 1, in: bytes.span) == 0x050001)
        #expect(extents.dropFirst(3).ranges == [1..<3])
        #expect(extents.dropFirst(9).ranges.isEmpty)
        #expect(Extents([6..<12]).bytes(in: bytes.span) == [6, 7])
    }
}
