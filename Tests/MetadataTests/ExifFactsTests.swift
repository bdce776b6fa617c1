import Core
import Metadata
import Support
import Testing

@Suite struct ExifFactsTests {
    private func facts(_ bytes: [UInt8]) -> ExifFacts? { ExifBlock(reading: bytes)?.facts }

    @Test(arguments: [UInt16](1...8), [false, true]) func orientation(value: UInt16, bigEndian: Bool) throws {
        var block = TIFFBuilder()
        block.isBigEndian = bigEndian
        block.ifd0 = [(0x0112, .short(value))]
        #expect(facts(block.bytes)?.orientation?.rawValue == UInt8(value))
        #expect(facts(block.bytes)?.found == [.exif])
    }

    @Test(arguments: [0, 9, 255, 65535] as [UInt16]) func orientationOutOfRangeIsNone(value: UInt16) {
        var block = TIFFBuilder()
        block.ifd0 = [(0x0112, .short(value))]
        #expect(facts(block.bytes) != nil)
        #expect(facts(block.bytes)?.orientation == nil)
    }

    @Test func orientationMayBeLong() {
        var block = TIFFBuilder()
        block.ifd0 = [(0x0112, .long(6))]
        #expect(facts(block.bytes)?.orientation == .rotated90)
    }

    @Test func thumbnailOrientationDoesNotCount() {
        var block = TIFFBuilder()
        block.ifd0 = [(0x0112, .short(1))]
        block.ifd1 = [(0x0112, .short(6))]
        #expect(facts(block.bytes)?.orientation == .upright)
        #expect(facts(block.bytes)?.found == [.exif, .thumbnail])
    }

    @Test func namesWhatItHolds() {
        var block = TIFFBuilder()
        block.ifd0 = [(0x010F, .ascii("Maker"))]
        block.exif = [(0x927C, .undefined(Array("Blob of the maker".utf8)))]
        block.gps = [(1, .ascii("N")), (2, .rational([(48, 1), (51, 1), (2996, 100)]))]
        #expect(facts(block.bytes)?.found == [.exif, .gps, .makernote])
    }

    @Test(arguments: [("R03", UInt16(65535), true), ("R98", 65535, false), ("R03", 1, false)])
    func adobeRGB(index: String, colorSpace: UInt16, expected: Bool) {
        var block = TIFFBuilder()
        block.exif = [(0xA001, .short(colorSpace))]
        block.interoperability = [(1, .ascii(index))]
        #expect(facts(block.bytes)?.isAdobeRGB == expected)
    }

    @Test func nothingToRead() {
        #expect(facts([]) == nil)
        #expect(facts(Array("II".utf8)) == nil)
        #expect(facts([UInt8](repeating: 0xFF, count: 4096)) == nil)
    }

    @Test func everyPrefixAndEveryByteFlippedIsSurvived() {
        var block = TIFFBuilder()
        block.ifd0 = [(0x010F, .ascii("Maker")), (0x0112, .short(6))]
        block.exif = [(0x927C, .undefined([UInt8](repeating: 7, count: 40)))]
        block.gps = [(1, .ascii("N")), (2, .rational([(48, 1), (51, 1), (2996, 100)]))]
        block.ifd1 = [(0x0201, .long(60)), (0x0202, .long(20))]
        let bytes = block.bytes
        #expect(facts(bytes)?.orientation == .rotated90)
        for count in 0..<bytes.count { _ = facts(Array(bytes.prefix(count))) }
        for index in bytes.indices {
            for flip in [0x01, 0x80, 0xFF] as [UInt8] {
                var changed = bytes
                changed[index] ^= flip
                _ = facts(changed)
            }
        }
    }
}
