import Codecs
import Core
import Support
import Testing

@Suite struct JPEGLosslessTransformTests {
    static let turns: [(Orientation, [String])] = [
        (.upright, []), (.mirrored, ["-flip", "horizontal"]), (.rotated180, ["-rotate", "180"]),
        (.flipped, ["-flip", "vertical"]), (.transposed, ["-transpose"]), (.rotated90, ["-rotate", "90"]),
        (.transversed, ["-transverse"]), (.rotated270, ["-rotate", "270"]),
    ]

    @Test(arguments: turns, [["-sample", "1x1"], ["-sample", "2x2"], ["-grayscale"], ["-rgb"]])
    func bytesAreThoseOfJpegtran(turn: (Orientation, [String]), options: [String]) throws {
        let jpeg = try JPEGPictures.cjpeg(64, 48, options)
        let expected = try JPEGPictures.output(["jpegtran", "-perfect", "-copy", "none"] + turn.1, input: jpeg)
        #expect(same(try turned(jpeg, turn.0), expected))
        #expect(same(try turned(marked(jpeg), turn.0), expected), "foreign segments are left behind")
    }

    /// Restart markers, edges that are no whole MCUs, and parts of the turned picture.
    @Test(
        arguments: turns,
        [
            ["-sample", "1x1"], ["-sample", "2x2"], ["-sample", "2x2", "-restart", "3B"],
            ["-grayscale", "-restart", "1"],
        ])
    func edgesAndPartsAreThoseOfJpegtran(turn: (Orientation, [String]), options: [String]) throws {
        for (width, height) in [(96, 77), (77, 96), (93, 75), (96, 96)] {
            let jpeg = try JPEGPictures.cjpeg(width, height, options)
            let whole = try Tool.run(["jpegtran", "-perfect", "-copy", "none"] + turn.1, input: jpeg)
            guard whole.status == 0 else { continue }
            #expect(same(try turned(jpeg, turn.0), whole.output), "\(width)x\(height)")
            let part = try JPEGPictures.output(
                ["jpegtran", "-perfect", "-copy", "none", "-crop", "32x48+16+16"] + turn.1, input: jpeg)
            let crop = PixelRectangle(x: 16, y: 16, width: 32, height: 48)
            #expect(same(try turned(jpeg, turn.0, crop: crop), part), "\(width)x\(height)")
        }
    }

    @Test(arguments: turns) func progressiveStaysProgressive(turn: (Orientation, [String])) throws {
        let jpeg = try JPEGPictures.cjpeg(64, 48, ["-progressive"])
        let expected = try JPEGPictures.output(
            ["jpegtran", "-perfect", "-copy", "none", "-progressive"] + turn.1, input: jpeg)
        #expect(same(try turned(jpeg, turn.0), expected))
    }

    @Test(arguments: [["-arithmetic"], ["-arithmetic", "-progressive"]])
    func arithmeticBecomesHuffman(options: [String]) throws {
        let jpeg = try JPEGPictures.cjpeg(61, 47, options)
        let carried = try #require(try turned(jpeg, .upright))
        #expect(JPEGPictures.offset(of: options.count == 1 ? 0xC0 : 0xC2, in: carried) != nil)
        #expect(same(try JPEGPictures.planes(carried), try JPEGPictures.planes(jpeg)))
    }

    static let samplings: [(ChromaSubsampling?, [String])] = [
        (nil, ["-grayscale"]), (.s444, ["-sample", "1x1"]), (.s420, ["-sample", "2x2"]), (.s422, ["-sample", "2x1"]),
        (.s440, ["-sample", "1x2"]), (.s411, ["-sample", "4x1"]),
    ]

