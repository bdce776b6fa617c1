import Core

/// What a directory's entry must look like.
enum ExifOutputRule {
    /// Printable UTF-8 with one NUL at its end, and at most so many before.
    case text(nuls: Int)
    /// A text of that form with one NUL at its end.
    case form(ExifTextForm)
    case short(ClosedRange<Int>)
    case long
    case rational(Int)
    case signedRational
    /// Exactly one of these, of this type.
    case exactly(type: Int, [[UInt8]])
    case directory(ExifOutputDirectory)

    static let anyShort = ExifOutputRule.short(0...0xFFFF)

    static func letter(_ letters: String) -> ExifOutputRule { .exactly(type: 2, letters.utf8.map { [$0, 0] }) }
}

/// The directories that a finished picture's block may have.
enum ExifOutputDirectory { case image, exif, gps }

extension ExifOutputDirectory {
    func rules(_ allowance: ExifOutputCheck.Allowance) -> [Int: ExifOutputRule] {
        switch self {
        case .image:
            var rules: [Int: ExifOutputRule] = allowance.hasExif ? ExifOutputDirectory.imageRules : [:]
            if allowance.place != .none { rules[0x8825] = .directory(.gps) }
            return rules
        case .exif:
            return ExifOutputDirectory.exifRules.merging([
                0xA002: .exactly(type: 4, [big32(allowance.size.width)]),
                0xA003: .exactly(type: 4, [big32(allowance.size.height)]),
            ]) { _, size in size }
        case .gps:
            let isCity = allowance.place == .city
            var rules = isCity ? ExifOutputDirectory.cityRules : ExifOutputDirectory.gpsRules
            if !allowance.hasExif {
                for time in [0x07, 0x1D] { rules[time] = nil }
            }
            return rules
        }
    }

    /// What must be there.
    var required: [Int] {
        switch self {
        case .image: []
        case .exif: [0x9000, 0xA001, 0xA002, 0xA003]
        case .gps: [0x00, 0x01, 0x02, 0x03, 0x04]
        }
    }

    private static let resolution = ExifOutputRule.exactly(type: 5, [big32(72) + big32(1)])

    private static let imageRules: [Int: ExifOutputRule] = [
        0x010F: .text(nuls: 0), 0x0110: .text(nuls: 0), 0x0112: .short(1...1), 0x011A: resolution, 0x011B: resolution,
        0x0128: .short(2...2), 0x0131: .text(nuls: 0), 0x0132: .form(.moment), 0x013B: .text(nuls: 0),
        0x0213: .short(1...2), 0x8298: .text(nuls: 1), 0x8769: .directory(.exif),
    ]

    private static let exifRules: [Int: ExifOutputRule] = {
        var rules: [Int: ExifOutputRule] = [
            0x9000: .exactly(type: 7, [ascii("0300")]), 0x9101: .exactly(type: 7, [[1, 2, 3, 0], [1, 0, 0, 0]]),
            0xA000: .exactly(type: 7, [ascii("0100")]), 0xA001: .exactly(type: 3, [[0, 1], [0xFF, 0xFF]]),
            0xA300: .exactly(type: 7, (0...255).map { [$0] }), 0xA301: .exactly(type: 7, (0...255).map { [$0] }),
            0xA432: .rational(4),
        ]
        let shorts = [
            0x8822, 0x8827, 0x8830, 0x9207, 0x9208, 0x9209, 0xA217, 0xA401, 0xA402, 0xA403, 0xA405, 0xA406, 0xA407,
            0xA408, 0xA409, 0xA40A, 0xA40C, 0xA460,
        ]
        let rationals = [0x829A, 0x829D, 0x9202, 0x9205, 0x9206, 0x920A, 0xA20B, 0xA215, 0xA404]
        for tag in [0x9003, 0x9004] { rules[tag] = .form(.moment) }
        for tag in [0x9010, 0x9011, 0x9012] { rules[tag] = .form(.offset) }
        for tag in [0x9290, 0x9291, 0x9292] { rules[tag] = .form(.fraction) }
        for tag in [0xA433, 0xA434, 0xA439] { rules[tag] = .text(nuls: 0) }
        for tag in shorts { rules[tag] = .anyShort }
        for tag in [0x8831, 0x8832, 0x8833, 0x8834, 0x8835] { rules[tag] = .long }
        for tag in rationals { rules[tag] = .rational(1) }
        for tag in [0x9201, 0x9203, 0x9204] { rules[tag] = .signedRational }
        return rules
    }()

    private static let cityRules: [Int: ExifOutputRule] = [
        0x00: .exactly(type: 1, [[2, 4, 0, 0]]), 0x01: .letter("NS"), 0x02: .rational(3), 0x03: .letter("EW"),
        0x04: .rational(3), 0x1F: .rational(1),
    ]

    private static let gpsRules: [Int: ExifOutputRule] = cityRules.merging([
        0x05: .exactly(type: 1, [[0], [1], [2], [3]]), 0x06: .rational(1), 0x07: .rational(3), 0x0C: .letter("KMN"),
        0x0D: .rational(1), 0x10: .letter("TM"), 0x11: .rational(1), 0x1D: .form(.day),
    ]) { city, _ in city }
}

/// The value of one entry.
struct ExifOutputValue {
    let type: Int
    let count: Int
    let bytes: [UInt8]
    let textBytesMax: Int

    func fits(_ rule: ExifOutputRule) -> Bool {
        switch rule {
        case .text(let nuls): type == 2 && isText(nuls: nuls)
        case .form(let form): type == 2 && bytes.last == 0 && form.allows(bytes.dropLast())
        case .short(let allowed): type == 3 && count == 1 && allowed.contains(Int(bytes[0]) << 8 | Int(bytes[1]))
        case .long: type == 4 && count == 1
        case .rational(let wanted): type == 5 && count == wanted && hasValues
        case .signedRational: type == 10 && count == 1 && hasValues
        case .exactly(let wanted, let allowed): type == wanted && allowed.contains(bytes)
        case .directory: type == 4 && count == 1
        }
    }

    /// Of several fractions some may be unknown, which is 0/0 and nothing else.
    private var hasValues: Bool {
        var known = 0
        for start in stride(from: 0, to: bytes.count, by: 8) {
            if bytes[(start + 4)..<(start + 8)].contains(where: { $0 != 0 }) {
                known += 1
            } else if count != 4 || bytes[start..<(start + 4)].contains(where: { $0 != 0 }) {
                return false
            }
        }
        return known > 0
    }

    private func isText(nuls: Int) -> Bool {
        guard bytes.count <= textBytesMax, bytes.count > 1, bytes.last == 0 else { return false }
        let text = bytes.dropLast()
        guard text.reduce(0, { $0 + ($1 == 0 ? 1 : 0) }) <= nuls else { return false }
        guard let decoded = String(validating: text, as: UTF8.self) else { return false }
        return decoded.unicodeScalars.allSatisfy { $0.value == 0 || $0.properties.generalCategory != .control }
    }
}

/// A number as our blocks write it.
func big32(_ value: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
}
