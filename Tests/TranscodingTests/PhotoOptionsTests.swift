import Core
import Support
import Testing

/// What the options ask for, held against arithmetic for sizes and against independent tools for pixels.
@Suite struct PhotoOptionsTests {
    /// A JPEG of the smooth test pattern.
    private static func jpeg(_ size: PixelSize, _ options: [String], turn: Orientation = .upright) throws -> [UInt8] {
        let pixmap =
            Array("P6\n\(size.width) \(size.height)\n255\n".utf8)
            + TestPattern(size.width, size.height).rgbBytes
        let jpeg = try JPEGPictures.output(["cjpeg", "-dct", "int", "-quality", "95"] + options, input: pixmap)
        return turn == .upright ? jpeg : inserting(JPEGPictures.exif(orientation: turn.rawValue), into: jpeg)
    }

    /// What Pillow makes of the picture: turned as its EXIF says, cropped, and scaled by its own Lanczos.
    private static func reference(_ jpeg: [UInt8], crop: PixelRectangle, to size: PixelSize) throws -> [UInt8] {
        try JPEGPictures.python(
            """
            import io, sys
            from PIL import Image, ImageOps
            picture = ImageOps.exif_transpose(Image.open(io.BytesIO(sys.stdin.buffer.read()))).convert("RGB")
            box = (\(crop.x), \(crop.y), \(crop.x + crop.width), \(crop.y + crop.height))
            picture = picture.crop(box).resize((\(size.width), \(size.height)), Image.Resampling.LANCZOS)
            sys.stdout.buffer.write(picture.tobytes())
            """, input: jpeg)
    }

    // MARK: Without loss

    static let turns: [(Orientation, [String])] = [
        (.upright, []), (.mirrored, ["-flip", "horizontal"]), (.rotated180, ["-rotate", "180"]),
        (.flipped, ["-flip", "vertical"]), (.transposed, ["-transpose"]), (.rotated90, ["-rotate", "90"]),
        (.transversed, ["-transverse"]), (.rotated270, ["-rotate", "270"]),
    ]

    /// jpegtran crops what it reads, so the turned picture is cropped in a second run.
    @Test(arguments: turns, [["-sample", "2x2"], ["-sample", "1x1"], ["-grayscale"], ["-progressive"]])
    func cropsOnBlocksAsJpegtranDoes(turn: (Orientation, [String]), options: [String]) throws {
        let source = try JPEGPictures.cjpeg(96, 64, options)
        let turned = try JPEGPictures.output(
            ["jpegtran", "-perfect", "-copy", "none"] + turn.1, input: source)
        let expected = try JPEGPictures.output(
            ["jpegtran", "-perfect", "-copy", "none", "-crop", "32x16+16+32"], input: turned)
        let photo = inserting(JPEGPictures.exif(orientation: turn.0.rawValue), into: source)
        let done = try Transcoded(photo, [("crop", "16,32,32,16")])
        #expect(done.report.path == .lossless)
        #expect(done.report.size == PixelSize(width: 32, height: 16))
        #expect(try JPEGPictures.planes(done.jpeg) == JPEGPictures.planes(expected))
        // Nothing of what was cut off stays behind in a block that reaches further.
        #expect(try Transcoded(photo, [("crop", "16,32,31,16")]).report.path == .reencode)
    }

    @Test(arguments: turns) func progressiveComesWithoutLoss(turn: (Orientation, [String])) throws {
        let source = try JPEGPictures.cjpeg(64, 48, ["-sample", "2x2"])
        let photo = inserting(JPEGPictures.exif(orientation: turn.0.rawValue), into: source)
        let done = try Transcoded(photo, [("progressive", "true")])
        let expected = try JPEGPictures.output(
            ["jpegtran", "-perfect", "-copy", "none", "-progressive"] + turn.1, input: source)
        #expect(done.report.path == .lossless)
        #expect(JPEGPictures.offset(of: 0xC2, in: done.jpeg) != nil)
        #expect(try JPEGPictures.planes(done.jpeg) == JPEGPictures.planes(expected))
    }

    @Test func progressiveIsAlsoEncoded() throws {
        let done = try Transcoded(try HEICPicture(96, 72).make(), [("progressive", "true")])
        #expect(JPEGPictures.offset(of: 0xC2, in: done.jpeg) != nil)
        let plain = try Transcoded(try HEICPicture(96, 72).make())
        #expect(try JPEGPictures.planes(done.jpeg) == JPEGPictures.planes(plain.jpeg))
    }

