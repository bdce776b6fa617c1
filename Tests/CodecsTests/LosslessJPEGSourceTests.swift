import Codecs
import Core
import Support
import Testing

@Suite struct LosslessJPEGSourceTests {
    static let sizes = [
        PixelSize(width: 1, height: 1), PixelSize(width: 3, height: 1), PixelSize(width: 1, height: 5),
        PixelSize(width: 17, height: 33), PixelSize(width: 40, height: 16),
    ]

    private func decode(_ jpeg: [UInt8], isRGB: Bool = true) throws -> (picture: WholePicture, isIrregular: Bool) {
        try jpeg.withUnsafeBytes { bytes in
            var source = try LosslessJPEGSource.opening(bytes, isRGB: isRGB)
            let picture = try collect(&source)
            return (picture, source.isIrregular)
        }
    }

    private func planes(_ size: PixelSize, _ count: Int) -> [[UInt8]] {
        Array(texture(size, count == 1 ? .grey : .rgb).planes.prefix(count))
    }

    @Test(arguments: 1...7, sizes) func everyPredictorIsUndone(predictor: Int, size: PixelSize) throws {
        for count in [1, 3] {
            for isInterleaved in [true, false] {
                let coding = LosslessCoding(predictor: predictor, isInterleaved: isInterleaved)
                let planes = planes(size, count)
                let (picture, isIrregular) = try decode(coding.jpeg(planes, size))
                #expect(picture.format.size == size)
                #expect(picture.format.layout == (count == 1 ? .grey : .rgb))
                #expect(picture.planes == planes)
                #expect(!isIrregular)
            }
        }
    }

    @Test(arguments: 1...7, 1...7) func theLowBitsMayBeCutOff(predictor: Int, cut: Int) throws {
        let size = PixelSize(width: 21, height: 19)
        let planes = planes(size, 3)
        let coding = LosslessCoding(predictor: predictor, pointTransform: cut)
        #expect(try decode(coding.jpeg(planes, size)).picture.planes == planes.map { $0.map { ($0 >> cut) << cut } })
    }

    @Test(arguments: [1, 2, 7, 50]) func restartsBeginAnew(rows: Int) throws {
        let size = PixelSize(width: 23, height: 40)
        let planes = planes(size, 3)
        for isInterleaved in [true, false] {
            let coding = LosslessCoding(predictor: 4, rowsPerRestart: rows, isInterleaved: isInterleaved)
            #expect(try decode(coding.jpeg(planes, size)).picture.planes == planes)
        }
    }

    @Test func codesOfAllLengthsAreRead() throws {
        let size = PixelSize(width: 30, height: 30)
        for codeBits in [4, 9, 11, 16] {
            let coding = LosslessCoding(predictor: 7, codeBits: codeBits)
            #expect(try decode(coding.jpeg(planes(size, 3), size)).picture.planes == planes(size, 3))
        }
    }

    @Test func ycbcrIsToldByTheCaller() throws {
        let size = PixelSize(width: 8, height: 8)
        let picture = try decode(LosslessCoding().jpeg(planes(size, 3), size), isRGB: false).picture
        #expect(picture.format == PictureFormat(size: size, layout: .ycbcr(.s444), depth: 8, colour: .jfif))
    }

    @Test func cutFilesFail() throws {
        let size = PixelSize(width: 64, height: 48)
        for coding in [LosslessCoding(), LosslessCoding(rowsPerRestart: 8), LosslessCoding(isInterleaved: false)] {
            let jpeg = coding.jpeg(planes(size, 3), size)
            for tenth in 0..<10 {
                let cut = Array(jpeg[..<(jpeg.count * tenth / 10)])
                #expect(try failure { _ = try decode(cut) } == .truncated, "\(tenth) tenths")
                #expect(try failure { _ = try decode(cut + [0xFF, 0xD9]) } != nil, "\(tenth) tenths, then EOI")
            }
        }
    }

    @Test func paddingIsToldOfAndDataLeftOverFail() throws {
        let size = PixelSize(width: 8, height: 8)
        let jpeg = LosslessCoding().jpeg(planes(size, 1), size)
        let (picture, isIrregular) = try decode(Array(jpeg.dropLast(2)) + [0, 0] + [0xFF, 0xD9])
        #expect(picture.planes == planes(size, 1))
        #expect(isIrregular)
        let longer = Array(jpeg.dropLast(2)) + [0x55, 0x55] + [0xFF, 0xD9]
        #expect(try failure { _ = try decode(longer) } == .corrupt)
    }

    @Test func unlawfulPicturesFail() throws {
        let size = PixelSize(width: 8, height: 8)
        let good = LosslessCoding().jpeg(planes(size, 1), size)
        let frame = try #require(JPEGPictures.offset(of: 0xC3, in: good))
        let data = try JPEGPictures.dataOffset(good)
        // (place, value, kind): depth 12; predictors 0 and 8; an end of band; a cut of 8 bits.
        for (place, value, kind) in [
            (frame + 4, 12, CodecError.Kind.unsupported), (data - 3, 0, .corrupt), (data - 3, 8, .corrupt),
            (data - 2, 63, .corrupt), (data - 1, 8, .corrupt),
        ] {
            var bad = good
            bad[place] = UInt8(value)
            #expect(try failure { _ = try decode(bad) } == kind, "\(place - data)")
        }
        let interval = JPEGPictures.segment(0xDD, [0, 9])
        #expect(try failure { _ = try decode(Array(good[..<2]) + interval + good[2...]) } == .corrupt)
        var subsampled = LosslessCoding().jpeg(planes(size, 3), size)
        subsampled[frame + 11] = 0x21
        #expect(try failure { _ = try decode(subsampled) } == .unsupported)
        #expect(try failure { _ = try decode(JPEGPictures.cjpeg(8, 8, [])) } == .unsupported)
    }

