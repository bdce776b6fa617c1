import Core

/// The texts of a profile, in the types of its second version (`desc`, `text`) and of its fourth (`mluc`).
enum ProfileText {
    /// The English text where there is a choice, else the first; nil where it is none.
    static func reading(_ data: [UInt8]) -> String? {
        let source = ProfileData(data)
        guard let type = try? source.type() else { return nil }
        switch type {
        case "text": return ascii(data[min(8, data.count)...])
        case "desc":
            guard let count = try? source.number(4, at: 8) else { return nil }
            return ascii(data[12...].prefix(count))
        case "mluc": return try? localised(source, data)
        default: return nil
        }
    }

    /// - Parameter version: the profile's major one.
    static func description(_ text: String, version: UInt8) -> [UInt8] {
        if version >= 4 { return localised(text) }
        let letters = Array(text.utf8) + [0]
        // No Unicode, and no script code with its 67 bytes.
        return fourCC("desc") + big32(0) + big32(letters.count) + letters + [UInt8](repeating: 0, count: 78)
    }

    /// A profile has to have one, and what its maker wrote may name a person.
    static func copyright(version: UInt8) -> [UInt8] {
        version >= 4 ? localised(notStated) : fourCC("text") + big32(0) + Array(notStated.utf8) + [0]
    }

    private static let notStated = "Not stated"

    private static func fourCC(_ text: String) -> [UInt8] { Array(text.utf8) }

    private static func localised(_ text: String) -> [UInt8] {
        let units = text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        return fourCC("mluc") + big32(0) + big32(1) + big32(12) + fourCC("enUS") + big32(units.count) + big32(28)
            + units
    }

    private static func ascii(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes.prefix(lengthMax).prefix { $0 != 0 }, as: UTF8.self)
    }

    /// No well-known text is longer.
    private static let lengthMax = 200

    private static func localised(_ source: ProfileData, _ data: [UInt8]) throws(ProfileData.Unsound) -> String? {
        let count = try source.number(4, at: 8)
        guard count > 0, try source.number(4, at: 12) == 12 else { return nil }
        var chosen = 16
        for index in 0..<min(count, 100) {
            // "en"
            if try source.number(2, at: 16 + 12 * index) == 0x656E {
                chosen = 16 + 12 * index
                break
            }
        }
        let (size, start) = (try source.number(4, at: chosen + 4), try source.number(4, at: chosen + 8))
        guard start <= data.count, size <= data.count - start else { return nil }
        let bytes = data[start..<(start + min(size, 2 * lengthMax))]
        let units = stride(from: bytes.startIndex, to: bytes.endIndex - 1, by: 2).map {
            UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1])
        }
        return String(decoding: units.prefix { $0 != 0 }, as: UTF16.self)
    }
}

extension ProfileText {
    /// Whether a copyright is that of a maker of profiles, not a person's.
    static func isMakers(_ copyright: String) -> Bool {
        makers.contains { copyright.contains($0) }
    }

    private static let makers = [
        "Apple", "Adobe", "Google", "Samsung", "Huawei", "HUAWEI", "Xiaomi", "Hewlett-Packard", "Microsoft", "Nikon",
        "Canon", "Sony", "International Color Consortium", "European Color Initiative", "Heidelberg", "Kodak",
        "Artifex", "Public Domain", "public domain", "No copyright", "CC0", "Facebook", "Linotype", "LinoColor",
        "Lightroom", "Elle Stone", "Not stated",
    ]

    /// Descriptions of devices and conditions that profiles of sRGB have.
    static let dull: Set<String> = [
        "IEC http://www.iec.ch", "IEC 61966-2.1 Default RGB colour space - sRGB",
        "IEC 61966-2-1 Default RGB Colour Space - sRGB", "Reference Viewing Condition in IEC61966-2.1",
        "Reference Viewing Condition in IEC 61966-2-1", "GIMP", "sRGB", "D65 Grayscale with sRGB TRC", "Little CMS", "",
    ]
}
