/// Writes ICC profiles field by field (ICC.1:2022, section 7), right ones and wrong ones.
package struct ICCFile: Sendable {
    package var version: UInt8
    package var deviceClass: String
    package var space: String
    package var connectionSpace: String
    package var tags: [(name: String, data: [UInt8])]
    /// Bytes of the header that are to be others, by their place.
    package var header: [Int: [UInt8]] = [:]

    package init(
        version: UInt8 = 2, deviceClass: String = "mntr", space: String = "RGB ", connectionSpace: String = "XYZ ",
        tags: [(name: String, data: [UInt8])] = []
    ) {
        self.version = version
        self.deviceClass = deviceClass
        self.space = space
        self.connectionSpace = connectionSpace
        self.tags = tags
    }

    /// Gives a tag, in place of one that it has.
    package mutating func set(_ name: String, _ data: [UInt8]) {
        if let index = tags.firstIndex(where: { $0.name == name }) {
            tags[index].data = data
        } else {
            tags.append((name, data))
        }
    }

    package var bytes: [UInt8] {
        var table: [UInt8] = Self.number(tags.count)
        var data: [UInt8] = []
        for tag in tags {
            table += Array(tag.name.utf8) + Self.number(132 + 12 * tags.count + data.count)
            table += Self.number(tag.data.count)
            data += tag.data + [UInt8](repeating: 0, count: -tag.data.count & 3)
        }
        var header = [UInt8](repeating: 0, count: 128)
        header.replaceSubrange(0..<4, with: Self.number(128 + table.count + data.count))
        header[8] = version
        header.replaceSubrange(12..<24, with: Array((deviceClass + space + connectionSpace).utf8))
        header.replaceSubrange(24..<36, with: [0x07, 0xD0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0])
        header.replaceSubrange(36..<40, with: Array("acsp".utf8))
        header.replaceSubrange(68..<80, with: Self.triple(0.9642, 1, 0.8249))
        for (at, bytes) in self.header { header.replaceSubrange(at..<(at + bytes.count), with: bytes) }
        return header + table + data
    }

    package static func number(_ value: Int) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    package static func triple(_ x: Double, _ y: Double, _ z: Double) -> [UInt8] {
        [x, y, z].flatMap { number(Int(($0 * 65536).rounded())) }
    }

    package static func xyz(_ x: Double, _ y: Double, _ z: Double) -> [UInt8] {
        Array("XYZ ".utf8) + number(0) + triple(x, y, z)
    }

    /// A curve of one exponent, in 256ths.
    package static func gamma(_ exponent: Double) -> [UInt8] {
        let fixed = Int(exponent * 256)
        return Array("curv".utf8) + number(0) + number(1) + [UInt8(fixed >> 8), UInt8(fixed & 255), 0, 0]
    }

    /// A text as the fourth version has it.
    package static func localised(_ text: String) -> [UInt8] {
        let units = Array(text.utf16).flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        return Array("mluc".utf8) + number(0) + number(1) + number(12) + Array("enUS".utf8) + number(units.count)
            + number(28) + units
    }

    /// A table of eight bits (ICC.1:2022, section 10.11), its curves straight lines.
    package static func table(inputs: Int, outputs: Int, grid: Int, values: [UInt8]) -> [UInt8] {
        var bytes = Array("mft1".utf8) + number(0) + [UInt8(inputs), UInt8(outputs), UInt8(grid), 0]
        for index in 0..<9 { bytes += number(index % 4 == 0 ? 65536 : 0) }
        let line = (0...255).map { UInt8($0) }
        for _ in 0..<inputs { bytes += line }
        bytes += values
        for _ in 0..<outputs { bytes += line }
        return bytes
    }

    /// Grey of one exponent.
    package static func grey(exponent: Double, description text: String) -> ICCFile {
        ICCFile(
            space: "GRAY",
            tags: [
                ("desc", localised(text)), ("wtpt", xyz(0.9642, 1, 0.8249)), ("kTRC", gamma(exponent)),
                ("cprt", localised("none")),
            ])
    }

    /// A printer that mixes its inks as light passes filters: coarse, but different in each ink.
    package static var press: ICCFile {
        let steps = [0, 1, 2].map { Double($0) / 2 }
        var forward: [UInt8] = []
        for c in steps {
            for m in steps {
                for y in steps {
                    for k in steps {
                        let light = (1 - 0.55 * c) * (1 - 0.5 * m) * (1 - 0.08 * y) * (1 - 0.85 * k)
                        let strength = 1 - k
                        let a = 128 + strength * (-35 * c + 70 * m - 8 * y)
                        let b = 128 + strength * (-50 * c - 5 * m + 85 * y)
                        forward += [UInt8(light * 255), UInt8(a), UInt8(b)]
                    }
                }
            }
        }
        var backward: [UInt8] = []
        for lightness in steps { for _ in 0..<9 { backward += [0, 0, 0, UInt8((1 - lightness) * 255)] } }
        return ICCFile(
            deviceClass: "prtr", space: "CMYK", connectionSpace: "Lab ",
            tags: [
                ("desc", localised("Coarse press")), ("wtpt", xyz(0.9642, 1, 0.8249)),
                ("A2B0", table(inputs: 4, outputs: 3, grid: 3, values: forward)),
                ("B2A0", table(inputs: 3, outputs: 4, grid: 3, values: backward)), ("cprt", localised("none")),
            ])
    }
}
