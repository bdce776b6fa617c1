import Container
import Core
import Support
import Testing

@Suite struct JPEGPhotoTests {
    /// The entropy-coded data up to EOI.
    private func scan(_ jpeg: [UInt8]) throws -> ArraySlice<UInt8> { jpeg[try JPEGPictures.dataOffset(jpeg)...] }

    @Test func uprightKeepsItsScanUntouched() throws {
        var exif = TIFFBuilder()
        exif.ifd0 = [(0x010F, .ascii("Maker")), (0x0112, .short(1))]
        exif.gps = [(1, .ascii("N")), (2, .rational([(48, 1), (51, 1), (2996, 100)]))]
        let source = try JPEGPictures.cjpeg(67, 45, ["-sample", "2x2"])
        let comment = JPEGPictures.segment(0xFE, Array("taken at home".utf8))
        let photo = inserting(exif.app1 + comment, into: source) + Array("trailer".utf8)
        let done = try Transcoded(photo)
        #expect(done.report.path == .copy)
        #expect(done.report.quality == nil)
        #expect(done.report.removed == [.exif, .gps, .trailer, .comment])
        #expect(done.report.source.orientationSource == .exif)
        #expect(try scan(done.jpeg) == scan(source))
        #expect(try JPEGPictures.rgb(done.jpeg) == JPEGPictures.rgb(source))
    }

    /// The numbers behind a scan header's components mean nothing in a sequential picture, and no decoder heeds them: they
    /// may be three letters, and do not go along.
    @Test func carriesNoTextInAScanHeader() throws {
        let source = try JPEGPictures.cjpeg(67, 45, ["-sample", "2x2"])
        var strange = source
        let start = try JPEGPictures.dataOffset(source)
        strange.replaceSubrange((start - 3)..<start, with: Array("Jan".utf8))
        let done = try Transcoded(strange)
        #expect(done.report.path == .lossless)
        #expect(done.report.warnings == [.headerIrregular])
        let told = try Tool.run(["djpeg", "-outfile", "/dev/null"], input: done.jpeg).complaint
        #expect(told.isEmpty, "libjpeg has nothing to say about it")
        #expect(try JPEGPictures.rgb(done.jpeg) == JPEGPictures.rgb(source))
    }

    @Test(arguments: Orientation.allCases) func turnsByMovingCoefficients(orientation: Orientation) throws {
        let source = try JPEGPictures.cjpeg(64, 48, ["-sample", "2x2"])
        let done = try Transcoded(inserting(JPEGPictures.exif(orientation: orientation.rawValue), into: source))
        #expect(done.report.path == (orientation == .upright ? .copy : .lossless))
        #expect(done.report.size == PixelSize(width: 64, height: 48).applying(orientation))
        #expect(done.report.source.orientation == orientation)
        let transform =
            [
                2: ["-flip", "horizontal"], 3: ["-rotate", "180"], 4: ["-flip", "vertical"], 5: ["-transpose"],
                6: ["-rotate", "90"], 7: ["-transverse"], 8: ["-rotate", "270"],
            ][Int(orientation.rawValue)] ?? []
        let expected = try JPEGPictures.output(["jpegtran", "-perfect", "-copy", "none"] + transform, input: source)
        #expect(try JPEGPictures.planes(done.jpeg) == JPEGPictures.planes(expected))
    }

    /// Whatever the factors and the tables: what an inspection tells before a coefficient was read is what comes. Quality 1
    /// makes steps of more than 8 bits, of which no baseline picture can be made.
    @Test(
        arguments: ["1x1", "2x1", "1x2", "2x2", "4x1", "1x4", "4x2"],
        [[], ["-progressive"], ["-quality", "1"], ["-progressive", "-quality", "1"], ["-arithmetic"]])
    func theWayIsTheOneThatIsTold(sampling: String, options: [String]) throws {
        let source = try JPEGPictures.cjpeg(64, 64, ["-sample", sampling] + options)
        for orientation in [Orientation.upright, .rotated90, .rotated180] {
            let photo = inserting(JPEGPictures.exif(orientation: orientation.rawValue), into: source)
            for asked in [[], [("progressive", "true")], [("crop", "0,0,32,32")]] {
                let told = try Transcoded.inspected(photo, asked)
                let done = try Transcoded(photo, asked).report
                #expect(told.path == done.path && told.quality == done.quality, "\(orientation) \(asked)")
            }
        }
    }

