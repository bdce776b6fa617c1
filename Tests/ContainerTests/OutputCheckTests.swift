import Container
import Core
import Support
import Testing

@Suite struct OutputCheckTests {
    private let size = PixelSize(width: 48, height: 32)

    private func refusal(
        _ bytes: [UInt8], kept: [Removable] = [], _ policy: MetadataPolicy = MetadataPolicy()
    ) -> String? {
        do {
            try OutputCheck.verify(bytes.span, size: size, kept: kept, policy: policy)
            return nil
        } catch {
            #expect(error.code == .selfCheckFailed)
            return error.detail
        }
    }

    @Test(
        arguments: [
            JPEGShape.file(), JPEGShape.file(first: []),
            JPEGShape.file(
                JPEGShape.icc(1, of: 2, Array(JPEGShape.profile.prefix(70)))
                    + JPEGShape.icc(2, of: 2, Array(JPEGShape.profile.dropFirst(70)))),
            JPEGShape.file(JPEGShape.dri, scan: JPEGShape.restartedData), JPEGShape.file(frame: JPEGShape.frame(0xC1)),
            JPEGShape.file(tables: JPEGShape.ac + JPEGShape.dc),
            JPEGShape.file(frame: JPEGShape.frame(ids: [1]), ids: [1]),
            JPEGShape.progressive(),
            // Twice the same, and both are used.
            JPEGShape.progressive(
                between: JPEGShape.ac + JPEGShape.scanHeader(ids: [2], spectral: [1, 63, 0]) + [2]),
        ])
    func passes(file: [UInt8]) {
        #expect(refusal(file) == nil)
    }

