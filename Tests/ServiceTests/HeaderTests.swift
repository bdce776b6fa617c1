import Posix
import Storage
import Testing

@testable import Service

/// Reading of Range and If-None-Match, against RFC 9110's own examples and borders.
@Suite struct HeaderTests {
    @Test(arguments: [
        // Section 14.1.2, of a representation of 10000 bytes.
        ("bytes=0-499", ByteRange.part(0..<500)), ("bytes=500-999", .part(500..<1000)),
        ("bytes=-500", .part(9500..<10000)), ("bytes=9500-", .part(9500..<10000)),
        ("bytes=0-0", .part(0..<1)), ("bytes=-1", .part(9999..<10000)),
        ("bytes=0-", .part(0..<10000)), ("bytes=9999-20000", .part(9999..<10000)), ("bytes=-20000", .part(0..<10000)),
        ("bytes= 0-9", .part(0..<10)), ("BYTES=0-9", .part(0..<10)),
        ("bytes=0-99999999999999999999999", .part(0..<10000)), ("bytes=-99999999999999999999999", .part(0..<10000)),
        ("bytes=10000-", .notSatisfiable), ("bytes=-0", .notSatisfiable),
        ("bytes=99999999999999999999999-", .notSatisfiable),
        ("bytes=500-499", .whole), ("bytes=", .whole), ("bytes=-", .whole), ("bytes", .whole), ("bytes=a-b", .whole),
        ("bytes=0-1,5-6", .whole), ("bytes=+1-2", .whole), ("bytes=0x1-2", .whole), ("items=0-1", .whole), ("", .whole),
        ("bytes=--1", .whole), ("bytes=1-2-3", .whole),
    ]) func readsRanges(header: String, expected: ByteRange) {
        #expect(ByteRange(header, count: 10_000) == expected)
    }

    @Test func readsRangesOfNothing() {
        #expect(ByteRange("bytes=0-", count: 0) == .notSatisfiable)
        #expect(ByteRange("bytes=-1", count: 0) == .notSatisfiable)
        #expect(ByteRange(nil, count: 0) == .whole)
    }

    @Test func matchesTags() throws {
        let tag = EntityTag(SHA256.digest(of: try SealedFile.holding([], name: "test")))
        #expect(tag.description == "\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"")
        for header in ["*", " * ", "\(tag)", "W/\(tag)", "\"x\",\(tag)", "\"x\" ,\t\(tag) , \"y\""] {
            #expect(tag.isMatched(by: header), "\(header)")
        }
        for header in ["", ",", "\"*\"", "\"x\"", "w/\(tag)", "\(tag)x", tag.description.uppercased()] {
            #expect(!tag.isMatched(by: header), "\(header)")
        }
    }
}
