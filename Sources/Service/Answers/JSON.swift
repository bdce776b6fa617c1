import FoundationEssentials

/// JSON as this service writes it: keys sorted, slashes plain.
enum JSON {
    static func encode(_ value: some Encodable) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do { return Array(try encoder.encode(value)) } catch {
            preconditionFailure("records hold texts, finite numbers and lists of them, which can be encoded: \(error)")
        }
    }
}