    /// Each is a good picture with one fault; the words of the refusal name it.
    @Test(
        arguments: [
            ("FFE1", JPEGShape.file(JPEGShape.segment(0xE1, "Exif\0\0", [1]))),
            ("FFE1", JPEGShape.file(JPEGShape.segment(0xE1, "http://ns.adobe.com/xap/1.0/\0x"))),
            ("FFED", JPEGShape.file(JPEGShape.segment(0xED, "Photoshop 3.0\0"))),
            ("FFE2", JPEGShape.file(JPEGShape.segment(0xE2, "MPF\0"))),
            ("FFE0", JPEGShape.file(JPEGShape.jfif)),
            ("FFE0", JPEGShape.file(first: JPEGShape.segment(0xE0, "JFXX\0", [0x13, 1, 1, 0, 0, 0]))),
            ("FFE0", JPEGShape.file(first: JPEGShape.segment(0xE0, "JFIF\0", [1, 1, 0, 0, 1, 0, 1, 1, 1, 9, 9, 9]))),
            ("FFE0", JPEGShape.file(first: JPEGShape.segment(0xE0, "JFIF\0", [1, 1, 0, 0, 1, 0, 1, 0, 1]))),
            ("FFE0", JPEGShape.file(first: JPEGShape.segment(0xE0, "JFIF\0", [1, 1, 0, 0, 1, 0, 1, 0, 0, 0x41]))),
            ("FFEE", JPEGShape.file(JPEGShape.adobe(1))),
            ("FFEE", JPEGShape.file(JPEGShape.segment(0xEE, "Ducky", [0, 100, 0, 0, 0, 0, 1]))),
            ("FFFE", JPEGShape.file(JPEGShape.segment(0xFE, "hello"))),
            ("FFE5", JPEGShape.file(JPEGShape.segment(0xE5, "x"))),
            ("FFE0", JPEGShape.file(first: [], frame: JPEGShape.frame() + JPEGShape.jfif)),
            ("FFE2", JPEGShape.file(scan: [1] + JPEGShape.icc(1, of: 1, [1]))),
            ("FFDC", JPEGShape.file(scan: [1] + JPEGShape.segment(0xDC, [0, 32]))),
            ("FFCC", JPEGShape.file(JPEGShape.segment(0xCC, [0, 0]))),
            ("more than colours", JPEGShape.file(JPEGShape.icc(1, of: 1, JPEGShape.profile + [0]))),
            ("scan header", JPEGShape.file(spectral: [0x4A, 0x61, 0x6E])),
            ("more than colours", JPEGShape.file(JPEGShape.icc(1, of: 1, [1, 2, 3]))),
            ("incomplete ICC", JPEGShape.file(JPEGShape.icc(1, of: 2, [1]))),
            ("bytes after EOI", JPEGShape.file(appended: [0])),
            ("bytes after EOI", JPEGShape.file(appended: JPEGShape.eoi)),
            ("bytes after EOI", JPEGShape.file(appended: JPEGShape.file())),
            ("no EOI", Array(JPEGShape.file().dropLast(2))), ("fill bytes", Array(JPEGShape.file().dropLast())),
            ("no SOI", Array(JPEGShape.file().dropFirst(2))), ("no SOI", [0] + JPEGShape.file()), ("no EOI", []),
            ("FFD8", JPEGShape.file(JPEGShape.soi)), ("FFD9", JPEGShape.soi + JPEGShape.eoi),
            ("no scan", JPEGShape.soi + JPEGShape.frame() + JPEGShape.eoi),
            ("quantization table 0", JPEGShape.soi + JPEGShape.dht + JPEGShape.frame() + JPEGShape.scanHeader()),
            ("Huffman table 0 of class 0", JPEGShape.soi + JPEGShape.dqt + JPEGShape.frame() + JPEGShape.scanHeader()),
            ("a scan before", JPEGShape.soi + JPEGShape.scanHeader() + [1] + JPEGShape.eoi),
            ("second frame", JPEGShape.file(JPEGShape.frame())),
            ("arithmetic", JPEGShape.file(frame: JPEGShape.frame(0xC9))),
            ("lossless", JPEGShape.file(frame: JPEGShape.frame(0xC3))),
            ("12 bits", JPEGShape.file(frame: JPEGShape.frame(0xC1, precision: 12))),
            ("4 components", JPEGShape.file(frame: JPEGShape.frame(ids: [1, 2, 3, 4]), ids: [1, 2, 3, 4])),
            ("48x31", JPEGShape.file(frame: JPEGShape.frame(height: 31))),
            ("32x48", JPEGShape.file(frame: JPEGShape.frame(width: 32, height: 48))),
            ("fill bytes", JPEGShape.file([0xFF])), ("fill bytes", JPEGShape.file(scan: [1, 0xFF])),
            ("fill bytes", JPEGShape.file(scan: [1, 0xFF, 0xFF, 0x00, 2])),
            ("bytes between", JPEGShape.file([0x41])), ("bytes between", JPEGShape.file([0xFF, 0x00])),
            ("FFD0", JPEGShape.file([0xFF, 0xD0])), ("FF01", JPEGShape.file([0xFF, 0x01])),
            ("FF02", JPEGShape.file(scan: [1, 0xFF, 0x02, 2])), ("FFF7", JPEGShape.file([0xFF, 0xF7, 0, 2])),
            ("FFDB", JPEGShape.file(JPEGShape.segment(0xDB, [0] + Array(repeating: 1, count: 65)))),
            ("FFC4", JPEGShape.file(JPEGShape.segment(0xC4, [0] + Array(repeating: 0, count: 16) + [0x41]))),
            ("FFDD", JPEGShape.file(JPEGShape.segment(0xDD, [0, 1, 0x41]))),
            ("scan header", JPEGShape.file(scan: [1] + JPEGShape.segment(0xDA, [1, 1, 0, 0, 63, 0, 0x41]))),
            ("does not have", JPEGShape.file(scan: [1] + JPEGShape.scanHeader(ids: [7]))),
            ("ends at byte", JPEGShape.soi + JPEGShape.jfif.dropLast()),
        ] as [(String, [UInt8])])
    func refuses(words: String, file: [UInt8]) {
        let detail = refusal(file)
        #expect(detail?.contains(words) == true, "\(detail ?? "passed")")
    }

    private static let text = "48.8584 N, 2.2945 E "
    private static let acScan = JPEGShape.ac + JPEGShape.scanHeader(ids: [2], spectral: [1, 63, 0]) + [2]

