import Core
import Support
import Testing

/// Tables, restart intervals and restart markers that no scan uses may hold any text. None of it comes through, and the
/// picture does not suffer.
@Suite struct JPEGTablesTests {
    private static let text = "SECRETPRIVATE"

    /// A picture in which the text was put.
    struct Stained: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let options: [String]
        /// Where it is upright and no more is asked for.
        let path: TranscodePath
        let stain: @Sendable ([UInt8]) throws -> [UInt8]

        init(
            _ name: String, _ path: TranscodePath, _ options: [String] = [],
            _ stain: @escaping @Sendable ([UInt8]) throws -> [UInt8]
        ) {
            testDescription = name
            self.options = options
            self.path = path
            self.stain = stain
        }
    }

    private static let dqt = JPEGShape.dqt(3, text)
    private static let dht = JPEGShape.dht(0x13, text)
    private static let restarts: [UInt8] = (0..<9).flatMap { _ in [0xFF, 0xD0, 0xFF, 0xD1, 0xFF, 0xD2] }
    private static let intervals = (0..<6).flatMap {
        JPEGShape.segment(0xDD, Array(text.utf8.dropFirst(2 * $0).prefix(2)))
    }

    static let pictures = [
        Stained("DQT", .copy) { inserting(dqt, into: $0) },
        Stained("DHT", .copy) { inserting(dht, into: $0) },
        Stained("DQT that is replaced", .copy) { inserting(JPEGShape.dqt(0, text), into: $0) },
        Stained("DHT that is replaced", .copy) { inserting(JPEGShape.dht(0, text), into: $0) },
        Stained("50 DQT", .copy) { inserting((0..<50).flatMap { _ in dqt }, into: $0) },
        Stained("50 DHT", .copy) { inserting((0..<50).flatMap { _ in dht }, into: $0) },
        Stained("a full DHT", .copy) {
            let tables = (0..<800).flatMap { _ in JPEGShape.huffman(0x13, text) }
            return inserting(JPEGShape.segment(0xC4, tables), into: $0)
        },
        Stained("DRI", .copy) { inserting(intervals + JPEGShape.segment(0xDD, [0, 0]), into: $0) },
        Stained("an interval longer than the scan", .copy) { inserting(intervals, into: $0) },
        Stained("DQT behind the scan", .copy) { $0.dropLast(2) + dqt + JPEGShape.eoi },
        Stained("DHT behind the scan", .copy) { $0.dropLast(2) + dht + JPEGShape.eoi },
        Stained("DQT behind the scans", .copy, ["-progressive"]) { $0.dropLast(2) + dqt + JPEGShape.eoi },
        Stained("DHT between scans", .copy, ["-progressive"]) { try behindAScan(dht, $0) },
        Stained("DQT between scans", .copy, ["-progressive"]) { try behindAScan(JPEGShape.dqt(0, text), $0) },
        Stained("a comment behind the scans", .lossless, ["-progressive"]) {
            $0.dropLast(2) + JPEGShape.segment(0xFE, text) + JPEGShape.eoi
        },
        Stained("DQT beside one in use", .lossless) { try beside(0xDB, JPEGShape.quantization(3, text), $0) },
        Stained("DHT beside one in use", .lossless) { try beside(0xC4, JPEGShape.huffman(0x13, text), $0) },
        Stained("RST behind the scans", .lossless, ["-progressive"]) { $0.dropLast(2) + restarts + JPEGShape.eoi },
        Stained("RST behind a scan", .lossless, ["-progressive"]) { try behindAScan(restarts, $0) },
        Stained("RST past the last interval", .lossless, ["-progressive", "-restart", "7B"]) {
            $0.dropLast(2) + restarts + JPEGShape.eoi
        },
    ]

    /// Puts bytes between the data of a scan and the table of the next.
    private static func behindAScan(_ bytes: [UInt8], _ jpeg: [UInt8]) throws -> [UInt8] {
        let tables = jpeg.indices.dropLast().filter { jpeg[$0] == 0xFF && jpeg[$0 + 1] == 0xC4 }
        let last = try #require(tables.last)
        return jpeg[..<last] + bytes + jpeg[last...]
    }

    /// Puts a table into the first segment of a kind, before what is there.
    private static func beside(_ marker: UInt8, _ table: [UInt8], _ jpeg: [UInt8]) throws -> [UInt8] {
        let start = try #require(JPEGPictures.offset(of: marker, in: jpeg))
        let end = start + 2 + Int(jpeg[start + 2]) << 8 + Int(jpeg[start + 3])
        return jpeg[..<start] + JPEGShape.segment(marker, table + jpeg[(start + 4)..<end]) + jpeg[end...]
    }

    private func tellsNothing(_ jpeg: [UInt8]) -> Bool {
        // A part of it as well: an interval holds two letters, and each is a piece.
        !String(decoding: jpeg, as: UTF8.self).contains("SECRET")
            && !jpeg.indices.dropLast(5).contains { jpeg[$0...].starts(with: JPEGShape.segment(0xDD, "SE")) }
    }

    @Test(arguments: pictures) func uprightPicturesAreClean(picture: Stained) throws {
        let clean = try JPEGPictures.cjpeg(64, 48, picture.options)
        let source = try picture.stain(clean)
        #expect(!tellsNothing(source) || picture.testDescription.hasPrefix("RST"))
        let done = try Transcoded(source)
        #expect(done.report.path == picture.path)
        #expect(tellsNothing(done.jpeg))
        #expect(try JPEGPictures.planes(done.jpeg) == JPEGPictures.planes(clean))
        #expect(try Transcoded.inspected(source).path == .copy || picture.path == .lossless)
        if picture.path == .copy {
            #expect(try done.jpeg.count <= Transcoded(clean).jpeg.count)
        }
    }

    @Test(arguments: pictures) func turnedAndRecodedPicturesAreClean(picture: Stained) throws {
        let clean = try JPEGPictures.cjpeg(64, 48, picture.options)
        let source = try picture.stain(clean)
        let half = try JPEGPictures.output(["jpegtran", "-perfect", "-copy", "none", "-rotate", "180"], input: clean)
        let turned = try Transcoded(inserting(JPEGPictures.exif(orientation: 3), into: source))
        #expect(tellsNothing(turned.jpeg))
        // libjpeg moves no coefficients whose component has had two quantization tables.
        let isMoved = picture.testDescription != "DQT between scans"
        #expect(turned.report.path == (isMoved ? .lossless : .reencode))
        if isMoved { #expect(try JPEGPictures.planes(turned.jpeg) == JPEGPictures.planes(half)) }

        for pairs in [[("progressive", "true")], [("crop", "0,0,32,32")], [("max_width", "40")]] {
            #expect(tellsNothing(try Transcoded(source, pairs).jpeg), "\(pairs)")
        }
    }

    /// Tables of one kind are used by scan after scan, and twice the same: all of it is copied.
    @Test(arguments: [["-progressive", "-restart", "1"], ["-progressive", "-restart", "3B"], ["-progressive"]])
    func whatScansUseIsCopied(options: [String]) throws {
        let source = try JPEGPictures.cjpeg(67, 45, options)
        let done = try Transcoded(source)
        #expect(done.report.path == .copy)
        #expect(done.jpeg.suffix(source.count / 2) == source.suffix(source.count / 2))
        #expect(try JPEGPictures.planes(done.jpeg) == JPEGPictures.planes(source))
    }
}