    /// What is lost when an independent encoder codes these pixels at quality 95, in decibels, less half a one.
    private func psnrExpected(_ rgb: [UInt8], _ size: PixelSize, sampling: String) throws -> Double {
        let pixmap = Array("P6\n\(size.width) \(size.height)\n255\n".utf8) + rgb
        let coded = try JPEGPictures.output(
            ["cjpeg", "-dct", "int", "-quality", "95", "-sample", sampling], input: pixmap)
        return JPEGPictures.psnr(try JPEGPictures.rgb(coded), rgb) - 0.5
    }

    /// Neither side is a whole number of MCUs.
    @Test(arguments: Orientation.allCases) func turnsByEncodingAgain(orientation: Orientation) throws {
        let size = PixelSize(width: 67, height: 45)
        let source = try JPEGPictures.cjpeg(67, 45, ["-sample", "1x1", "-quality", "95"])
        let done = try Transcoded(
            inserting(JPEGPictures.exif(orientation: orientation.rawValue), into: source), quality: 95)
        let isWhole = orientation == .upright || orientation == .transposed
        #expect(done.report.path == (orientation == .upright ? .copy : isWhole ? .lossless : .reencode))
        #expect(done.report.quality == (isWhole ? nil : 95))
        #expect(done.report.size == size.applying(orientation))
        let raster = JPEGPictures.Raster(mode: "RGB", size: size, samples: try JPEGPictures.rgb(source))
        let expected = try JPEGPictures.turned([raster], orientation)[0]
        let bound = try psnrExpected(expected, done.report.size, sampling: "1x1")
        #expect(JPEGPictures.psnr(try JPEGPictures.rgb(done.jpeg), expected) > bound)
    }

    @Test(arguments: [["-arithmetic"], ["-arithmetic", "-progressive"]])
    func arithmeticCodingBecomesHuffman(options: [String]) throws {
        let source = try JPEGPictures.cjpeg(67, 45, options)
        let done = try Transcoded(source)
        #expect(done.report.path == .lossless)
        #expect(try JPEGPictures.planes(done.jpeg) == JPEGPictures.planes(source))
    }

    @Test(arguments: [
        ["-progressive"], ["-grayscale"], ["-sample", "1x1"], ["-sample", "2x1"], ["-sample", "4x1"],
        ["-restart", "1"],
    ]) func commonCodingsAreCopied(options: [String]) throws {
        let source = try JPEGPictures.cjpeg(67, 45, options)
        let done = try Transcoded(source)
        #expect(done.report.path == .copy)
        #expect(try JPEGPictures.planes(done.jpeg) == JPEGPictures.planes(source))
    }

    /// Turned 4:2:2 would be 4:4:0, which few expect.
    @Test func turned422IsResampled() throws {
        let source = try JPEGPictures.cjpeg(64, 48, ["-sample", "2x1", "-quality", "95"])
        let done = try Transcoded(inserting(JPEGPictures.exif(orientation: 6), into: source), quality: 95)
        #expect(done.report.path == .reencode)
        #expect(try Transcoded.exiftool(done.jpeg, ["-s3", "-YCbCrSubSampling"]).contains("4:2:2"))
        let raster = JPEGPictures.Raster(
            mode: "RGB", size: PixelSize(width: 64, height: 48), samples: try JPEGPictures.rgb(source))
        let expected = try JPEGPictures.turned([raster], .rotated90)[0]
        #expect(JPEGPictures.psnr(try JPEGPictures.rgb(done.jpeg), expected) > 27)
    }

    @Test func rgbBecomesYCbCr() throws {
        let source = try JPEGPictures.cjpeg(67, 45, ["-rgb", "-quality", "95"])
        let done = try Transcoded(source, quality: 95)
        #expect(done.report.path == .reencode)
        let expected = try JPEGPictures.rgb(source)
        let bound = try psnrExpected(expected, done.report.size, sampling: "1x1")
        #expect(JPEGPictures.psnr(try JPEGPictures.rgb(done.jpeg), expected) > bound)
    }

