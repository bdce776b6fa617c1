import Core

extension ExifRecord {
    /// What came of reading fields.
    struct Reading {
        private(set) var record: ExifRecord
        /// A text was no UTF-8.
        private(set) var hasLatin1 = false
        /// A value cannot be what the standard says its tag is.
        private(set) var isDamaged = false

        init(_ fields: [ExifField]) {
            var read: [Field] = []
            var hasLatin1 = false
            for field in fields {
                switch ExifRecord.value(of: field, &hasLatin1) {
                case .value(let value):
                    read.append(Field(name: field.tag.name, value: value))
                    if let words = ExifWords.text(for: field.tag.name, value) {
                        read.append(Field(name: field.tag.name + "_text", value: .text(words)))
                    }
                case .nothing: break
                case .unreadable: isDamaged = true
                }
            }
            record = ExifRecord(fields: read)
            self.hasLatin1 = hasLatin1
        }
    }

    private enum Outcome {
        case value(ExifValue)
        /// An empty text, or an unknown number.
        case nothing
        case unreadable

        init(_ value: ExifValue?) { self = value.map(Outcome.value) ?? .nothing }
    }

    private static func value(of field: ExifField, _ hasLatin1: inout Bool) -> Outcome {
        switch field.tag.form {
        case .text, .version:
            guard let bytes = field.value.textBytes else { return .unreadable }
            let (text, isLatin1) = decoded(bytes, isCopyright: field.tag.name == "Copyright")
            if isLatin1 { hasLatin1 = true }
            return text.isEmpty ? .nothing : .value(.text(text))
        case .bytes:
            guard let bytes = field.value.numberBytes else { return .unreadable }
            return .value(bytes.count == 1 ? .integer(Int(bytes[0])) : .integers(bytes.map { Int($0) }))
        case .short, .long, .rational, .signedRational:
            // All ones stands for infinity (EXIF 3.0, section 4.6.6.7.9).
            if field.tag.name == "SubjectDistance", case .rationals(let pairs) = field.value,
                pairs.first?.numerator == 0xFFFF_FFFF
            {
                return .nothing
            }
            return numeric(field.value)
        }
    }

    private static func decoded(_ bytes: [UInt8], isCopyright: Bool) -> (String, Bool) {
        if isCopyright { return ExifText.copyright(bytes) }
        let text = ExifText(bytes)
        return (text.text, text.isLatin1)
    }

    private static func numeric(_ value: TIFFValue) -> Outcome {
        if case .integers(let values) = value {
            return .value(values.count == 1 ? .integer(values[0]) : .integers(values))
        }
        guard let numbers = value.numbers else { return .unreadable }
        if numbers.count == 1 { return Outcome(numbers[0].map(ExifValue.number)) }
        return numbers.allSatisfy { $0 == nil } ? .nothing : .value(.numbers(numbers))
    }
}
