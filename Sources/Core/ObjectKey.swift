/// The name of a stored picture: `20261130T172233123Z-<26 characters of Crockford base32>.jpg`.
///
/// The upload's UTC time, then 128 random bits: sortable, unguessable, and silent about its owner. A value of this
/// type has passed the pattern, so it can stand in a path, a URL and an S3 key as it is.
package struct ObjectKey: Sendable, Hashable {
    package let text: String

    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
    private static let stampLength = 19
    private static let randomLength = 26
    private static let suffix = Array(".jpg".utf8)

    /// - Parameter random: 128 bits from the system's generator.
    package init(createdAt time: UTCTime, random: (high: UInt64, low: UInt64)) {
        var digits: [UInt8] = []
        digits.reserveCapacity(ObjectKey.randomLength)
        // 26 digits of 5 bits hold 130: the first digit carries the top 3 bits.
        for index in 0..<ObjectKey.randomLength {
            let shift = (ObjectKey.randomLength - 1 - index) * 5
            let value = ObjectKey.bits(random, at: shift)
            digits.append(ObjectKey.alphabet[Int(value & 31)])
        }
        text = time.basicFormat + "-" + String(decoding: digits, as: UTF8.self) + ".jpg"
    }

    private static func bits(_ value: (high: UInt64, low: UInt64), at shift: Int) -> UInt64 {
        switch shift {
        case 64...: value.high >> UInt64(shift - 64)
        case 0: value.low
        default: value.low >> UInt64(shift) | value.high << UInt64(64 - shift)
        }
    }

    /// The key with this text, or nil where it does not match the pattern to the last character.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        let stamp = ObjectKey.stampLength
        let end = stamp + 1 + ObjectKey.randomLength
        guard bytes.count == end + ObjectKey.suffix.count, bytes[stamp] == UInt8(ascii: "-"),
            Array(bytes[end...]) == ObjectKey.suffix,
            UTCTime.isBasicFormat(bytes[..<stamp]),
            bytes[(stamp + 1)..<end].allSatisfy(ObjectKey.alphabet.contains),
            bytes[stamp + 1] <= UInt8(ascii: "7")
        else { return nil }
        self.text = text
    }

    /// The folders the stores lay it out in: "2026/11/30".
    package var dateFolder: String {
        let bytes = Array(text.utf8)
        return [bytes[0..<4], bytes[4..<6], bytes[6..<8]]
            .map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/")
    }
}

extension ObjectKey: CustomStringConvertible {
    package var description: String { text }
}