    @Test(arguments: samplings) func predicateIsThatOfJpegtran(sampling: (ChromaSubsampling?, [String])) throws {
        let isEven = (sampling.0?.horizontal ?? 1) == (sampling.0?.vertical ?? 1)
        for (width, height) in [(64, 24), (24, 64), (63, 32), (17, 33)] {
            let size = PixelSize(width: width, height: height)
            let jpeg = try JPEGPictures.cjpeg(width, height, sampling.1)
            for turn in Self.turns {
                let outcome = try Tool.run(["jpegtran", "-perfect"] + turn.1, input: jpeg)
                // What jpegtran would turn into an unusual subsampling is resampled here.
                let expected = outcome.status == 0 && (isEven || !turn.0.swapsAxes)
                #expect(LosslessTransform.canTurn(try prove(jpeg).frame, turn.0) == expected, "\(size) \(turn.0)")
                #expect(try (turned(jpeg, turn.0) != nil) == expected, "\(size) \(turn.0)")
            }
        }
    }

    /// Among them 4:2:2 and 4:4:0 with larger factors than these need, and so larger MCUs.
    @Test(arguments: ["4x2", "2x2,2x2,1x1", "4x1,2x1,2x1", "1x4,1x2,1x2"])
    func whatTurboJPEGHasNoNameForIsNotTurned(sampling: String) throws {
        for orientation in [Orientation.mirrored, .rotated90] {
            #expect(try turned(JPEGPictures.cjpeg(64, 64, ["-sample", sampling]), orientation) == nil)
        }
    }

    @Test func largerMCUsMustBeWhole() throws {
        for (width, isWhole) in [(64, true), (56, false)] {
            let jpeg = try JPEGPictures.cjpeg(width, 64, ["-sample", "2x1,2x1,2x1"])
            #expect(try (turned(jpeg, .mirrored) != nil) == isWhole)
        }
    }

    @Test func bodyTakesAPreamble() throws {
        for (options, takesJFIF) in [([], true), (["-grayscale"], true), (["-rgb"], false)] {
            let jpeg = try JPEGPictures.cjpeg(64, 48, options)
            let result = try jpeg.withUnsafeBytes { bytes throws -> [UInt8] in
                guard let picture = try LosslessTransform.run(bytes, orientation: .rotated90) else { return [] }
                #expect(picture.takesJFIF == takesJFIF)
                return picture.withBody { Array($0) }
            }
            let jfif = JPEGPictures.segment(0xE0, Array("JFIF\0".utf8) + [1, 1, 0, 0, 1, 0, 1, 0, 0])
            let exif = JPEGPictures.exif(orientation: 1)
            let written = [0xFF, 0xD8] + (takesJFIF ? jfif : []) + exif + result
            let plain = try JPEGPictures.output(["jpegtran", "-rotate", "90"], input: jpeg)
            #expect(same(try JPEGPictures.rgb(written), try JPEGPictures.rgb(plain)))
            #expect(try Tool.run(["exiftool", "-n", "-s3", "-Orientation", "-"], input: written).text == "1\n")
        }
    }

    @Test(arguments: [[], ["-progressive"], ["-arithmetic"]]) func cutFilesFail(options: [String]) throws {
        let jpeg = try JPEGPictures.cjpeg(64, 48, options)
        for tenth in 0..<10 {
            let cut = Array(jpeg[..<(jpeg.count * tenth / 10)])
            #expect(try failure { _ = try turned(cut, .rotated90) } == .truncated)
        }
    }

    @Test func oddHeadersDoNotFail() throws {
        var jpeg = try JPEGPictures.cjpeg(64, 48, [])
        let expected = try turned(jpeg, .rotated90)
        let data = try JPEGPictures.dataOffset(jpeg)
        jpeg[data - 2] = 0
        jpeg.insert(contentsOf: [7, 7, 7], at: 2)
        #expect(same(try turned(jpeg, .rotated90), expected))
    }