    /// Tables may hold any text: none passes that does not make the picture.
    @Test(
        arguments: [
            // Never used, in segments of their own and beside such as are.
            ("no scan uses", JPEGShape.file(JPEGShape.dqt(3, text))),
            ("no scan uses", JPEGShape.file(JPEGShape.dht(0x13, text))),
            ("no scan uses", JPEGShape.file(tables: JPEGShape.dht + JPEGShape.dht(2, text))),
            (
                "no scan uses",
                JPEGShape.file(
                    frame: JPEGShape.segment(0xDB, JPEGShape.dqt.dropFirst(4) + JPEGShape.quantization(1, text))
                        + JPEGShape.frame())
            ),
            (
                "no scan uses",
                JPEGShape.file(
                    tables: JPEGShape.segment(0xC4, JPEGShape.dht.dropFirst(4) + JPEGShape.huffman(1, text)))
            ),
            // Replaced before they are used.
            ("FFDB that no scan uses", JPEGShape.file(JPEGShape.dqt(0, text))),
            ("FFC4 that no scan uses", JPEGShape.file(JPEGShape.dht(0, text))),
            ("FFDD that no scan uses", JPEGShape.file(JPEGShape.segment(0xDD, [0x41, 0x42]) + JPEGShape.dri)),
            (
                "FFC4 that no scan uses",
                JPEGShape.file(tables: JPEGShape.segment(0xC4, JPEGShape.huffman(0, text) + JPEGShape.dht.dropFirst(4)))
            ),
            // A progressive scan uses tables of one class; a component has one quantization table.
            (
                "FFC4 that no scan uses",
                JPEGShape.file(frame: JPEGShape.frame(0xC2), spectral: [0, 0, 0], scan: [1] + acScan)
            ),
            ("no scan uses", JPEGShape.progressive(between: JPEGShape.dht(0, text))),
            ("no scan uses", JPEGShape.progressive(between: JPEGShape.dqt(0, text))),
            // Behind the last scan.
            ("last scan and EOI", JPEGShape.file(scan: [1] + JPEGShape.dqt(0, text))),
            ("last scan and EOI", JPEGShape.file(scan: [1] + JPEGShape.dht(0, text))),
            ("last scan and EOI", JPEGShape.file(scan: [1] + JPEGShape.dri)),
            ("FFFE", JPEGShape.file(scan: [1] + JPEGShape.segment(0xFE, text))),
            ("FFE1", JPEGShape.file(scan: [1] + JPEGShape.segment(0xE1, text))),
            // A text is known by the symbols that it repeats.
            ("no scan uses", JPEGShape.file(tables: JPEGShape.dc + JPEGShape.dht(0x10, text))),
            // Intervals as long as the scan, and markers that no interval asks for.
            ("no scan uses", JPEGShape.file(JPEGShape.segment(0xDD, [0x41, 0x42]))),
            ("no scan uses", JPEGShape.file(JPEGShape.segment(0xDD, [0, 24]))),
            ("restart markers", JPEGShape.file(JPEGShape.segment(0xDD, [0, 23]))),
            ("restart markers", JPEGShape.file(scan: JPEGShape.restartedData)),
            ("restart markers", JPEGShape.file(JPEGShape.dri, scan: JPEGShape.restartedData + [0xFF, 0xD1])),
            ("restart markers", JPEGShape.file(JPEGShape.dri, scan: [1, 0xFF, 0xD1, 2])),
            ("restart markers", JPEGShape.progressive(first: JPEGShape.restartedData)),
            ("restart markers", JPEGShape.progressive(last: [1] + [0xFF, 0xD0, 0xFF, 0xD1])),
        ] as [(String, [UInt8])])
    func refusesWhatMakesNoPicture(words: String, file: [UInt8]) {
        let detail = refusal(file)
        #expect(detail?.contains(words) == true, "\(detail ?? "passed")")
    }

    private func block(gps: Bool = false, serial: Bool = false) -> [UInt8] {
        var block = TIFFBuilder()
        block.isBigEndian = true
        block.ifd0 = [(0x0112, .short(1))]
        block.exif = [
            (0x9000, .undefined(Array("0300".utf8))), (0xA001, .short(1)), (0xA002, .long(48)), (0xA003, .long(32)),
        ]
        if serial { block.exif.append((0xA431, .ascii("SN1"))) }
        if gps {
            block.gps = [
                (0, .bytes([2, 4, 0, 0])), (1, .ascii("N")), (2, .rational([(48, 1), (51, 1), (30, 1)])),
                (3, .ascii("E")), (4, .rational([(2, 1), (17, 1), (40, 1)])),
            ]
        }
        return block.app1
    }

