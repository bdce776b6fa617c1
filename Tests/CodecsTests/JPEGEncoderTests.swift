import Codecs
import Core
import Glibc
import Support
import Testing

@Suite struct JPEGEncoderTests {
    /// TurboJPEG's numbers for the layouts that it knows.
    static let layouts: [(PlaneLayout, Int)] = [
        (.ycbcr(.s444), 0), (.ycbcr(.s422), 1), (.ycbcr(.s420), 2), (.grey, 3), (.ycbcr(.s440), 4), (.ycbcr(.s411), 5),
    ]

    /// TurboJPEG encodes the same planes: odd sizes must be filled up at the edges in the same way. jpegtran writes the
    /// coefficients by annex K's tables again, as TurboJPEG does; a progressive picture has its own tables by both.
    @Test(arguments: layouts, JPEGSourceTests.sizes)
    func coefficientsAreThoseOfTurboJPEG(layout: (PlaneLayout, Int), size: PixelSize) throws {
        let picture = texture(size, layout.0)
        let codings = [(85, false), (100, false), (60, false), (1, false), (60, true)].map {
            JPEGPictures.Coding(quality: $0.0, isProgressive: $0.1)
        }
        let expected = try JPEGPictures.turboJPEG(planes: picture.joined, size, sampling: layout.1, codings)
        for (index, coding) in codings.enumerated() {
            let jpeg = try encode(
                picture, bandRows: 16, quality: coding.quality, progressive: coding.isProgressive)
            let plain = coding.isProgressive ? jpeg : try JPEGPictures.output(["jpegtran"], input: jpeg)
            #expect(same(plain, expected[index]), "\(coding)")
        }
    }

    /// Each of the tables has a code for every symbol that 8-bit samples can need (T.81, F.1.2), and none of all ones.
    @Test(arguments: [1, 60, 77, 78, 90, 100]) func tablesAreComplete(quality: Int) throws {
        let jpeg = try encode(texture(PixelSize(width: 8, height: 8), .ycbcr(.s420)), bandRows: 8, quality: quality)
        let alternating = Set([0x00, 0xF0] + (0..<16).flatMap { run in (1...10).map { run << 4 | $0 } })
        var found: Set<UInt8> = []
        for at in jpeg.indices.dropLast() where jpeg[at] == 0xFF && jpeg[at + 1] == 0xC4 {
            let name = jpeg[at + 4]
            let counts = jpeg[(at + 5)..<(at + 21)].map(Int.init)
            let symbols = jpeg[(at + 21)..<(at + 21 + counts.reduce(0, +))].map(Int.init)
            #expect(symbols.count == (name < 0x10 ? 12 : 162))
            #expect(Set(symbols) == (name < 0x10 ? Set(0..<12) : alternating))
            let room = counts.enumerated().reduce(0) { $0 + $1.element << (15 - $1.offset) }
            #expect(room < 1 << 16)
            found.insert(name)
        }
        #expect(found == [0x00, 0x01, 0x10, 0x11])
    }

    @Test(arguments: [PlaneLayout.grey, .ycbcr(.s444), .ycbcr(.s420), .ycbcr(.s410), .ycbcr(.s441)])
    func bandsOfAnyHeightGiveTheSameBytes(layout: PlaneLayout) throws {
        var step = 1
        if case .ycbcr(let subsampling) = layout { step = subsampling.vertical }
        for size in [PixelSize(width: 40, height: 71), PixelSize(width: 33, height: 64)] {
            let picture = texture(size, layout)
            let whole = try encode(picture, bandRows: 80)
            for rows in stride(from: step, through: 72, by: step) {
                #expect(same(try encode(picture, bandRows: rows), whole), "\(rows) rows")
            }
        }
    }

    @Test(arguments: [ChromaSubsampling.s410, .s441]) func uncommonSubsamplingComesBack(
        _ subsampling: ChromaSubsampling
    ) throws {
        let picture = texture(PixelSize(width: 50, height: 70), .ycbcr(subsampling))
        let back = try decode(encode(picture, bandRows: 16, quality: 98)).picture
        #expect(back.format == picture.format)
        #expect(JPEGPictures.psnr(back.joined, picture.joined) > 38)
    }

    @Test(arguments: [100, 65_519, 65_520, 200_000]) func profileIsEmbedded(count: Int) throws {
        let profile = JPEGPictures.textured(count / 3 + 1, 1).prefix(count)
        let jpeg = try encode(texture(PixelSize(width: 8, height: 8), .grey), bandRows: 8, icc: Array(profile))
        let found = try JPEGPictures.python(
            """
            import io, sys
            from PIL import Image
            sys.stdout.buffer.write(Image.open(io.BytesIO(sys.stdin.buffer.read())).info["icc_profile"])
            """, input: jpeg)
        #expect(same(found, Array(profile)))
    }

    @Test func writesJFIFAndNothingElse() throws {
        let jpeg = try encode(texture(PixelSize(width: 8, height: 8), .ycbcr(.s420)), bandRows: 8)
        #expect(JPEGPictures.offset(of: 0xE0, in: jpeg) == 2)
        for marker in Array(UInt8(0xE1)...0xEF) + [0xFE] { #expect(JPEGPictures.offset(of: marker, in: jpeg) == nil) }
    }

    @Test func writesNoMoreThanAllowed() throws {
        let picture = texture(PixelSize(width: 640, height: 480), .ycbcr(.s420))
        let size = try encode(picture, bandRows: 16).count
        #expect(size > 64 * 1024)
        #expect(try encode(picture, bandRows: 16, outputBytesMax: size).count == size)
        #expect(try failure { _ = try encode(picture, bandRows: 16, outputBytesMax: size - 1) } == .outputLimit)
        #expect(try failure { _ = try encode(picture, bandRows: 16, outputBytesMax: 0) } == .outputLimit)
    }

    @Test func aFullDiskIsToldOf() throws {
        let picture = texture(PixelSize(width: 640, height: 480), .ycbcr(.s420))
        let output = open("/dev/full", O_WRONLY)
        defer { close(output) }
        var source = PlanesSource(picture.format, picture.planes, bandRows: 16)
        let kind = try failure {
            var encoder = try JPEGEncoder.starting(
                format: picture.format, quality: 90, progressive: false, icc: nil, output: output,
                outputBytesMax: .max)
            while let band = source.nextBand() { try encoder.write(band) }
            _ = try encoder.finish()
        }
        #expect(kind == .output)
    }

    @Test func tooLargeForJPEGIsRefused() throws {
        let format = PictureFormat(
            size: PixelSize(width: 65501, height: 1), layout: .grey, depth: 8, colour: .jfif)
        let kind = try failure {
            _ = try JPEGEncoder.starting(
                format: format, quality: 90, progressive: false, icc: nil, output: 1, outputBytesMax: .max)
        }
        #expect(kind == .unsupported)
    }
}