    @Test(arguments: [
        ("max_width", "67"), ("max_height", "1000"), ("crop", "0,0,67,45"), ("crop", "67:45"), ("max_bytes", "1MB"),
        ("subsampling", "420"), ("color", "srgb"), ("quality", "5"), ("orientation", "exif"),
    ]) func whatDoesNotBindChangesNothing(name: String, value: String) throws {
        let source = try JPEGPictures.cjpeg(67, 45, ["-sample", "2x2"])
        let done = try Transcoded(source, [(name, value)])
        #expect(done.report.path == .copy)
        #expect(try done.jpeg == Transcoded(source).jpeg)
    }

    // MARK: Encoded again

    struct Case: Sendable, CustomStringConvertible {
        let size: PixelSize
        let turn: Orientation
        let sampling: String
        let options: [(String, String)]
        var description: String { "\(size) \(turn) \(sampling) \(options)" }
    }

    /// Seeded, so that a failure can be repeated.
    static let cases: [Case] = {
        var generator = SplitMix64(seed: 3)
        func random(_ bound: Int) -> Int { .random(in: 0..<bound, using: &generator) }
        return (0..<60).map { _ in
            let size = PixelSize(width: 1 + random(300), height: 1 + random(300))
            let turn = Orientation.allCases[random(8)]
            let display = size.applying(turn)
            var options: [(String, String)] = [("quality", ["85", "95"][random(2)])]
            if random(2) == 0 { options.append(("max_width", "\(1 + random(320))")) }
            if random(3) == 0 { options.append(("max_height", "\(1 + random(320))")) }
            switch random(3) {
            case 0: options.append(("crop", "\(1 + random(9)):\(1 + random(9))"))
            case 1:
                let (x, y) = (random(display.width), random(display.height))
                options.append(("crop", "\(x),\(y),\(1 + random(display.width - x)),\(1 + random(display.height - y))"))
            default: break
            }
            if random(3) == 0 { options.append(("subsampling", ["420", "422", "444"][random(3)])) }
            if random(3) == 0 { options.append(("progressive", "true")) }
            let sampling = ["1x1", "2x1", "2x2", "1x2", "4x1"][random(5)]
            return Case(size: size, turn: turn, sampling: sampling, options: options)
        }
    }()

