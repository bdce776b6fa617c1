import Codecs
import Core
import Support
import Testing

@Suite struct JPEGSourceTests {
    /// cjpeg's factors, and the subsampling that they mean.
    static let samplings: [(String, ChromaSubsampling)] = [
        ("1x1", .s444), ("2x1", .s422), ("2x2", .s420), ("1x2", .s440), ("4x1", .s411),
    ]
    static let sizes = [
        PixelSize(width: 1, height: 1), PixelSize(width: 17, height: 33), PixelSize(width: 16, height: 16),
        PixelSize(width: 64, height: 31), PixelSize(width: 121, height: 90),
    ]

    @Test(arguments: samplings, sizes)
    func planesAreThoseOfTurboJPEG(sampling: (String, ChromaSubsampling), size: PixelSize) throws {
        let jpeg = try JPEGPictures.cjpeg(size.width, size.height, ["-sample", sampling.0])
        let picture = try decode(jpeg).picture
        #expect(picture.format == PictureFormat(size: size, layout: .ycbcr(sampling.1), depth: 8, colour: .jfif))
        #expect(same(picture.joined, try JPEGPictures.planes(jpeg)))
    }

    /// djpeg divides by the same transform; its Cb and Cr are not to be had, so the colours are compared as RGB.
    @Test(arguments: samplings, [2, 4, 8])
    func dividedLumaIsThatOfDjpeg(sampling: (String, ChromaSubsampling), divisor: Int) throws {
        for (size, options) in [
            (PixelSize(width: 121, height: 90), []), (PixelSize(width: 64, height: 31), ["-progressive"]),
        ] {
            let jpeg = try JPEGPictures.cjpeg(size.width, size.height, ["-sample", sampling.0] + options)
            let divided = PixelSize(
                width: (size.width + divisor - 1) / divisor, height: (size.height + divisor - 1) / divisor)
            let picture = try decode(jpeg, divisor: divisor).picture
            #expect(picture.format.size == divided)
            #expect(picture.format.layout == .ycbcr(sampling.1 == .s420 ? .s444 : sampling.1))
            let luma = try JPEGPictures.luma(jpeg, scale: "1/\(divisor)")
            #expect(same(picture.planes[0], luma))
        }
    }

    /// Pillow asks libjpeg for the smallest picture that is no smaller than this.
    @Test(arguments: ["1x1", "2x2"], [2, 4, 8]) func dividedPlanesAreThoseOfPillow(sampling: String, divisor: Int)
        throws
    {
        let jpeg = try JPEGPictures.cjpeg(121, 90, ["-sample", sampling])
        let picture = try decode(jpeg, divisor: divisor).picture
        let expected = try JPEGPictures.python(
            """
            import io, sys
            from PIL import Image
            picture = Image.open(io.BytesIO(sys.stdin.buffer.read()))
            picture.draft("YCbCr", (121 // \(divisor), 90 // \(divisor)))
            for band in picture.split():
                sys.stdout.buffer.write(band.tobytes())
            """, input: jpeg)
        #expect(same(picture.joined, expected))
    }

    @Test(arguments: [
        ["-progressive"], ["-arithmetic"], ["-arithmetic", "-progressive"], ["-restart", "1"], ["-restart", "3B"],
        ["-optimize", "-quality", "100"], ["-quality", "3"],
    ])
    func everyCodingIsRead(options: [String]) throws {
        let jpeg = try JPEGPictures.cjpeg(121, 90, options)
        let (picture, isIrregular) = try decode(jpeg)
        #expect(same(picture.joined, try JPEGPictures.planes(jpeg)))
        #expect(!isIrregular)
    }

    @Test func componentsInScansOfTheirOwnAreRead() throws {
        let jpeg = try JPEGPictures.cjpeg(121, 90, [])
        let folder = try ScratchFolder()
        let scans = try folder.file("scans", Array("0;\n1;\n2;\n".utf8))
        let apart = try JPEGPictures.output(["jpegtran", "-scans", scans], input: jpeg)
        let picture = try decode(apart).picture
        #expect(same(picture.joined, try decode(jpeg).picture.joined))
        #expect(try prove(apart).frame.hasMultipleScans)
    }

    @Test(arguments: ["1x1", "2x2", "1x2", "4x4"]) func greyIsReadWhateverItsFactors(sampling: String) throws {
        var jpeg = try JPEGPictures.cjpeg(45, 70, ["-grayscale"])
        let frame = try #require(JPEGPictures.offset(of: 0xC0, in: jpeg))
        let factors = sampling.utf8.map { $0 - 0x30 }
        jpeg[frame + 11] = factors[0] << 4 | factors[2]
        let picture = try decode(jpeg).picture
        #expect(picture.format.layout == .grey)
        #expect(same(picture.joined, try JPEGPictures.luma(jpeg)))
    }

