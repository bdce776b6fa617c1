import Core

extension ExifField {
    /// The value in the type that the standard gives the tag.
    ///
    /// - Returns: nil where it is empty, unknown, not exactly a value of that type, or a date that is not written as one.
    var encoded: (type: TIFFType, bytes: [UInt8])? {
        switch tag.form {
        case .text: encodedText.map { (.ascii, $0) }
        case .bytes: value.numberBytes.flatMap { $0.count == tag.count ? (.undefined, $0) : nil }
        case .version: nil
        case .short: integers(0...0xFFFF).map { (.short, $0.flatMap(BigEndian.short)) }
        case .long: integers(0...0xFFFF_FFFF).map { (.long, $0.flatMap(BigEndian.long)) }
        case .rational: fractions(0...0xFFFF_FFFF).map { (.rational, $0) }
        case .signedRational: fractions(-0x8000_0000...0x7FFF_FFFF).map { (.signedRational, $0) }
        }
    }

    /// As it is shown, so that it is known what is written. UTF-8 stands in ASCII's place, as phones do it: few readers
    /// know EXIF 3.0's own type.
    private var encodedText: [UInt8]? {
        guard let bytes = value.textBytes else { return nil }
        guard tag.name == "Copyright" else {
            let text = ExifText(bytes).text
            return text.isEmpty || !tag.textForm.allows(text.utf8) ? nil : Array(text.utf8) + [0]
        }
        let lines = ExifText.copyright(bytes).text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let editor = lines.last, !editor.isEmpty else { return nil }
        if lines.count == 1 { return Array(editor.utf8) + [0] }
        return (lines[0].isEmpty ? [0x20] : Array(lines[0].utf8)) + [0] + Array(editor.utf8) + [0]
    }

    private func integers(_ allowed: ClosedRange<Int>) -> [Int]? {
        guard case .integers(let values) = value, values.count == tag.count, values.allSatisfy(allowed.contains) else {
            return nil
        }
        return values
    }

    /// A fraction without a value is 0/0 among others, and not written alone.
    private func fractions(_ allowed: ClosedRange<Int>) -> [UInt8]? {
        let pairs: [Rational]
        switch value {
        case .rationals(let values): pairs = values
        case .integers(let values): pairs = values.map { Rational(numerator: $0, denominator: 1) }
        case .text, .undefined, .reals: return nil
        }
        guard pairs.count == tag.count, pairs.contains(where: { $0.denominator != 0 }) else { return nil }
        let parts = pairs.flatMap { [$0.numerator, $0.denominator] }
        guard parts.allSatisfy(allowed.contains) else { return nil }
        return pairs.flatMap {
            $0.denominator == 0
                ? [UInt8](repeating: 0, count: 8) : BigEndian.long($0.numerator) + BigEndian.long($0.denominator)
        }
    }
}