    /// One block, where it was asked for, holding what is said to be kept.
    @Test func holdsEXIFToThePolicy() {
        let keep = MetadataPolicy(exif: .keep)
        let both = MetadataPolicy(exif: .keep, gps: .keep)
        let plain = JPEGShape.file()
        let tagged = JPEGShape.file(block())
        let placed = JPEGShape.file(block(gps: true))
        #expect(refusal(tagged, kept: [.exif], keep) == nil)
        #expect(refusal(tagged, kept: [.exif], both) == nil)
        #expect(refusal(placed, kept: [.exif, .gps], both) == nil)
        #expect(refusal(plain, keep) == nil)
        let wrong: [(String, String?)] = [
            ("EXIF in the segment FFE1", refusal(tagged)), ("EXIF in the segment FFE1", refusal(tagged, both)),
            ("exif that is kept unasked", refusal(tagged, kept: [.exif])),
            ("gps that is kept unasked", refusal(placed, kept: [.exif, .gps], keep)),
            ("makernote that is kept", refusal(tagged, kept: [.exif, .makernote], keep)),
            ("0x8825 of image is not allowed", refusal(placed, kept: [.exif], both)),
            ("no place", refusal(tagged, kept: [.exif, .gps], both)),
            ("no EXIF", refusal(plain, kept: [.exif], keep)),
            (
                "too precise",
                refusal(placed, kept: [.exif, .gps], MetadataPolicy(exif: .keep, gps: .keep, gpsPrecision: .city))
            ),
            ("0xA431", refusal(JPEGShape.file(block(serial: true)), kept: [.exif], keep)),
            ("FFE1", refusal(JPEGShape.file(block() + block()), kept: [.exif], keep)),
            (
                "FFE1",
                refusal(
                    JPEGShape.file(block() + JPEGShape.segment(0xE1, "http://ns.adobe.com/xap/1.0/\0x")), kept: [.exif],
                    keep)
            ),
            ("FFE1", refusal(JPEGShape.file(frame: JPEGShape.frame() + block()), kept: [.exif], keep)),
            ("bytes after EOI", refusal(tagged + [0], kept: [.exif], keep)),
        ]
        for (words, detail) in wrong { #expect(detail?.contains(words) == true, "\(words): \(detail ?? "passed")") }
    }

    @Test func boundsTheScans() {
        let scan = JPEGShape.scanHeader(spectral: [0, 0, 0]) + [1]
        let scans = { Array(repeating: scan, count: $0).flatMap(\.self) }
        let head = JPEGShape.soi + JPEGShape.dqt + JPEGShape.dc + JPEGShape.frame(0xC2)
        #expect(refusal(head + scans(100) + JPEGShape.eoi) == nil)
        #expect(refusal(head + scans(101) + JPEGShape.eoi) != nil)
    }

    /// Nothing but the whole file passes.
    @Test func refusesEveryPrefix() {
        let file = JPEGShape.file(JPEGShape.icc(1, of: 1, JPEGShape.profile))
        for count in file.indices { #expect(refusal(Array(file.prefix(count))) != nil, "\(count)") }
    }

    /// Rows of MCUs have other numbers of them in each scan of a progressive picture.
    @Test(
        arguments: [
            [], ["-progressive"], ["-grayscale"], ["-restart", "1B"], ["-restart", "1"], ["-sample", "2x1"],
            ["-progressive", "-restart", "1"], ["-progressive", "-restart", "1B"], ["-progressive", "-grayscale"],
            ["-progressive", "-restart", "7B"],
        ])
    func passesWhatLibjpegWrites(options: [String]) throws {
        let ppm = Array("P6 48 32 255\n".utf8) + TestPattern(48, 32).rgbBytes
        #expect(refusal(try Tool.run(["cjpeg"] + options, input: ppm).output) == nil)
    }

    @Test func refusesWhatExiftoolPutsIn() throws {
        let ppm = Array("P6 48 32 255\n".utf8) + TestPattern(48, 32).rgbBytes
        let plain = try Tool.run(["cjpeg"], input: ppm).output
        for tag in ["-GPSLatitude=48.5", "-Comment=x", "-XMP:Creator=x", "-IPTC:City=x", "-JFIF:XResolution=72"] {
            let tagged = try Tool.run(["exiftool", tag, "-"], input: plain).output
            #expect(!tagged.isEmpty)
            // The resolution is part of JFIF and tells nothing of anyone.
            #expect((refusal(tagged) == nil) == tag.hasPrefix("-JFIF"), "\(tag)")
        }
    }
}