    @Test func cmykIsConverted() throws {
        let source = try JPEGPictures.cmyk(67, 45)
        let done = try Transcoded(source, quality: 95)
        #expect(done.report.path == .reencode)
        #expect(done.report.color == Report.Color(source: "CMYK", output: "sRGB"))
        let expected = try JPEGPictures.python(
            """
            import io, sys
            from PIL import Image
            picture = Image.open(io.BytesIO(sys.stdin.buffer.read()))
            sys.stdout.buffer.write(picture.convert("RGB").tobytes())
            """, input: source)
        let bound = try psnrExpected(expected, done.report.size, sampling: "1x1")
        #expect(JPEGPictures.psnr(try JPEGPictures.rgb(done.jpeg), expected) > bound)
    }

    @Test func profileTravelsAlong() throws {
        let profile = try JPEGPictures.python(
            "import sys; from PIL import ImageCms; sys.stdout.buffer.write("
                + "ImageCms.ImageCmsProfile(ImageCms.createProfile('sRGB')).tobytes())", input: [])
        let chunk = JPEGPictures.segment(0xE2, Array("ICC_PROFILE\0".utf8) + [1, 1] + profile)
        let source = inserting(chunk, into: try JPEGPictures.cjpeg(64, 48, []))
        for orientation in [1, 6] as [UInt8] {
            let done = try Transcoded(inserting(JPEGPictures.exif(orientation: orientation), into: source))
            let kept = try Tool.run(["exiftool", "-b", "-icc_profile", "-"], input: done.jpeg).output
            #expect(kept == ProfileTags.cleaned(profile)?.bytes)
            #expect(done.report.color.source == done.report.color.output)
            #expect(!done.report.removed.contains(.iccProfile) && !done.report.removed.contains(.iccText))
        }
    }

    /// As macOS has it in the profiles of screens, which screenshots carry.
    @Test(arguments: [1, 6] as [UInt8]) func aScreensSerialNumberStaysBehind(orientation: UInt8) throws {
        let profile = try JPEGPictures.profile(adding: ["mmod", "meta"], text: "SERIAL-4711")
        let chunk = JPEGPictures.segment(0xE2, Array("ICC_PROFILE\0".utf8) + [1, 1] + profile)
        let source = inserting(chunk, into: try JPEGPictures.cjpeg(64, 48, []))
        let done = try Transcoded(inserting(JPEGPictures.exif(orientation: orientation), into: source))
        let told = try Tool.run(["exiftool", "-a", "-u", "-G1", "-s", "-ICC_Profile:all", "-"], input: done.jpeg).text
        #expect(told.contains("RedTRC") && !told.contains("SERIAL"))
        #expect(!String(decoding: done.jpeg, as: UTF8.self).contains("SERIAL"))
        #expect(done.report.removed.contains(.iccText))
    }

