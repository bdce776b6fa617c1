/// Writes a small EXIF block by hand: IFD0, and the Exif, GPS and interoperability IFDs it points to.
package struct TIFFBuilder {
    package enum Value {
        case short(UInt16)
        case long(UInt32)
        case ascii(String)
        case rational([(UInt32, UInt32)])
        case undefined([UInt8])
        /// BYTE
        case bytes([UInt8])
        case shorts([UInt16])
        case signedRational([(Int32, Int32)])
        case double(Double)
        /// EXIF 3.0's type 129.
        case utf8(String)
        /// Any type and count, whether they fit the bytes or not. Bytes that do not fit the entry stand outside.
        case raw(type: UInt16, count: UInt32, [UInt8])
    }

    package var ifd0: [(UInt16, Value)] = []
    package var exif: [(UInt16, Value)] = []
    package var gps: [(UInt16, Value)] = []
    package var interoperability: [(UInt16, Value)] = []
    package var ifd1: [(UInt16, Value)] = []
    package var isBigEndian = false

    package init() {}

    /// The TIFF structure, header first (TIFF 6.0, section 2).
    package var bytes: [UInt8] {
        var out: [UInt8] = isBigEndian ? [0x4D, 0x4D, 0, 42] : [0x49, 0x49, 42, 0]
        out += number(8, 4)
        var pointers: [(UInt16, [(UInt16, Value)])] = []
        if !exif.isEmpty || !interoperability.isEmpty { pointers.append((0x8769, exif)) }
        if !gps.isEmpty { pointers.append((0x8825, gps)) }
        let size0 = size(ifd0, extra: pointers.count)
        var next = 8 + size0
        var entries = ifd0
        var blocks: [UInt8] = []
        for (tag, content) in pointers {
            entries.append((tag, .long(UInt32(next))))
            var content = content
            var inner: [UInt8] = []
            if tag == 0x8769, !interoperability.isEmpty {
                let at = next + size(content, extra: 1)
                content.append((0xA005, .long(UInt32(at))))
                inner = ifd(interoperability, at: at, next: 0)
            }
            let block = ifd(content, at: next, next: 0) + inner
            blocks += block
            next += block.count
        }
        out += ifd(entries, at: 8, next: ifd1.isEmpty ? 0 : next)
        out += blocks
        if !ifd1.isEmpty { out += ifd(ifd1, at: next, next: 0) }
        return out
    }

    /// The block as an APP1 segment of a JPEG.
    package var app1: [UInt8] {
        let payload = Array("Exif\0\0".utf8) + bytes
        let length = payload.count + 2
        return [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 255)] + payload
    }

    private func number(_ value: UInt32, _ count: Int) -> [UInt8] {
        let little = (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt32(8 * $0)) }
        return isBigEndian ? little.reversed() : little
    }

    private func encoded(_ value: Value) -> (type: UInt32, count: Int, bytes: [UInt8]) {
        switch value {
        case .short(let short): (3, 1, number(UInt32(short), 2))
        case .long(let long): (4, 1, number(long, 4))
        case .ascii(let text): (2, text.utf8.count + 1, Array(text.utf8) + [0])
        case .rational(let pairs): (5, pairs.count, pairs.flatMap { number($0.0, 4) + number($0.1, 4) })
        case .undefined(let bytes): (7, bytes.count, bytes)
        case .bytes(let bytes): (1, bytes.count, bytes)
        case .shorts(let values): (3, values.count, values.flatMap { number(UInt32($0), 2) })
        case .signedRational(let pairs):
            (
                10, pairs.count,
                pairs.flatMap { number(UInt32(bitPattern: $0.0), 4) + number(UInt32(bitPattern: $0.1), 4) }
            )
        case .double(let value): (12, 1, double(value))
        case .utf8(let text): (129, text.utf8.count + 1, Array(text.utf8) + [0])
        case .raw(let type, let count, let bytes): (UInt32(type), Int(count), bytes)
        }
    }

    private func double(_ value: Double) -> [UInt8] {
        let (high, low) = (UInt32(value.bitPattern >> 32), UInt32(truncatingIfNeeded: value.bitPattern))
        return isBigEndian ? number(high, 4) + number(low, 4) : number(low, 4) + number(high, 4)
    }

    private func size(_ entries: [(UInt16, Value)], extra: Int) -> Int {
        let outside = entries.map { encoded($0.1).bytes.count }.filter { $0 > 4 }.reduce(0, +)
        return 2 + 12 * (entries.count + extra) + 4 + outside
    }

    private func ifd(_ entries: [(UInt16, Value)], at offset: Int, next: Int) -> [UInt8] {
        var out = number(UInt32(entries.count), 2)
        var outside: [UInt8] = []
        let outsideStart = offset + 2 + 12 * entries.count + 4
        for (tag, value) in entries.sorted(by: { $0.0 < $1.0 }) {
            let (type, count, bytes) = encoded(value)
            out += number(UInt32(tag), 2) + number(type, 2) + number(UInt32(count), 4)
            if bytes.count > 4 {
                out += number(UInt32(outsideStart + outside.count), 4)
                outside += bytes
            } else {
                out += bytes + [UInt8](repeating: 0, count: 4 - bytes.count)
            }
        }
        return out + number(UInt32(next), 4) + outside
    }
}
