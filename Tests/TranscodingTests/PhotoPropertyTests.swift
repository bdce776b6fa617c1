import Core
import Support
import Testing

/// Random sizes, turns, layouts and options; each from its seed, so that a failure can be repeated. What is encoded again
/// from a JPEG stands in `PhotoOptionsTests`.
@Suite struct PhotoPropertyTests {
    private struct Chance {
        private var generator: SplitMix64

        init(seed: UInt64) { generator = SplitMix64(seed: seed) }

        mutating func below(_ bound: Int) -> Int { .random(in: 0..<bound, using: &generator) }

        mutating func one<Value>(of values: [Value]) -> Value { values[below(values.count)] }
    }

    /// heif-dec decodes and turns, Pillow crops and scales.
    @Test(arguments: 0..<24 as Range<UInt64>) func anyHEICIsAsOtherToolsMakeIt(seed: UInt64) throws {
        var chance = Chance(seed: seed)
        var picture = HEICPicture(64 + chance.below(200), 64 + chance.below(200))
        picture.orientation = chance.one(of: Array(Orientation.allCases))
        picture.chroma = chance.one(of: [.s420, .s422, .s444])
        if chance.below(2) == 0 { picture.tile = PixelSize(width: 64, height: 64) }
        let display = picture.size.applying(picture.orientation)
        let (x, y) = (chance.below(display.width), chance.below(display.height))
        let crop = PixelRectangle(
            x: x, y: y, width: 1 + chance.below(display.width - x), height: 1 + chance.below(display.height - y))
        let width = 1 + chance.below(200)
        let size = OutputGeometry.fitting(crop.size, maxWidth: width, maxHeight: nil)
        let heic = try picture.make()
        let done = try Transcoded(
            heic,
            [
                ("crop", "\(crop.x),\(crop.y),\(crop.width),\(crop.height)"), ("max_width", "\(width)"),
                ("quality", "95"), ("progressive", chance.one(of: ["true", "false"])),
            ])
        #expect(done.report.size == size)
        let folder = try ScratchFolder()
        let decoded = try Tool.run(["heif-dec", try folder.file("a.heic", heic), folder.path + "/a.png"])
        #expect(decoded.status == 0)
        let expected = try JPEGPictures.python(
            """
            import io, sys
            from PIL import Image
            picture = Image.open(io.BytesIO(sys.stdin.buffer.read())).convert("RGB")
            picture = picture.crop((\(crop.x), \(crop.y), \(crop.x + crop.width), \(crop.y + crop.height)))
            picture = picture.resize((\(size.width), \(size.height)), Image.Resampling.LANCZOS)
            sys.stdout.buffer.write(picture.tobytes())
            """, input: try folder.read("a.png"))
        let psnr = JPEGPictures.psnr(try JPEGPictures.rgb(done.jpeg), expected)
        // A picture of few pixels is nearly all edge.
        #expect(psnr > (min(size.width, size.height) < 8 ? 24 : 30), "\(psnr) dB")
    }

    /// jpegtran turns, then crops what it has turned: where it can do both perfectly, so do we, to every coefficient; and
    /// where it cannot the picture is encoded again.
    @Test(arguments: 0..<48 as Range<UInt64>) func whatIsMovedIsAsJpegtranMovesIt(seed: UInt64) throws {
        var chance = Chance(seed: seed)
        let options = chance.one(of: [["-sample", "2x2"], ["-sample", "2x1"], ["-sample", "1x1"], ["-grayscale"]])
        let turn = chance.one(of: PhotoOptionsTests.turns)
        // Whole MCUs two times in three.
        let step = chance.one(of: [1, 16, 16])
        let (width, height) = (step + step * chance.below(160 / step), step + step * chance.below(160 / step))
        let source = try JPEGPictures.cjpeg(width, height, options)
        let moved = try Tool.run(["jpegtran", "-perfect", "-copy", "none"] + turn.1, input: source)
        let photo = inserting(JPEGPictures.exif(orientation: turn.0.rawValue), into: source)
        let whole = try Transcoded(photo)
        // What a quarter turn makes of 4:2:2 is 4:4:0, which not every reader reads.
        let isRare = options.last == "2x1" && turn.0.swapsAxes
        guard moved.status == 0, !isRare else {
            #expect(whole.report.path == .reencode)
            return
        }
        #expect(whole.report.path == (turn.0 == .upright ? .copy : .lossless))
        #expect(try JPEGPictures.planes(whole.jpeg) == JPEGPictures.planes(moved.output))
        let size = whole.report.size
        guard size.width > 16, size.height > 16 else { return }
        let (x, y) = (16 * chance.below(size.width / 16), 16 * chance.below(size.height / 16))
        let part = (width: size.width - x, height: size.height - y)
        let cropped = try JPEGPictures.output(
            ["jpegtran", "-copy", "none", "-crop", "\(part.width)x\(part.height)+\(x)+\(y)"], input: moved.output)
        let done = try Transcoded(photo, [("crop", "\(x),\(y),\(part.width),\(part.height)")])
        #expect(done.report.path != .reencode)
        #expect(try JPEGPictures.planes(done.jpeg) == JPEGPictures.planes(cropped))
    }

    /// The highest quality is found that an exhaustive search finds, and no budget is exceeded.
    @Test(arguments: 0..<12 as Range<UInt64>) func aBudgetIsSpentOnTheHighestQuality(seed: UInt64) throws {
        var chance = Chance(seed: seed)
        var picture = HEICPicture(96 + chance.below(100), 96 + chance.below(100))
        picture.isTextured = chance.below(2) == 0
        let heic = try picture.make()
        let sizes = try (60...90).map { try Transcoded(heic, quality: $0).jpeg.count }
        let budget = sizes[0] + chance.below(max(1, sizes[30] - sizes[0]))
        let done = try Transcoded(heic, [("max_bytes", "\(budget)")])
        #expect(done.jpeg.count <= budget)
        #expect(done.report.quality == 60 + (sizes.lastIndex { $0 <= budget } ?? 0))
    }
}
