/// One option: its name, what it allows, and how its value is read. The texts of errors, of the command line's help
/// and of the README's table come from here, so they cannot drift apart.
package struct OptionDescriptor: Sendable {
    package let name: String
    /// The value that stands for nothing asked; nil where none does.
    package let fallback: String?
    /// Completes the sentence "…is not allowed; …".
    package let allowed: String
    package let summary: String
    /// Reads the value into the options; false where it is not allowed.
    package let apply: @Sendable (String, inout Options) -> Bool
    /// Writes the value; nil where the option is not set.
    package let value: @Sendable (Options) -> String?

    package static let all: [OptionDescriptor] = [
        word(
            "exif", "EXIF goes nowhere, into the answer (return), or into the JPEG too, built anew (keep)",
            \.metadata.exif),
        word(
            "gps", "the place goes nowhere, into the answer (return), or into the JPEG too (keep)", \.metadata.gps),
        word(
            "gps_precision", "the place as it is, or on a grid of a tenth of a degree with nothing else of GPS (city)",
            \.metadata.gpsPrecision),
        side("max_width", of: "columns", \.maxWidth),
        side("max_height", of: "rows", \.maxHeight),
        OptionDescriptor(
            name: "crop", fallback: nil,
            allowed: "allowed are W:H, each from 1 to 65535, and x,y,w,h in pixels, w and h at least 1",
            summary: "part of the upright picture, before scaling: the largest centred W:H, or a rectangle x,y,w,h",
            apply: { value, options in
                options.crop = Crop(parsing: value)
                return options.crop != nil
            }, value: { $0.crop?.text }),
        OptionDescriptor(
            name: "max_bytes", fallback: nil,
            allowed: "allowed is a whole number from 1 to 1000000000, or one with KB (1000) or MB (1000000) behind it",
            summary: "bytes never exceeded: quality falls to 60 at least, then the size shrinks",
            apply: { value, options in
                options.maxBytes = byteCount(value)
                return options.maxBytes != nil
            }, value: { $0.maxBytes.map(String.init) }),
        OptionDescriptor(
            name: "quality", fallback: "90", allowed: "allowed is a whole number from 1 to 100",
            summary: "JPEG quality, used where the picture is encoded again; never a reason to encode again",
            apply: { value, options in
                guard let quality = value.wholeNumber, (1...100).contains(quality) else { return false }
                options.quality = quality
                return true
            }, value: { String($0.quality) }),
        word(
            "orientation", "who tells how the picture is turned: HEIF before EXIF, only one of them, or nobody",
            \.orientation),
        word("color", "the source's colour profile goes along, or pixels are converted to sRGB", \.color),
        OptionDescriptor(
            name: "progressive", fallback: "false", allowed: "allowed are: false, true",
            summary:
                "a progressive JPEG, without loss where it is not encoded again; one that is progressive may stay so",
            apply: { value, options in
                guard let choice = Bool(value) else { return false }
                options.isProgressive = choice
                return true
            }, value: { String($0.isProgressive) }),
        word(
            "subsampling",
            "of chroma; auto: as the source, 4:2:0 below quality 90; another than the source's encodes again",
            \.subsampling),
    ]

    private static func side(
        _ name: String, of lines: String, _ path: any WritableKeyPath<Options, Int?> & Sendable
    ) -> OptionDescriptor {
        OptionDescriptor(
            name: name, fallback: nil, allowed: "allowed is a whole number from 1 to 65535",
            summary: "the most \(lines) that the upright picture may have; it is shrunk to fit, never enlarged",
            apply: { value, options in
                guard let side = value.wholeNumber, (1...65535).contains(side) else { return false }
                options[keyPath: path] = side
                return true
            }, value: { $0[keyPath: path].map(String.init) })
    }

    private static func word<Word: RawRepresentable<String> & CaseIterable & Sendable>(
        _ name: String, _ summary: String, _ path: any WritableKeyPath<Options, Word> & Sendable
    ) -> OptionDescriptor {
        OptionDescriptor(
            name: name, fallback: Options()[keyPath: path].rawValue,
            allowed: "allowed are: \(Word.allCases.map(\.rawValue).joined(separator: ", "))", summary: summary,
            apply: { value, options in
                guard let word = Word(rawValue: value) else { return false }
                options[keyPath: path] = word
                return true
            }, value: { $0[keyPath: path].rawValue })
    }

    private static func byteCount(_ text: String) -> Int? {
        var digits = text
        var factor = 1
        for (suffix, size) in [("KB", 1000), ("MB", 1_000_000)] where text.hasSuffix(suffix) {
            digits.removeLast(2)
            factor = size
        }
        guard let number = digits.wholeNumber, (1...1_000_000_000 / factor).contains(number) else { return nil }
        return number * factor
    }
}

extension Crop {
    fileprivate init?(parsing text: String) {
        let sides = text.split(separator: ":", omittingEmptySubsequences: false).map { String($0).wholeNumber }
        if sides.count == 2 {
            guard let width = sides[0], let height = sides[1], (1...65535).contains(width), (1...65535).contains(height)
            else { return nil }
            self = .ratio(width, height)
            return
        }
        let numbers = text.split(separator: ",", omittingEmptySubsequences: false).compactMap { String($0).wholeNumber }
        guard numbers.count == 4, text.filter({ $0 == "," }).count == 3, numbers[2] > 0, numbers[3] > 0 else {
            return nil
        }
        self = .rectangle(PixelRectangle(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3]))
    }

    fileprivate var text: String {
        switch self {
        case .ratio(let width, let height): "\(width):\(height)"
        case .rectangle(let part): "\(part.x),\(part.y),\(part.width),\(part.height)"
        }
    }
}

extension String {
    /// The number that these one to ten ASCII digits write, or nil.
    fileprivate var wholeNumber: Int? {
        guard (1...10).contains(utf8.count), utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        return Int(self)
    }
}