    /// Decoders read DC values that no 8-bit samples have, jpegtran writes them down, and nobody can read that. Here
    /// those of four blocks rise to 8188 in steps of 2047, which are lawful as long as the blocks keep their order.
    /// Junk before the first segment makes TurboJPEG warn first; it then calls its failure a warning too.
    @Test(arguments: [[], [7, 7, 7]]) func wideCoefficientsAreNotMoved(junk: [UInt8]) throws {
        let segment = JPEGPictures.segment
        var jpeg: [UInt8] = [0xFF, 0xD8] + junk
        jpeg += segment(0xDB, [0] + [UInt8](repeating: 1, count: 64)) + segment(0xC0, [8, 0, 32, 0, 8, 1, 1, 0x11, 0])
        for (table, symbol) in [(0x00, 11), (0x10, 0)] as [(UInt8, UInt8)] {
            jpeg += segment(0xC4, [table, 1] + [UInt8](repeating: 0, count: 15) + [symbol])
        }
        // Four times: category 11, 2047 in 11 bits, end of block; then padding.
        let data: [UInt8] = [
            0b0111_1111, 0b1111_0011, 0b1111_1111, 0, 0b1001_1111, 0b1111_1100, 0b1111_1111, 0, 0b1110_1111,
        ]
        jpeg += segment(0xDA, [1, 1, 0, 0, 63, 0]) + data + [0xFF, 0xD9]
        #expect(try Tool.run(["djpeg"], input: jpeg).complaint.contains("bytes") == !junk.isEmpty)
        let unreadable = try Tool.run(["jpegtran", "-rotate", "180"], input: jpeg).output
        #expect(try Tool.run(["djpeg"], input: unreadable).complaint.contains("bad Huffman code"))
        for orientation in [Orientation.upright, .rotated180] { #expect(try turned(jpeg, orientation) == nil) }
    }

    /// AC values of 11 bits, by a code of one: the standard tables have none for them.
    @Test func wideACValuesAreNotMoved() throws {
        let segment = JPEGPictures.segment
        var jpeg: [UInt8] = [0xFF, 0xD8] + segment(0xDB, [0] + [UInt8](repeating: 1, count: 64))
        jpeg += segment(0xC0, [8, 0, 8, 0, 8, 1, 1, 0x11, 0])
        jpeg += segment(0xC4, [0x00, 1] + [UInt8](repeating: 0, count: 15) + [0])
        jpeg += segment(0xC4, [0x10, 1, 1] + [UInt8](repeating: 0, count: 14) + [0x0B, 0])
        // DC 0; category 11 and its value 2047; end of block; padding.
        jpeg += segment(0xDA, [1, 1, 0, 0, 63, 0]) + [0b0011_1111, 0b1111_1101, 0xFF, 0xD9]
        #expect(try Tool.run(["djpeg"], input: jpeg).complaint.isEmpty)
        #expect(try turned(jpeg, .rotated180) == nil)
    }

    @Test func memoryIsBounded() throws {
        let jpeg = try JPEGPictures.cjpeg(512, 512, ["-progressive"])
        let needed = LosslessTransform.bytesNeeded(try prove(jpeg).frame, .rotated90)
        #expect(needed > 2 * 512 * 512 * 3)
        #expect(try turned(jpeg, .rotated90, bytesMax: needed - 1) == nil)
        #expect(try turned(jpeg, .rotated90, bytesMax: needed) != nil)
    }

    private func turned(
        _ jpeg: [UInt8], _ orientation: Orientation, crop: PixelRectangle? = nil, bytesMax: Int = .max
    ) throws -> [UInt8]? {
        try jpeg.withUnsafeBytes { bytes in
            let moved = try LosslessTransform.run(bytes, orientation: orientation, crop: crop, bytesMax: bytesMax)
            guard let picture = moved else { return nil }
            return picture.withBytes { Array($0) }
        }
    }

    private func marked(_ jpeg: [UInt8]) -> [UInt8] {
        let foreign = JPEGPictures.exif(orientation: 6) + JPEGPictures.segment(0xFE, Array("home".utf8))
        return Array(jpeg[..<2]) + foreign + jpeg[2...] + Array("trailer".utf8)
    }
}
