/// Four characters that name a box, a brand, an item's type or a reference (ISO/IEC 14496-12, section 4.2).
struct FourCC: RawRepresentable, Sendable, Hashable {
    let rawValue: UInt32

    init(rawValue: UInt32) { self.rawValue = rawValue }

    init?(at offset: Int, of bytes: Span<UInt8>) {
        guard let value = bytes.bigEndian32(at: offset) else { return nil }
        rawValue = UInt32(truncatingIfNeeded: value)
    }

    private var characters: [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: rawValue >> UInt32($0)) }
    }

    /// The characters, what does not print shown as `?`: fit for a message.
    var text: String {
        String(decoding: characters.map { (0x20..<0x7F).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }

    var isPrintable: Bool { characters.allSatisfy { (0x20..<0x7F).contains($0) } }
}

extension FourCC: ExpressibleByStringLiteral {
    init(stringLiteral text: String) {
        precondition(text.utf8.count == 4, "four characters")
        rawValue = text.utf8.reduce(0) { $0 << 8 | UInt32($1) }
    }
}
