import FoundationEssentials

/// JSON as this service writes it: keys sorted, slashes plain.
enum JSON {
    static func encode(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do { return Array(try encoder.encode(value)) } catch {
            preconditionFailure("strings, whole numbers and lists can be encoded: \(error)")
        }
    }
}
