/// A value of a tag as a caller reads it.
package enum ExifValue: Sendable, Equatable {
    case integer(Int)
    case number(Double)
    case text(String)
    case integers([Int])
    /// nil where a fraction's denominator is 0: unknown.
    case numbers([Double?])
}

/// What an EXIF block says, by the tag names of EXIF 3.0: rationals as numbers, texts as UTF-8, dates as written.
/// MakerNote, UserComment and other blobs are not in it, thumbnails neither, and nothing of GPS.
package struct ExifRecord: Sendable, Equatable {
    package struct Field: Sendable, Equatable {
        package let name: String
        package let value: ExifValue

        package init(name: String, value: ExifValue) {
            self.name = name
            self.value = value
        }
    }

    /// In the order of directories and tag numbers; an enumeration's `…_text` follows its number.
    package private(set) var fields: [Field]

    package init(fields: [Field] = []) { self.fields = fields }

    package subscript(_ name: String) -> ExifValue? { fields.first { $0.name == name }?.value }
}

extension ExifRecord {
    /// The value where it is of that kind; whole numbers are numbers too.
    package func text(_ name: String) -> String? {
        if case .text(let text) = self[name] { text } else { nil }
    }

    package func integer(_ name: String) -> Int? {
        switch self[name] {
        case .integer(let value): value
        case .number(let value): Int(exactly: value)
        default: nil
        }
    }

    package func number(_ name: String) -> Double? {
        switch self[name] {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    package func numbers(_ name: String) -> [Double?]? {
        switch self[name] {
        case .integer(let value): [Double(value)]
        case .number(let value): [value]
        case .integers(let values): values.map { Double($0) }
        case .numbers(let values): values
        case .text, nil: nil
        }
    }
}