    /// The first sample is predicted as 128: +127 is the most that may follow.
    @Test(arguments: [(127, nil), (128, .corrupt), (-128, nil), (-129, .corrupt)] as [(Int, CodecError.Kind?)])
    func samplesStayInRange(difference: Int, expected: CodecError.Kind?) throws {
        let size = PixelSize(width: 1, height: 1)
        let jpeg = LosslessCoding().jpeg(differences: [difference], size)
        #expect(try failure { _ = try decode(jpeg) } == expected)
    }

    @Test func damageNeverCrashes() throws {
        let size = PixelSize(width: 40, height: 30)
        let jpeg = LosslessCoding(rowsPerRestart: 4).jpeg(planes(size, 3), size)
        var random = SplitMix64(seed: 5)
        var failures = 0
        for _ in 0..<500 {
            var damaged = jpeg
            damaged[.random(in: 0..<jpeg.count, using: &random)] = random.next()
            if try failure({ _ = try decode(damaged) }) != nil { failures += 1 }
        }
        #expect(failures > 0)
    }
}

/// Writes lossless JPEGs by T.81, annex H, straight from its equations.
struct LosslessCoding {
    var predictor = 1
    var pointTransform = 0
    var rowsPerRestart = 0
    var isInterleaved = true
    /// Every code has this length.
    var codeBits = 4

    func jpeg(_ planes: [[UInt8]], _ size: PixelSize) -> [UInt8] {
        let parts = planes.indices.map { [$0] }
        let scans = isInterleaved ? [Array(planes.indices)] : parts
        return head(planes.count, size)
            + scans.flatMap { components in
                scanHeader(components) + data(components.map { planes[$0] }, size)
            } + [0xFF, 0xD9]
    }

    /// A grey picture that consists of the given differences.
    func jpeg(differences: [Int], _ size: PixelSize) -> [UInt8] {
        var writer = BitWriter()
        for difference in differences { write(difference, to: &writer) }
        return head(1, size) + scanHeader([0]) + writer.flushed() + [0xFF, 0xD9]
    }

    private func head(_ count: Int, _ size: PixelSize) -> [UInt8] {
        let sides = [size.height, size.width].flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        let frame: [UInt8] = [8] + sides + [UInt8(count)] + (0..<UInt8(count)).flatMap { [$0 + 1, 0x11, 0] }
        // Categories 0…9 are all that differences of bytes and their predictions have.
        let table: [UInt8] = [0] + (1...16).map { $0 == codeBits ? 10 : 0 } + Array(0..<10)
        let interval = rowsPerRestart * size.width
        let restarts = interval == 0 ? [] : JPEGPictures.segment(0xDD, [UInt8(interval >> 8), UInt8(interval & 255)])
        return [0xFF, 0xD8] + JPEGPictures.segment(0xC3, frame) + JPEGPictures.segment(0xC4, table) + restarts
    }

    private func scanHeader(_ components: [Int]) -> [UInt8] {
        JPEGPictures.segment(
            0xDA,
            [UInt8(components.count)] + components.flatMap { [UInt8($0 + 1), 0] }
                + [UInt8(predictor), 0, UInt8(pointTransform)])
    }

    private func data(_ planes: [[UInt8]], _ size: PixelSize) -> [UInt8] {
        var bytes: [UInt8] = []
        var writer = BitWriter()
        var firstRow = 0
        for y in 0..<size.height {
            if rowsPerRestart > 0, y > 0, y % rowsPerRestart == 0 {
                bytes += writer.flushed() + [0xFF, 0xD0 + UInt8((y / rowsPerRestart - 1) % 8)]
                writer = BitWriter()
                firstRow = y
            }
            for x in 0..<size.width {
                for plane in planes {
                    func sample(_ x: Int, _ y: Int) -> Int { Int(plane[y * size.width + x] >> pointTransform) }
                    let prediction: Int
                    if y == firstRow {
                        prediction = x == 0 ? 1 << (8 - pointTransform - 1) : sample(x - 1, y)
                    } else if x == 0 {
                        prediction = sample(x, y - 1)
                    } else {
                        prediction = predict(sample(x - 1, y), sample(x, y - 1), sample(x - 1, y - 1))
                    }
                    write(sample(x, y) - prediction, to: &writer)
                }
            }
        }
        return bytes + writer.flushed()
    }

    /// Table H.1.
    private func predict(_ a: Int, _ b: Int, _ c: Int) -> Int {
        [a, b, c, a + b - c, a + (b - c) >> 1, b + (a - c) >> 1, (a + b) >> 1][predictor - 1]
    }

    /// Table H.2 and section F.1.2.1.1: the category's code, then the difference, less one where it is negative.
    private func write(_ difference: Int, to writer: inout BitWriter) {
        let category = Int.bitWidth - abs(difference).leadingZeroBitCount
        writer.write(category, bits: codeBits)
        writer.write(difference < 0 ? difference - 1 : difference, bits: category)
    }
}

/// Bits to bytes, with a zero stuffed after each FF (T.81, section F.1.2.3).
private struct BitWriter {
    private var bytes: [UInt8] = []
    private var pending = 0
    private var count = 0

    mutating func write(_ value: Int, bits: Int) {
        for bit in (0..<bits).reversed() {
            pending = pending << 1 | value >> bit & 1
            count += 1
            guard count == 8 else { continue }
            bytes.append(UInt8(pending))
            if pending == 0xFF { bytes.append(0) }
            (pending, count) = (0, 0)
        }
    }

    /// All bytes, the last one filled up with ones.
    func flushed() -> [UInt8] {
        var writer = self
        if count > 0 { writer.write(0xFF, bits: 8 - count) }
        return writer.bytes
    }
}