    @Test(arguments: ["2x2,2x2,1x1", "2x2,1x2,1x1", "2x1,2x2,2x2", "1x1,2x2,1x1", "3x1,1x1,1x1", "1x2,1x1,1x2"])
    func uncommonFactorsBecomeFullChroma(sampling: String) throws {
        let jpeg = try JPEGPictures.cjpeg(37, 50, ["-sample", sampling])
        let picture = try decode(jpeg).picture
        #expect(picture.format.layout == .ycbcr(.s444))
        #expect(same(interleaved(picture), try JPEGPictures.pillow("YCbCr", jpeg)))
    }

    @Test(arguments: ["2x2", "2x1", "1x2", "4x2", "1x1"]) func chromaIsUpsampledOnDemand(sampling: String) throws {
        let jpeg = try JPEGPictures.cjpeg(37, 50, ["-sample", sampling])
        let picture = try decode(jpeg, chroma: .full).picture
        #expect(picture.format.layout == .ycbcr(.s444))
        #expect(same(interleaved(picture), try JPEGPictures.pillow("YCbCr", jpeg)))
    }

    @Test(arguments: [["-rgb"], ["-rgb", "-sample", "1x1,2x2,1x1"], ["-rgb", "-progressive"]])
    func rgbStaysRGB(options: [String]) throws {
        let jpeg = try JPEGPictures.cjpeg(37, 50, options)
        let picture = try decode(jpeg).picture
        #expect(picture.format.layout == .rgb)
        #expect(same(interleaved(picture), try JPEGPictures.rgb(jpeg)))
    }

    /// Pillow writes inks inverted, and turns them over again where it finds the Adobe marker.
    @Test(arguments: [true, false]) func inksGoThroughTheConverter(isInverted: Bool) throws {
        let jpeg = try JPEGPictures.cmyk(37, 50)
        var seen: [UInt8] = []
        let inks = InkConverter(isInverted: isInverted) { source, target, count in
            seen += UnsafeBufferPointer(start: source, count: 4 * count)
            for index in 0..<(3 * count) { target[index] = source[index / 3 * 4 + index % 3] }
        }
        let picture = try decode(jpeg, inks: inks).picture
        let expected = try JPEGPictures.pillow("CMYK", jpeg).map { isInverted ? $0 : ~$0 }
        #expect(same(seen, expected))
        #expect(picture.format.layout == .rgb)
        #expect(same(interleaved(picture), expected.indices.filter { $0 % 4 < 3 }.map { expected[$0] }))
    }

    @Test func inksWithoutAConverterAreRefused() throws {
        let jpeg = try JPEGPictures.cmyk(8, 8)
        #expect(try failure { _ = try decode(jpeg) } == .unsupported)
    }

    @Test(arguments: [[], ["-progressive"], ["-arithmetic"], ["-restart", "2B"], ["-sample", "2x2,2x2,1x1"]])
    func cutFilesFail(options: [String]) throws {
        let jpeg = try JPEGPictures.cjpeg(121, 90, options)
        for tenth in 0..<10 {
            let cut = Array(jpeg[..<(jpeg.count * tenth / 10)])
            #expect(try failure { _ = try decode(cut) } == .truncated, "\(tenth) tenths")
        }
    }

    @Test(arguments: [[], ["-progressive"], ["-arithmetic"], ["-restart", "2B"]])
    func damagedFilesFailOrAreWhole(options: [String]) throws {
        let jpeg = try JPEGPictures.cjpeg(64, 48, options)
        var random = SplitMix64(seed: 7)
        for _ in 0..<200 {
            var damaged = jpeg
            damaged[.random(in: 0..<jpeg.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            // `collect` checks that a picture that is yielded at all is yielded wholly.
            _ = try? decode(damaged, inks: InkConverter(isInverted: false) { _, _, _ in })
        }
    }

    @Test func memoryIsBounded() throws {
        let jpeg = try JPEGPictures.cjpeg(512, 512, ["-progressive"])
        let frame = try prove(jpeg).frame
        #expect(frame.coefficientBytes == 512 * 512 * 3)
        let needed = JPEGSource.bytesNeeded(frame)
        #expect(needed > 512 * 512 * 3)
        #expect(try failure { _ = try decode(jpeg, bytesMax: needed - 1) } == .outOfMemory)
        #expect(throws: Never.self) { try decode(jpeg, bytesMax: needed) }
    }

    private func interleaved(_ picture: WholePicture) -> [UInt8] {
        picture.planes[0].indices.flatMap { index in picture.planes.map { $0[index] } }
    }
}

/// The kind of error that `body` throws, or nil.
func failure(_ body: () throws -> Void) throws -> CodecError.Kind? {
    do {
        try body()
        return nil
    } catch let error as CodecError {
        return error.kind
    }
}
