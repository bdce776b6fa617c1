import Support

/// Profiles of all kinds, and their tags.
extension ICCFile {
    static func short(_ value: Int) -> [UInt8] { Array(number(value).suffix(2)) }

    static func type(_ name: String, _ content: [UInt8]) -> [UInt8] { Array(name.utf8) + number(0) + content }

    static func text(_ text: String) -> [UInt8] { type("text", Array(text.utf8) + [0]) }

    /// As Linotype's and Apple's are, with a text of a Macintosh behind.
    static func description(_ text: String) -> [UInt8] {
        type("desc", number(text.utf8.count + 1) + Array(text.utf8) + [UInt8](repeating: 0, count: 79))
    }

    static func colour(_ x: Int, _ y: Int, _ z: Int) -> [UInt8] { type("XYZ ", number(x) + number(y) + number(z)) }

    static func curve(_ points: [Int]) -> [UInt8] { type("curv", number(points.count) + points.flatMap(short)) }

    /// sRGB's own, as most have it.
    static let parametric = type(
        "para",
        short(3) + short(0) + number(0x26666) + number(0xF2A7) + number(0x0D59) + number(0x13D0) + number(0x0A5B))

    static let chad = type("sf32", [65536, 0, 0, 0, 65536, 0, 0, 0, 65536].flatMap(number))

    /// sRGB's, adapted to D50.
    static func matrix(curve: [UInt8], name: String = "sRGB") -> ICCFile {
        ICCFile(
            version: 4,
            tags: [
                ("desc", localised(name)), ("cprt", localised("Public Domain")), ("wtpt", colour(63190, 65536, 54061)),
                ("rXYZ", colour(28576, 14581, 912)), ("gXYZ", colour(25239, 46983, 6366)),
                ("bXYZ", colour(9376, 3972, 46799)), ("rTRC", curve), ("gTRC", curve), ("bTRC", curve), ("chad", chad),
            ])
    }

    static let grey = ICCFile(
        version: 2, space: "GRAY",
        tags: [
            ("desc", description("Gray Gamma 2.2")), ("cprt", text("Copyright 2000 Adobe Systems, Inc.")),
            ("wtpt", colour(63190, 65536, 54061)), ("kTRC", curve([0x233])),
        ])

    private static let line: [Int] = Array(0..<256)
    private static let cube: [Int] = (0..<27).flatMap { (index: Int) -> [Int] in
        [index / 9 * 100, index / 3 % 3 * 90 + 20, 200 - index % 3 * 70]
    }

    private static func thrice(_ bytes: [UInt8]) -> [UInt8] { bytes + bytes + bytes }
    private static let fixed = [65536, 0, 0, 0, 65536, 0, 0, 0, 65536].flatMap(number)

    static let oldTable8: [UInt8] = {
        var content: [UInt8] = [3, 3, 3, 0] + fixed
        content += thrice(line.map { UInt8($0) })
        content += cube.map { UInt8($0) }
        content += thrice(line.map { UInt8(255 - $0 / 2) })
        return type("mft1", content)
    }()
    static let oldTable16: [UInt8] = {
        var content: [UInt8] = [3, 3, 3, 0] + fixed + short(2) + short(3)
        content += thrice(short(0) + short(65535))
        content += cube.flatMap { short($0 * 257) }
        content += thrice(short(0) + short(20000) + short(65535))
        return type("mft2", content)
    }()

    /// B curves at 32, a matrix, M curves, a grid, A curves.
    static let stages: [UInt8] = {
        let curves = thrice(curve([0x180]) + [0, 0])
        var grid: [UInt8] = [3, 3, 3] + [UInt8](repeating: 0, count: 13) + [1, 0, 0, 0]
        grid += cube.map { UInt8($0) } + [0, 0, 0]
        let matrix: [UInt8] = fixed + [UInt8](repeating: 0, count: 12)
        let places = [32, 32 + 48, 128, 176, 176 + grid.count]
        var content: [UInt8] = [3, 3, 0, 0] + places.flatMap(number)
        for part in [curves, matrix, curves, grid, curves] { content += part }
        return type("mAB ", content)
    }()

    /// A curve of two segments, and a matrix.
    static let elements: [UInt8] = {
        let one = [0x3F, 0x80, 0, 0] as [UInt8]
        let zero = number(0)
        let half = [0x3F, 0, 0, 0] as [UInt8]
        func joined(_ parts: [[UInt8]]) -> [UInt8] { parts.flatMap { $0 } }
        let three = short(3) + short(3)
        let segment = type("parf", joined([short(0), short(0), one, one, zero, zero]))
        let curve = type("curf", joined([short(2), short(0), half, segment, segment]))
        let places = thrice(number(36) + number(curve.count))
        let set = type("cvst", three + places + curve)
        let unit = joined([one, zero, zero, zero, one, zero, zero, zero, one])
        let matrix = type("matf", joined([three, unit, zero, zero, zero]))
        let table = joined([number(32), number(set.count), number(32 + set.count), number(matrix.count)])
        return type("mpet", joined([three, number(2), table, set, matrix]))
    }()

    static func tables(_ name: String, _ data: [UInt8]) -> ICCFile {
        ICCFile(
            version: 4, connectionSpace: "Lab ",
            tags: [
                ("desc", localised("TIFF RGB")), ("cprt", localised("CC0")), ("wtpt", colour(63190, 65536, 54061)),
                (name, data),
            ])
    }
}
