import Container
import Core
import Testing

@Suite struct SnifferTests {
    private static func ftyp(_ major: String, _ compatible: String...) -> [UInt8] {
        let payload = Array(major.utf8) + [0, 0, 0, 0] + compatible.flatMap { Array($0.utf8) }
        return [0, 0, 0, UInt8(payload.count + 8)] + Array("ftyp".utf8) + payload
    }

    private static let accepted: [([UInt8], SourceFormat)] = [
        ([0xFF, 0xD8], .jpeg),
        (ftyp("heic", "mif1", "MiHE", "MiPr", "miaf", "MiHB", "heic"), .heic),
        (ftyp("heix", "mif1", "heix", "miaf"), .heic), (ftyp("heim"), .heic), (ftyp("heis"), .heic),
        (ftyp("mif1", "heic"), .heic), (ftyp("mif1", "miaf"), .heic), (ftyp("mif1", "mif1", "heic", "hevc"), .heic),
        (ftyp("msf1", "hevc", "mif1", "heic"), .heic), (ftyp("hevc", "msf1", "heic"), .heic),
        (ftyp("isom", "mp42", "mif1", "heic"), .heic), (ftyp("MiHB", "heic"), .heic),
    ]

    private static let refused: [([UInt8], String)] = [
        (ftyp("hevc", "msf1", "iso8", "hevc"), "image/heic-sequence"), (ftyp("msf1", "hevc"), "image/heic-sequence"),
        (ftyp("avif", "avif", "mif1", "miaf", "heic"), "image/avif"), (ftyp("avis", "msf1"), "image/avif"),
        (ftyp("mif1", "avif", "miaf"), "image/avif"), (ftyp("jpeg", "mif1", "jpeg"), "image/heif"),
        (ftyp("j2ki", "mif1", "j2ki"), "image/hej2k"), (ftyp("mif1", "j2ki"), "image/hej2k"),
        (ftyp("isom", "iso2", "mp41"), "video/mp4"), (ftyp("mp42", "isom"), "video/mp4"), (ftyp("M4V "), "video/mp4"),
        (ftyp("3gp5", "isom"), "video/3gpp"), (ftyp("qt  ", "qt  "), "video/quicktime"),
        (ftyp("crx ", "crx ", "isom"), "image/x-canon-cr3"),
        ([0, 0, 0, 32] + Array("moov".utf8), "video/quicktime"),
        ([0, 0, 0, 1] + Array("mdat".utf8), "video/quicktime"),
        ([0, 0, 0, 8] + Array("wide".utf8), "video/quicktime"), ([0, 0, 0, 8] + Array("free".utf8), "video/quicktime"),
        ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], "image/png"), (Array("GIF89a".utf8), "image/gif"),
        (Array("GIF87a".utf8), "image/gif"), (Array("RIFF\u{1}\u{2}\u{3}\u{4}WEBP".utf8), "image/webp"),
        (Array("II*\0\u{10}\0\0\0CR".utf8), "image/x-canon-cr2"), (Array("MM\0*".utf8), "image/tiff"),
        (Array("BM".utf8) + [1, 2, 3, 4, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0], "image/bmp"),
        ([0xFF, 0x0A], "image/jxl"), ([0, 0, 0, 12, 0x4A, 0x58, 0x4C, 0x20, 13, 10, 0x87, 10], "image/jxl"),
        ([0, 0, 0, 12, 0x6A, 0x50, 0x20, 0x20, 13, 10, 0x87, 10], "image/jp2"),
        (Array("%PDF-1.7".utf8), "application/pdf"),
        (Array("8BPS\0".utf8), "image/vnd.adobe.photoshop"), (Array("PK\u{3}\u{4}".utf8), "application/zip"),
    ]

    @Test(arguments: accepted) func accepts(signature: [UInt8], format: SourceFormat) {
        #expect(Sniffer.sniff(signature.span) == .accepted(format))
        expectNoFalsePrefix(of: signature, .accepted(format))
    }

    @Test(arguments: refused) func refuses(signature: [UInt8], mediaType: String) {
        #expect(Sniffer.sniff(signature.span) == .refused(mediaType: mediaType))
        // A CR2 is a TIFF until its mark is read.
        if mediaType != "image/x-canon-cr2" { expectNoFalsePrefix(of: signature, .refused(mediaType: mediaType)) }
    }

    /// A shorter prefix says the same or "unknown"; what follows the signature changes nothing.
    private func expectNoFalsePrefix(of signature: [UInt8], _ answer: Sniffed) {
        for count in signature.indices {
            let early = Sniffer.sniff(Array(signature.prefix(count)).span)
            #expect(early == .unknown || early == answer, "\(count) of \(signature)")
        }
        let longer = signature + Array(repeating: 0x20, count: Sniffer.prefixLength)
        #expect(Sniffer.sniff(longer.span) == answer)
    }

    @Test(
        arguments: [
            [], [0xFF], [0x00, 0xFF, 0xD8, 0xFF], Array("hello, world".utf8), ftyp("hhhh", "mmmm"), ftyp("mif7"),
            Array("RIFF\u{1}\u{2}\u{3}\u{4}WAVE".utf8), Array("BMW is no bitmap, is it?".utf8),
            [0, 0, 0, 4] + Array("moov".utf8), [0, 0, 0, 8] + Array("ftyp".utf8),
        ])
    func knowsNothingOf(bytes: [UInt8]) {
        #expect(Sniffer.sniff(bytes.span) == .unknown)
    }

    /// Brands beyond the prefix are not waited for.
    @Test func readsAsManyBrandsAsThePrefixHolds() {
        let brands = Array(repeating: "miaf", count: 80).flatMap { Array($0.utf8) }
        let box = [0, 0, 1, 0x50] + Array("ftypmif1".utf8) + [0, 0, 0, 0] + brands
        #expect(Sniffer.sniff(Array(box.prefix(Sniffer.prefixLength)).span) == .accepted(.heic))
        #expect(Sniffer.sniff(Array(box.prefix(Sniffer.prefixLength - 1)).span) == .unknown)
    }
}
