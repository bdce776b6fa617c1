/// The header fields of a request, in their order; names in lower case, values without the blanks around them.
package struct HeaderFields: Sendable, Equatable {
    package struct Field: Sendable, Equatable {
        package let name: String
        package let value: String
    }

    package private(set) var fields: [Field] = []

    package init() {}

    /// The first value of a field.
    ///
    /// - Parameter name: in lower case.
    package subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

    /// All values of a field, one for each line of it.
    ///
    /// - Parameter name: in lower case.
    package func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// Adds a line of the head.
    ///
    /// - Throws: `.badRequest` where the name is no token (RFC 9110, section 5.6.2; libmicrohttpd 0.9.75 leaves a blank
    ///   before the colon in the name) or the value holds a control character (section 5.5).
    mutating func append(name: some Collection<UInt8>, value: some BidirectionalCollection<UInt8>) throws(HTTPProblem) {
        guard !name.isEmpty, name.allSatisfy(isTokenByte) else {
            throw .badRequest(reason: "the name of a header field holds a character that is not allowed there")
        }
        guard value.allSatisfy({ ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }) else {
            throw .badRequest(reason: "the value of a header field holds a control character")
        }
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        let end = value.lastIndex { !isBlank($0) }.map { value.index(after: $0) } ?? value.startIndex
        let trimmed = value[..<end].drop(while: isBlank)
        fields.append(
            Field(
                name: String(decoding: name, as: UTF8.self).lowercased(),
                value: String(decoding: trimmed, as: UTF8.self)))
    }
}

/// RFC 9110, section 5.6.2: `tchar`.
func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "a")...UInt8(ascii: "z"):
        true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
}