    /// Nor its model, which a profile of one's own has for its name.
    @Test func aScreensNameStaysBehind() throws {
        var profile = try JPEGPictures.profile(adding: [], text: "none")
        let name = Array("sRGB built-in".utf16).flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        let other = Array("ELM27 #SN4711".utf16).flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] }
        let at = try #require(profile.indices.first { profile[$0...].starts(with: name) })
        profile.replaceSubrange(at..<(at + name.count), with: other)
        let chunk = JPEGPictures.segment(0xE2, Array("ICC_PROFILE\0".utf8) + [1, 1] + profile)
        let done = try Transcoded(inserting(chunk, into: try JPEGPictures.cjpeg(64, 48, [])))
        #expect(done.jpeg.indices.allSatisfy { !done.jpeg[$0...].starts(with: other) })
        #expect(try Transcoded.exiftool(done.jpeg, ["-s3", "-ProfileDescription"]).contains("RGB"))
        #expect(done.report.color.source == "sRGB" && done.report.color.output == "sRGB")
        #expect(done.report.removed.contains(.iccText) && done.report.warnings.isEmpty)
    }

    @Test func brokenProfileIsDroppedAndSaid() throws {
        let chunk = JPEGPictures.segment(
            0xE2, Array("ICC_PROFILE\0".utf8) + [1, 1] + [UInt8](repeating: 7, count: 200))
        let done = try Transcoded(inserting(chunk, into: try JPEGPictures.cjpeg(64, 48, [])))
        #expect(done.report.path == .copy)
        #expect(done.report.warnings == [.iccInvalid])
        #expect(done.report.removed == [.iccProfile])
    }

    @Test func adobeRGBToldByEXIFGetsItsProfile() throws {
        var exif = TIFFBuilder()
        exif.exif = [(0xA001, .short(65535))]
        exif.interoperability = [(1, .ascii("R03"))]
        let done = try Transcoded(inserting(exif.app1, into: try JPEGPictures.cjpeg(64, 48, [])))
        #expect(done.report.color.output == "Adobe RGB (1998)")
        #expect(try Transcoded.exiftool(done.jpeg, ["-s3", "-ProfileDescription"]).contains("Adobe RGB (1998)"))
    }

    @Test func orientationInXMPAloneIsSaidAndNotApplied() throws {
        let packet = "http://ns.adobe.com/xap/1.0/\0<x:xmpmeta><rdf:Description tiff:Orientation=\"6\"/></x:xmpmeta>"
        let xmp = JPEGPictures.segment(0xE1, Array(packet.utf8))
        let source = inserting(xmp, into: try JPEGPictures.cjpeg(64, 48, []))
        let done = try Transcoded(source)
        #expect(done.report.path == .copy)
        #expect(done.report.warnings == [.orientationInXMP])
        let told = try Transcoded(inserting(JPEGPictures.exif(orientation: 1), into: source))
        #expect(told.report.warnings == [])
    }

    @Test(arguments: [[], ["-progressive"], ["-arithmetic"]])
    func truncatedIsRefusedWhereverItEnds(options: [String]) throws {
        let source = try JPEGPictures.cjpeg(128, 96, options)
        let data = try JPEGPictures.dataOffset(source)
        for tenth in 0..<10 {
            let end = data + (source.count - 2 - data) * tenth / 10
            #expect(try Transcoded.failure(Array(source[..<end])).code == .truncated)
            // A writer that gave up may still have added the end marker: libjpeg would fill up with grey. Arithmetic
            // coding may leave out zeros at its end (T.81, D.1.8), so that no decoder can tell.
            if options == ["-arithmetic"] { continue }
            let ended = try Transcoded.failure(Array(source[..<end]) + [0xFF, 0xD9])
            #expect([.truncated, .corrupt].contains(ended.code), "\(tenth)/10: \(ended)")
        }
    }

    @Test func limitsAreNamed() throws {
        var limits = Limits()
        limits.pixelsMax = 64 * 48 - 1
        let failure = try Transcoded.failure(try JPEGPictures.cjpeg(64, 48, []), limits: limits)
        #expect(failure.code == .tooManyPixels)
        #expect(failure.detail.contains("3072") && failure.detail.contains("3071"))
    }

    /// The first trial of the budget's search passes the output's limit; a later one keeps the budget.
    @Test func aBudgetIsKeptBelowTheOutputsLimit() throws {
        let photo = try HEICPicture(320, 240).make()
        let low = try Transcoded(photo, quality: 60).jpeg.count
        var limits = Limits()
        limits.outputBytesMax = low + 200
        #expect(try Transcoded.failure(photo, [("quality", "100")], limits: limits).code == .tooManyPixels)
        let done = try Transcoded(photo, [("quality", "100"), ("max_bytes", "\(low + 100)")], limits: limits)
        #expect(done.jpeg.count <= low + 100)
        #expect(done.report.size == PixelSize(width: 320, height: 240))
    }

    /// The picture is fine; what was asked for makes it too long.
    @Test func aJPEGThatWouldBeTooLongIsRefused() throws {
        var limits = Limits()
        limits.outputBytesMax = 1000
        for photo in [try JPEGPictures.cjpeg(120, 90, ["-sample", "2x1"]), try HEICPicture(120, 90).make()] {
            let options = [("quality", "100"), ("max_width", "119")]
            let failure = try Transcoded.failure(photo, options, limits: limits)
            #expect(failure.code == .tooManyPixels)
            #expect(failure.detail.contains("more than the 1000 bytes"))
        }
    }
}
