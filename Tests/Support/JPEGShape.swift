/// JPEG files put together by hand: lawful to the last marker, with scan data that means nothing.
package enum JPEGShape {
    package static let soi: [UInt8] = [0xFF, 0xD8]
    package static let eoi: [UInt8] = [0xFF, 0xD9]

    package static func segment(_ marker: UInt8, _ payload: [UInt8]) -> [UInt8] {
        let length = payload.count + 2
        return [0xFF, marker, UInt8(length >> 8), UInt8(length & 0xFF)] + payload
    }

    package static func segment(_ marker: UInt8, _ text: String, _ payload: [UInt8] = []) -> [UInt8] {
        segment(marker, Array(text.utf8) + payload)
    }

    package static let jfif = segment(0xE0, "JFIF\0", [1, 1, 0, 0, 1, 0, 1, 0, 0])
    package static func adobe(_ transform: UInt8) -> [UInt8] {
        segment(0xEE, "Adobe", [0, 100, 0, 0, 0, 0, transform])
    }
    package static let dqt = segment(0xDB, [0] + Array(repeating: 1, count: 64))
    /// A quantization table whose numbers are those of a text, repeated.
    package static func dqt(_ table: UInt8, _ text: String) -> [UInt8] {
        segment(0xDB, quantization(table, text))
    }

    package static func quantization(_ table: UInt8, _ text: String) -> [UInt8] {
        let text = Array(text.utf8)
        return [table] + (0..<64).map { text[$0 % text.count] }
    }

    /// A Huffman table whose symbols are a text, repeated to 64 codes of seven bits.
    ///
    /// - Parameter head: the class, 0 for DC and 1 for AC, times 16, and the number.
    package static func dht(_ head: UInt8, _ text: String) -> [UInt8] { segment(0xC4, huffman(head, text)) }

    package static func huffman(_ head: UInt8, _ text: String) -> [UInt8] {
        let text = Array(text.utf8)
        let counts = [UInt8](repeating: 0, count: 6) + [64] + [UInt8](repeating: 0, count: 9)
        return [head] + counts + (0..<64).map { text[$0 % text.count] }
    }

    /// Table 0 of a class, of one code of one bit.
    private static func shortest(_ head: UInt8) -> [UInt8] { [head, 1] + Array(repeating: 0, count: 15) + [0] }
    package static let dc = segment(0xC4, shortest(0))
    package static let ac = segment(0xC4, shortest(0x10))
    /// Both in one segment.
    package static let dht = segment(0xC4, shortest(0) + shortest(0x10))

    package static func frame(
        _ marker: UInt8 = 0xC0, width: Int = 48, height: Int = 32, ids: [UInt8] = [1, 2, 3], precision: UInt8 = 8,
        factors: UInt8 = 0x11
    ) -> [UInt8] {
        let head: [UInt8] = [
            precision, UInt8(height >> 8), UInt8(height & 255), UInt8(width >> 8), UInt8(width & 255),
            UInt8(ids.count),
        ]
        return segment(marker, head + ids.flatMap { [$0, factors, 0] })
    }

    package static func scanHeader(ids: [UInt8] = [1, 2, 3], spectral: [UInt8] = [0, 63, 0]) -> [UInt8] {
        segment(0xDA, [UInt8(ids.count)] + ids.flatMap { [$0, 0] } + spectral)
    }

    package static let scanData: [UInt8] = [0x12, 0x34, 0xFF, 0x00, 0x56, 0x78, 0x9A, 0xBC, 0xDE, 0xF0]

    /// Half of the MCUs of 48×32 pixels without subsampling, and data with the one restart marker that this asks for.
    package static let dri = segment(0xDD, [0, 12])
    package static let restartedData: [UInt8] = [0x12, 0x34, 0xFF, 0x00, 0x56, 0xFF, 0xD0, 0x78, 0x9A, 0xBC]

    /// The shortest profile there is: a header, and a table of no tags.
    package static let profile: [UInt8] = {
        var bytes = [UInt8](repeating: 0, count: 132)
        bytes[3] = 132
        bytes[8] = 2
        bytes.replaceSubrange(12..<24, with: Array("mntrRGB XYZ ".utf8))
        bytes.replaceSubrange(24..<30, with: [0x07, 0xD0, 0, 1, 0, 1])
        bytes.replaceSubrange(36..<40, with: Array("acsp".utf8))
        bytes.replaceSubrange(68..<80, with: [0, 0, 0xF6, 0xD6, 0, 1, 0, 0, 0, 0, 0xD3, 0x2D])
        return bytes
    }()

    package static func icc(_ number: UInt8, of total: UInt8, _ data: [UInt8]) -> [UInt8] {
        segment(0xE2, "ICC_PROFILE\0", [number, total] + data)
    }

    /// A whole picture of 48×32 pixels, with `inserted` before the tables and `appended` after EOI.
    package static func file(
        first: [UInt8] = jfif, _ inserted: [UInt8] = [], frame: [UInt8] = frame(), tables: [UInt8] = dht,
        ids: [UInt8] = [1, 2, 3], spectral: [UInt8] = [0, 63, 0], scan: [UInt8] = scanData, appended: [UInt8] = []
    ) -> [UInt8] {
        let header = scanHeader(ids: ids, spectral: spectral)
        return soi + first + inserted + dqt + frame + tables + header + scan + eoi + appended
    }

    /// A whole progressive picture of 48×32 pixels: a scan of DC coefficients, then one of a component's others.
    package static func progressive(
        _ inserted: [UInt8] = [], between: [UInt8] = [], first: [UInt8] = scanData, last: [UInt8] = scanData
    ) -> [UInt8] {
        let second = between + ac + scanHeader(ids: [1], spectral: [1, 63, 0]) + last
        return file(inserted, frame: frame(0xC2), tables: dc, spectral: [0, 0, 0], scan: first + second)
    }
}
