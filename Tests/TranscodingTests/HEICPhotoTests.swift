import Core
import Support
import Testing

@Suite struct HEICPhotoTests {
    /// What heif-dec, an independent program, makes of the file: RGB rows.
    private func decoded(_ heic: [UInt8]) throws -> [UInt8] {
        let folder = try ScratchFolder()
        let file = try folder.file("photo.heic", heic)
        let outcome = try Tool.run(["heif-dec", file, folder.path + "/photo.png"])
        #expect(outcome.status == 0, "\(outcome.complaint)")
        return try JPEGPictures.python(
            """
            import io, sys
            from PIL import Image
            sys.stdout.buffer.write(Image.open(io.BytesIO(sys.stdin.buffer.read())).convert("RGB").tobytes())
            """, input: folder.read("photo.png"))
    }

    @Test(arguments: Orientation.allCases, [PixelSize?.none, PixelSize(width: 64, height: 64)])
    func standsUprightInItsColours(orientation: Orientation, tile: PixelSize?) throws {
        var picture = HEICPicture(200, 136)
        picture.tile = tile
        picture.orientation = orientation
        let heic = try picture.make()
        let done = try Transcoded(heic, quality: 95)
        #expect(done.report.path == .reencode)
        #expect(done.report.quality == 95)
        #expect(done.report.size == PixelSize(width: 200, height: 136).applying(orientation))
        #expect(done.report.source.size == PixelSize(width: 200, height: 136))
        #expect(done.report.source.orientation == orientation)
        #expect(done.report.source.orientationSource == (orientation == .upright ? .none : .irot))
        #expect(JPEGPictures.psnr(try JPEGPictures.rgb(done.jpeg), try decoded(heic)) > 38)
    }

    @Test(arguments: [HEICPicture.Chroma.s420, .s422, .s444], [8, 10])
    func everyPlaneLayout(chroma: HEICPicture.Chroma, depth: Int) throws {
        var picture = HEICPicture(96, 72)
        picture.chroma = chroma
        picture.depth = depth
        let heic = try picture.make()
        let done = try Transcoded(heic, quality: 95)
        #expect(JPEGPictures.psnr(try JPEGPictures.rgb(done.jpeg), try decoded(heic)) > 34)
    }

    @Test func monochromeBecomesGrey() throws {
        var picture = HEICPicture(96, 72)
        picture.chroma = .grey
        let done = try Transcoded(try picture.make())
        #expect(try Transcoded.exiftool(done.jpeg, ["-s3", "-ColorComponents"]).hasPrefix("1"))
        let expected = (0..<72).flatMap { y in (0..<96).map { UInt8(picture.sample(plane: 0, x: $0, y: y)) } }
        #expect(JPEGPictures.psnr(try JPEGPictures.luma(done.jpeg), expected) > 36)
    }

    @Test func nclxAloneGetsTheProfileThatSaysTheSame() throws {
        var picture = HEICPicture(96, 72)
        picture.nclx = .displayP3
        let done = try Transcoded(try picture.make())
        #expect(done.report.color == Report.Color(source: "Display P3", output: "Display P3"))
        #expect(try Transcoded.exiftool(done.jpeg, ["-s3", "-ProfileDescription"]).contains("Display P3"))
    }

    @Test(arguments: [
        ColourDescription(primaries: 1, transfer: 13, matrix: 1, isFullRange: true),
        ColourDescription(primaries: 1, transfer: 13, matrix: 1, isFullRange: false),
        ColourDescription(primaries: 1, transfer: 13, matrix: 6, isFullRange: false),
    ]) func otherMatricesAndRangesAreConverted(colour: ColourDescription) throws {
        var picture = HEICPicture(96, 72)
        picture.nclx = colour
        let heic = try picture.make()
        let done = try Transcoded(heic, quality: 95)
        #expect(JPEGPictures.psnr(try JPEGPictures.rgb(done.jpeg), try decoded(heic)) > 34)
        #expect(done.report.color == Report.Color(source: "sRGB", output: "sRGB"))
    }

    @Test(arguments: [16, 18] as [UInt16]) func highDynamicRangeIsToneMapped(transfer: UInt16) throws {
        var picture = HEICPicture(96, 72)
        picture.depth = 10
        picture.nclx = ColourDescription(primaries: 9, transfer: transfer, matrix: 9, isFullRange: true)
        let done = try Transcoded(try picture.make())
        #expect(done.report.warnings == [.hdrToneMapped])
        #expect(done.report.color.output == "Display P3")
        #expect(try Transcoded.exiftool(done.jpeg, ["-s3", "-ProfileDescription"]).contains("Display P3"))
    }

    @Test func alphaIsLaidOverWhite() throws {
        var picture = HEICPicture(64, 64)
        picture.alpha = { x, _ in x < 32 ? 0 : 255 }
        let done = try Transcoded(try picture.make())
        #expect(done.report.warnings == [.alphaFlattened])
        #expect(done.report.removed == [.alpha])
        #expect(try JPEGPictures.rgb(done.jpeg)[..<24].allSatisfy { $0 > 245 })
    }

    @Test func truncatedIsRefusedWhereverItEnds() throws {
        var picture = HEICPicture(200, 136)
        picture.tile = PixelSize(width: 64, height: 64)
        let heic = try picture.make()
        for tenth in 1..<10 {
            let failure = try Transcoded.failure(Array(heic[..<(heic.count * tenth / 10)]))
            #expect([.truncated, .corrupt].contains(failure.code), "\(tenth)/10: \(failure)")
        }
    }

    @Test func memoryIsRefusedByArithmetic() throws {
        var limits = Limits()
        limits.workerBytesMax = 100_000
        let failure = try Transcoded.failure(try HEICPicture(400, 300).make(), limits: limits)
        #expect(failure.code == .tooManyPixels)
    }
}
