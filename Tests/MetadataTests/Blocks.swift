import Support

@testable import Metadata

/// Blocks that several tests use.
enum Blocks {
    /// A value of every kind, and all that must not be passed on.
    static func rich(isBigEndian: Bool = false, makerNote: [UInt8] = Array("Secret of the maker".utf8)) -> TIFFBuilder {
        var block = TIFFBuilder()
        block.isBigEndian = isBigEndian
        block.ifd0 = [
            (0x010E, .ascii("A description")), (0x010F, .ascii("Maker Corp")), (0x0110, .ascii("Model 1  ")),
            (0x0112, .short(6)), (0x011A, .rational([(300, 1)])), (0x011B, .rational([(300, 1)])),
            (0x0128, .short(2)), (0x0131, .ascii("Firmware 1.2")), (0x0132, .ascii("2024:05:06 07:08:10")),
            (0x013B, .ascii("A. Artist")), (0x013C, .ascii("Her phone")), (0x0213, .short(1)),
            (0x8298, .ascii("(c) A. Artist")), (0x9C9B, .bytes(Array("X\0P\0\0\0".utf8))),
        ]
        block.exif = [
            (0x829A, .rational([(1, 60)])), (0x829D, .rational([(178, 100)])), (0x8822, .short(2)),
            (0x8827, .short(64)), (0x9000, .undefined(Array("0232".utf8))), (0x9003, .ascii("2024:05:06 07:08:09")),
            (0x9004, .ascii("2024:05:06 07:08:09")), (0x9010, .ascii("+02:00")), (0x9011, .ascii("+02:00")),
            (0x9101, .undefined([1, 2, 3, 0])), (0x9201, .signedRational([(59, 10)])),
            (0x9202, .rational([(166, 100)])), (0x9203, .signedRational([(-7, 3)])),
            (0x9204, .signedRational([(-1, 3)])), (0x9207, .short(5)), (0x9209, .short(16)),
            (0x920A, .rational([(686, 100)])), (0x9214, .shorts([10, 20, 30, 40])), (0x927C, .undefined(makerNote)),
            (0x9286, .undefined(Array("ASCII\0\0\0my secret".utf8))), (0x9291, .ascii("123")),
            (0xA000, .undefined(Array("0100".utf8))), (0xA001, .short(65535)), (0xA002, .long(4032)),
            (0xA003, .long(3024)), (0xA300, .undefined([3])), (0xA301, .undefined([1])), (0xA403, .short(0)),
            (0xA405, .short(24)), (0xA420, .ascii("0123456789abcdef0123456789abcdef")), (0xA430, .ascii("Owner")),
            (0xA431, .ascii("SN123")), (0xA432, .rational([(222, 100), (9, 1), (178, 100), (0, 0)])),
            (0xA433, .ascii("Lens Corp")), (0xA434, .ascii("Lens 24mm f/1.78")), (0xA435, .ascii("LSN9")),
        ]
        block.gps = gps()
        block.ifd1 = [(0x0103, .short(6)), (0x0201, .long(60)), (0x0202, .long(20))]
        return block
    }

    /// 48° 51' 29.96" N, 2° 17' 40.2" W.
    static func gps(
        _ changed: [UInt16: TIFFBuilder.Value] = [:], without missing: Set<UInt16> = []
    ) -> [(UInt16, TIFFBuilder.Value)] {
        var entries: [UInt16: TIFFBuilder.Value] = [
            0x00: .bytes([2, 3, 0, 0]), 0x01: .ascii("N"), 0x02: .rational([(48, 1), (51, 1), (2996, 100)]),
            0x03: .ascii("W"), 0x04: .rational([(2, 1), (17, 1), (402, 10)]), 0x05: .bytes([0]),
            0x06: .rational([(3525, 100)]), 0x07: .rational([(5, 1), (8, 1), (950, 100)]), 0x0C: .ascii("K"),
            0x0D: .rational([(36, 1)]), 0x10: .ascii("T"), 0x11: .rational([(9128, 100)]),
            0x1B: .undefined(Array("ASCII\0\0\0NETWORK".utf8)), 0x1D: .ascii("2024:05:06"),
            0x1F: .rational([(65, 10)]),
        ]
        entries.merge(changed) { _, new in new }
        return entries.filter { !missing.contains($0.key) }.map { ($0.key, $0.value) }
    }

    static func read(_ builder: TIFFBuilder) -> ExifBlock? { ExifBlock(reading: builder.bytes) }

    static func read(gps: [(UInt16, TIFFBuilder.Value)]) -> ExifBlock? {
        var block = TIFFBuilder()
        block.gps = gps
        return read(block)
    }

    static func read(exif: [(UInt16, TIFFBuilder.Value)]) -> ExifBlock? {
        var block = TIFFBuilder()
        block.exif = exif
        return read(block)
    }
}