    /// The bound in decibels is what coding at these qualities and chroma's coarser grids cost of the smooth pattern.
    @Test(arguments: cases) func everyCombinationHasTheRightPlaceAndPixels(trial: Case) throws {
        let jpeg = try Self.jpeg(trial.size, ["-sample", trial.sampling], turn: trial.turn)
        let done = try Transcoded(jpeg, trial.options)
        let display = trial.size.applying(trial.turn)
        let options = try Options(parsing: trial.options.map { (name: $0.0, value: $0.1) })
        let crop = try #require(OutputGeometry.rectangle(options.crop, in: display))
        let size = OutputGeometry.fitting(crop.size, maxWidth: options.maxWidth, maxHeight: options.maxHeight)
        #expect(done.report.size == size)
        let expected = try Self.reference(jpeg, crop: crop, to: size)
        let psnr = JPEGPictures.psnr(try JPEGPictures.rgb(done.jpeg), expected)
        // A picture of few pixels is nearly all edge, where a JPEG's last blocks hold what the encoder filled them with.
        #expect(psnr > (min(size.width, size.height) < 8 ? 20 : 30), "\(psnr) dB")
        if options.isProgressive { #expect(JPEGPictures.offset(of: 0xC2, in: done.jpeg) != nil) }
    }

    @Test(arguments: Orientation.allCases, [PixelSize?.none, PixelSize(width: 64, height: 64)])
    func heicIsCroppedAndScaled(orientation: Orientation, tile: PixelSize?) throws {
        var picture = HEICPicture(200, 136)
        picture.tile = tile
        picture.orientation = orientation
        let heic = try picture.make()
        let whole = try Transcoded(heic, [("quality", "100"), ("subsampling", "444")])
        let done = try Transcoded(heic, [("crop", "11,7,97,101"), ("max_width", "50"), ("quality", "95")])
        #expect(done.report.size == PixelSize(width: 50, height: 52))
        let expected = try Self.reference(
            whole.jpeg, crop: PixelRectangle(x: 11, y: 7, width: 97, height: 101), to: done.report.size)
        #expect(JPEGPictures.psnr(try JPEGPictures.rgb(done.jpeg), expected) > 34)
    }

    @Test(arguments: [("420", "4:2:0"), ("422", "4:2:2"), ("444", "4:4:4")])
    func subsamplingIsAsAsked(value: String, says: String) throws {
        for photo in [try HEICPicture(96, 72).make(), try JPEGPictures.cjpeg(96, 72, ["-sample", "2x1"])] {
            let done = try Transcoded(photo, [("subsampling", value)])
            #expect(try Transcoded.exiftool(done.jpeg, ["-s3", "-YCbCrSubSampling"]).contains(says))
        }
    }

    @Test func autoSubsamplingFollowsQuality() throws {
        let source = try JPEGPictures.cjpeg(96, 72, ["-sample", "1x1"])
        for (quality, says) in [("90", "4:4:4"), ("89", "4:2:0")] {
            let done = try Transcoded(source, [("quality", quality), ("max_width", "48")])
            #expect(try Transcoded.exiftool(done.jpeg, ["-s3", "-YCbCrSubSampling"]).contains(says))
        }
    }

    // MARK: Orientation

    @Test(arguments: [
        (OrientationRule.auto, Orientation.rotated90), (.exif, .rotated90), (.container, .upright), (.ignore, .upright),
    ]) func whoTurnsAJPEG(rule: OrientationRule, applied: Orientation) throws {
        let photo = inserting(
            JPEGPictures.exif(orientation: 6), into: try JPEGPictures.cjpeg(64, 48, ["-sample", "2x2"]))
        let done = try Transcoded(photo, [("orientation", rule.rawValue)])
        #expect(done.report.source.orientation == applied)
        #expect(done.report.source.orientationSource == (applied == .upright ? .none : .exif))
        #expect(done.report.size == PixelSize(width: 64, height: 48).applying(applied))
    }

    @Test(arguments: Orientation.allCases, [OrientationRule.ignore, .exif, .container])
    func whoTurnsAHEIC(stated: Orientation, rule: OrientationRule) throws {
        var picture = HEICPicture(136, 96)
        let plain = try Transcoded(try picture.make(), quality: 95)
        picture.orientation = stated
        let done = try Transcoded(try picture.make(), [("orientation", rule.rawValue), ("quality", "95")])
        guard rule != .container else {
            #expect(done.report.source.orientation == stated)
            return
        }
        #expect(done.report.source.orientation == .upright)
        #expect(done.report.source.orientationSource == .none)
        #expect(done.report.size == PixelSize(width: 136, height: 96))
        #expect(JPEGPictures.psnr(try JPEGPictures.rgb(done.jpeg), try JPEGPictures.rgb(plain.jpeg)) > 36)
    }

    // MARK: Colour

    @Test func displayP3BecomesSRGBAsPillowConvertsIt() throws {
        var picture = HEICPicture(96, 72)
        picture.nclx = .displayP3
        let heic = try picture.make()
        let kept = try Transcoded(heic, [("quality", "100"), ("subsampling", "444")])
        let done = try Transcoded(heic, [("quality", "100"), ("subsampling", "444"), ("color", "srgb")])
        #expect(done.report.color == Report.Color(source: "Display P3", output: "sRGB"))
        #expect(try Transcoded.exiftool(done.jpeg, ["-s3", "-ProfileDescription"]).isEmpty)
        let expected = try JPEGPictures.python(
            """
            import io, sys
            from PIL import Image, ImageCms
            picture = Image.open(io.BytesIO(sys.stdin.buffer.read()))
            profile = ImageCms.ImageCmsProfile(io.BytesIO(picture.info["icc_profile"]))
            out = ImageCms.profileToProfile(picture, profile, ImageCms.createProfile("sRGB"),
                                            ImageCms.Intent.RELATIVE_COLORIMETRIC)
            sys.stdout.buffer.write(out.tobytes())
            """, input: kept.jpeg)
        let converted = try JPEGPictures.rgb(done.jpeg)
        #expect(JPEGPictures.psnr(converted, expected) > 40)
        #expect(JPEGPictures.psnr(converted, try JPEGPictures.rgb(kept.jpeg)) < 38, "there was something to convert")
    }

    @Test func adobeRGBBecomesSRGBTurnedAndScaled() throws {
        var exif = TIFFBuilder()
        exif.ifd0 = [(0x0112, .short(6))]
        exif.exif = [(0xA001, .short(65535))]
        exif.interoperability = [(1, .ascii("R03"))]
        let photo = inserting(exif.app1, into: try Self.jpeg(PixelSize(width: 128, height: 96), []))
        let done = try Transcoded(photo, [("color", "srgb"), ("max_width", "48")])
        #expect(done.report.color == Report.Color(source: "Adobe RGB (1998)", output: "sRGB"))
        #expect(done.report.size == PixelSize(width: 48, height: 64))
    }

    @Test func highDynamicRangeEndsInSRGB() throws {
        var picture = HEICPicture(96, 72)
        picture.depth = 10
        picture.nclx = ColourDescription(primaries: 9, transfer: 16, matrix: 9, isFullRange: true)
        let done = try Transcoded(try picture.make(), [("color", "srgb"), ("crop", "1:1"), ("max_width", "31")])
        #expect(done.report.color.output == "sRGB")
        #expect(done.report.size == PixelSize(width: 31, height: 31))
    }

    // MARK: Refusals and budget

    @Test func cropOutsideIsRefusedWithTheSize() throws {
        let jpeg = inserting(JPEGPictures.exif(orientation: 6), into: try JPEGPictures.cjpeg(64, 48, []))
        var picture = HEICPicture(64, 48)
        picture.orientation = .rotated90
        for photo in [jpeg, try picture.make()] {
            let failure = try Transcoded.failure(photo, [("crop", "0,0,64,48")])
            #expect(failure.code == .cropOutside)
            #expect(failure.detail.contains("48x64"))
        }
    }

    @Test(
        arguments: [1200, 2000, 4000, 8000, 16000, 32000], [["-sample", "2x2"], ["-sample", "1x1"], ["-grayscale"]])
    func budgetIsNeverExceeded(bytesMax: Int, sampling: [String]) throws {
        let source = try JPEGPictures.cjpeg(200, 150, ["-quality", "95"] + sampling)
        let plain = try Transcoded(source).jpeg
        for turn in [Orientation.upright, .rotated90] {
            let photo = inserting(JPEGPictures.exif(orientation: turn.rawValue), into: source)
            // At less than quality 90 the full chroma would go at once, and with it more than the budget asks for.
            let done = try Transcoded(
                photo,
                [("max_bytes", "\(bytesMax)"), ("subsampling", sampling == ["-sample", "1x1"] ? "444" : "auto")])
            #expect(done.jpeg.count <= bytesMax)
            if turn == .upright { #expect((done.report.path == .copy) == (plain.count <= bytesMax)) }
            if let quality = done.report.quality { #expect((60...90).contains(quality)) }
            if done.report.path == .reencode, done.report.quality != 90 {
                #expect(done.jpeg.count * 100 > bytesMax * 75, "\(done.jpeg.count) of \(bytesMax)")
            }
        }
    }

    @Test func budgetHoldsWithEverythingElse() throws {
        var picture = HEICPicture(200, 136)
        picture.isTextured = true
        picture.nclx = .displayP3
        picture.orientation = .rotated270
        let done = try Transcoded(
            try picture.make(),
            [
                ("max_bytes", "3KB"), ("crop", "3,5,180,120"), ("max_height", "110"), ("color", "srgb"),
                ("progressive", "true"), ("subsampling", "422"), ("orientation", "ignore"),
            ])
        #expect(done.jpeg.count <= 3000)
        #expect(try Transcoded.exiftool(done.jpeg, ["-s3", "-YCbCrSubSampling"]).contains("4:2:2"))
    }

    @Test func budgetOutOfReachIsSaid() throws {
        let failure = try Transcoded.failure(try JPEGPictures.cjpeg(200, 150, []), [("max_bytes", "300")])
        #expect(failure.code == .budgetUnreachable)
        let told = failure.detail.split(separator: " ").compactMap { Int($0) }
        #expect(told.count == 1 && told[0] > 300, "\(failure.detail)")
        // The smallest that is told can be had.
        #expect(
            try Transcoded(try JPEGPictures.cjpeg(200, 150, []), [("max_bytes", "\(told[0])")]).jpeg.count <= told[0])
    }
}
