/// Writes the fields of a message, little-endian, strings and lists with a length before them.
package struct ByteWriter {
    /// What has been written.
    package private(set) var bytes: [UInt8] = []

    /// Begins an empty message.
    package init() {}

    /// One byte.
    package mutating func write(_ value: UInt8) { bytes.append(value) }

    /// 8 bytes, in two's complement.
    package mutating func write(_ value: Int) {
        let bits = UInt64(bitPattern: Int64(value))
        for index in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: bits >> UInt64(8 * index))) }
    }

    /// The length in bytes, then UTF-8.
    package mutating func write(_ value: String) {
        write(value.utf8.count)
        bytes.append(contentsOf: value.utf8)
    }
}

/// Reads what `ByteWriter` wrote, from a sender that is not trusted: every read is bounded and may fail.
package struct ByteReader {
    /// The message is shorter than its fields, or a field is out of its range.
    package struct Malformed: Error, Equatable {
        package init() {}
    }

    private let bytes: [UInt8]
    private var position = 0

    /// Begins at the first of `bytes`.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// - Throws: where none is left.
    package mutating func readByte() throws(Malformed) -> UInt8 {
        guard position < bytes.count else { throw Malformed() }
        defer { position += 1 }
        return bytes[position]
    }

    /// Any number: its range is the caller's to check.
    ///
    /// - Throws: where fewer than 8 bytes are left.
    package mutating func readInt() throws(Malformed) -> Int {
        guard bytes.count - position >= 8 else { throw Malformed() }
        var value: UInt64 = 0
        for index in 0..<8 { value |= UInt64(bytes[position + index]) << UInt64(8 * index) }
        position += 8
        return Int(Int64(bitPattern: value))
    }

    /// - Throws: where fewer bytes are left than its length says, or they are no UTF-8.
    package mutating func readString() throws(Malformed) -> String {
        let count = try readInt()
        guard count >= 0, count <= bytes.count - position else { throw Malformed() }
        defer { position += count }
        guard let text = String(validating: bytes[position..<(position + count)], as: UTF8.self) else {
            throw Malformed()
        }
        return text
    }

    /// Throws where bytes are left over.
    package func finish() throws(Malformed) {
        guard position == bytes.count else { throw Malformed() }
    }
}
