/// A text of an EXIF block as it is shown: UTF-8, trimmed, without control characters.
struct ExifText {
    let text: String
    /// The bytes were no UTF-8 and were read as Latin-1, which every byte is.
    let isLatin1: Bool

    /// - Parameters:
    ///   - bytes: up to the first NUL they count; padding and what other programs left behind it do not.
    ///   - bytesMax: the text's UTF-8 is cut to it, at the border of a character.
    init(_ bytes: some Collection<UInt8>, bytesMax: Int = StandardTag.textBytesMax) {
        var held = Array(bytes.prefix { $0 != 0 })
        if held.count >= bytesMax { held = ExifText.whole(Array(held.prefix(bytesMax))) }
        let scalars: [Unicode.Scalar]
        if let utf8 = String(validating: held, as: UTF8.self) {
            scalars = Array(utf8.unicodeScalars)
            isLatin1 = false
        } else {
            scalars = held.map { Unicode.Scalar($0) }
            isLatin1 = true
        }
        text = ExifText.shown(scalars, bytesMax: bytesMax)
    }

    /// Without the beginning of a character whose rest was cut off.
    private static func whole(_ bytes: [UInt8]) -> [UInt8] {
        guard let lead = bytes.indices.suffix(3).last(where: { bytes[$0] >= 0xC0 }) else { return bytes }
        let width = bytes[lead] >= 0xF0 ? 4 : bytes[lead] >= 0xE0 ? 3 : 2
        return bytes.count - lead < width ? Array(bytes[..<lead]) : bytes
    }

    private static func shown(_ scalars: [Unicode.Scalar], bytesMax: Int) -> String {
        var view = String.UnicodeScalarView()
        var bytes = 0
        let printable = scalars.filter { $0.properties.generalCategory != .control }
        for scalar in printable.drop(while: \.properties.isWhitespace) {
            bytes += Unicode.UTF8.width(scalar)
            if bytes > bytesMax { break }
            view.append(scalar)
        }
        while view.last?.properties.isWhitespace == true { view.removeLast() }
        return String(view)
    }
}

extension ExifText {
    /// Copyright is two texts, the photographer's and the editor's, the first a blank where it is missing (EXIF 3.0,
    /// section 4.6.5.4.6). They are shown on two lines, as exiftool shows them.
    static func copyright(_ bytes: [UInt8]) -> (text: String, isLatin1: Bool) {
        let parts = bytes.split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false).prefix(2)
        // With the line break between them no longer than any other text.
        let texts = parts.map { ExifText($0) }
        let joined = texts.map(\.text).joined(separator: "\n")
        let isLatin1 = texts.contains(where: \.isLatin1)
        if texts.last?.text.isEmpty != false { return (texts.first?.text ?? "", isLatin1) }
        return (joined, isLatin1)
    }
}
