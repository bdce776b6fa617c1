import Codecs
import Core
import Support
import Testing

@Suite struct JPEGEntropyProofTests {
    static let codings: [[String]] = [
        [], ["-sample", "1x1"], ["-grayscale"], ["-restart", "2B"], ["-progressive"], ["-arithmetic"],
        ["-arithmetic", "-progressive"],
    ]

    @Test(arguments: codings) func wholeFilesPass(options: [String]) throws {
        let jpeg = try JPEGPictures.cjpeg(121, 90, options)
        let trailer = [UInt8]("a motion video".utf8)
        let proof = try prove(jpeg + trailer)
        #expect(!proof.isIrregular)
        #expect(!proof.hasStrayData)
        #expect(proof.hasEOI)
        #expect(proof.end == jpeg.count)
        #expect(proof.frame.size == PixelSize(width: 121, height: 90))
    }

    @Test(arguments: codings) func cutFilesFail(options: [String]) throws {
        let jpeg = try JPEGPictures.cjpeg(121, 90, options)
        for tenth in 0..<10 {
            let cut = Array(jpeg[..<(jpeg.count * tenth / 10)])
            #expect(try failure { _ = try prove(cut) } == .truncated, "\(tenth) tenths")
            // Arithmetic coding goes on with zeros where its data ends: lawful, since an encoder may leave them out.
            if options.contains("-arithmetic") { continue }
            #expect(try failure { _ = try prove(cut + [0xFF, 0xD9]) } != nil, "\(tenth) tenths, then EOI")
        }
    }

    /// Arithmetic coding cannot tell a cut from the zeros that an encoder may leave out.
    @Test(arguments: [[], ["-restart", "2B"], ["-progressive"]]) func missingEOIIsIrregular(options: [String]) throws {
        let jpeg = try JPEGPictures.cjpeg(121, 90, options)
        for cut in [Array(jpeg.dropLast(2)), Array(jpeg.dropLast(1))] {
            let proof = try prove(cut)
            #expect(proof.isIrregular)
            #expect(!proof.hasEOI)
            #expect(proof.end == cut.count)
            let (picture, isIrregular) = try decode(cut)
            #expect(isIrregular)
            #expect(same(picture.joined, try decode(jpeg).picture.joined))
        }
    }

    @Test func aProgressionCutBetweenScansFails() throws {
        let jpeg = try JPEGPictures.cjpeg(64, 48, ["-progressive"])
        let scans = jpeg.indices.dropLast().filter { jpeg[$0] == 0xFF && jpeg[$0 + 1] == 0xDA }
        #expect(scans.count > 3)
        for scan in scans.dropFirst() {
            // The scan's tables stand before it: the cut keeps them.
            #expect(try failure { _ = try prove(Array(jpeg[..<scan])) } == .truncated)
        }
    }

    @Test func missingComponentFails() throws {
        let jpeg = try JPEGPictures.cjpeg(64, 48, [])
        let folder = try ScratchFolder()
        let script = try folder.file("scans", Array("0;\n1;\n2;\n".utf8))
        let apart = try JPEGPictures.output(["jpegtran", "-scans", script], input: jpeg)
        let scans = apart.indices.dropLast().filter { apart[$0] == 0xFF && apart[$0 + 1] == 0xDA }
        let twoOnly = Array(apart[..<scans[2]]) + [0xFF, 0xD9]
        #expect(try Tool.run(["djpeg"], input: twoOnly).status == 0, "djpeg paints it")
        #expect(try failure { _ = try prove(twoOnly) } == .truncated)
        #expect(try failure { _ = try decode(twoOnly) } == .truncated)
    }

    /// Encoders fill their last word up, with zeros or with ones (stuffed).
    @Test(arguments: [1, 2, 9, 40]) func paddingBeforeEOIIsToldOf(count: Int) throws {
        for padding in [[0], [0xFF, 0]] as [[UInt8]] {
            let jpeg = try JPEGPictures.cjpeg(121, 90, [])
            let longer = Array(jpeg.dropLast(2)) + (0..<count).flatMap { _ in padding } + [0xFF, 0xD9]
            let proof = try prove(longer)
            #expect(proof.isIrregular && proof.hasStrayData && proof.hasEOI)
            #expect(proof.end == longer.count)
            let (picture, isIrregular) = try decode(longer)
            #expect(isIrregular)
            #expect(same(picture.joined, try decode(jpeg).picture.joined))
        }
    }

    /// Data that no MCU takes tell that a code before them was read wrongly. libjpeg goes on with a warning, where it
    /// says so at all: the eight bytes that it has read ahead it throws away without a word.
    @Test(arguments: codings, [1, 2, 9, 40]) func dataLeftOverFail(options: [String], count: Int) throws {
        let jpeg = try JPEGPictures.cjpeg(121, 90, options)
        // Those are passed over in progressive pictures, and arithmetic coding has no last bit.
        if options.contains("-progressive") || options.contains("-arithmetic"), count < 9 { return }
        let longer = Array(jpeg.dropLast(2)) + [UInt8](repeating: 0x55, count: count) + [0xFF, 0xD9]
        #expect(try Tool.run(["djpeg", "-outfile", "/dev/null"], input: longer).status != 1, "djpeg goes on")
        #expect(try failure { _ = try prove(longer) } == .corrupt)
        #expect(try failure { _ = try decode(longer) } == .corrupt)
    }

    /// A frame header that tells of fewer rows leaves data over, too.
    @Test(arguments: [[], ["-grayscale"], ["-progressive"]] as [[String]]) func aSmallerFrameFails(
        options: [String]
    ) throws {
        var jpeg = try JPEGPictures.cjpeg(128, 96, options)
        let frame = try #require(JPEGPictures.offset(of: options == ["-progressive"] ? 0xC2 : 0xC0, in: jpeg))
        jpeg[frame + 6] = 64
        #expect(try failure { _ = try prove(jpeg) } == .corrupt)
    }

    /// T.81, B.1.1.2: any marker may be preceded by fill bytes FF.
    @Test(arguments: [1, 2, 9]) func fillBytesAreLawful(count: Int) throws {
        let jpeg = try JPEGPictures.cjpeg(121, 90, ["-restart", "2B"])
        let fill = [UInt8](repeating: 0xFF, count: count)
        let restart = try #require(jpeg.indices.dropLast().first { jpeg[$0] == 0xFF && jpeg[$0 + 1] == 0xD0 })
        let filled = Array(jpeg[..<restart]) + fill + jpeg[restart...].dropLast(2) + fill + [0xFF, 0xD9]
        let proof = try prove(filled)
        #expect(!proof.isIrregular && !proof.hasStrayData)
        #expect(same(try decode(filled).picture.joined, try decode(jpeg).picture.joined))
    }

    @Test func strayBytesInTheHeaderAreNotData() throws {
        let jpeg = try JPEGPictures.cjpeg(40, 30, [])
        let proof = try prove(Array(jpeg[..<2]) + [1, 2, 3] + jpeg[2...])
        #expect(proof.isIrregular)
        #expect(!proof.hasStrayData)
    }

    @Test func segmentsBetweenScansAreStrayData() throws {
        let jpeg = try JPEGPictures.cjpeg(64, 48, ["-progressive"])
        let comment = JPEGPictures.segment(0xFE, Array("a home address".utf8))
        let scans = jpeg.indices.dropLast().filter { jpeg[$0] == 0xFF && jpeg[$0 + 1] == 0xDA }
        #expect(try prove(Array(jpeg[..<scans[1]]) + comment + jpeg[scans[1]...]).hasStrayData)
        #expect(try !prove(Array(jpeg[..<scans[0]]) + comment + jpeg[scans[0]...]).hasStrayData)
    }

    @Test func oddScanParametersAreIrregular() throws {
        var jpeg = try JPEGPictures.cjpeg(40, 30, [])
        let data = try JPEGPictures.dataOffset(jpeg)
        jpeg[data - 2] = 0
        #expect(try Tool.run(["djpeg"], input: jpeg).complaint.contains("Invalid SOS parameters"))
        #expect(try prove(jpeg).isIrregular)
        #expect(try decode(jpeg).isIrregular)
    }

    @Test func wrongRestartMarkersFail() throws {
        let jpeg = try JPEGPictures.cjpeg(121, 90, ["-restart", "2B"])
        let restarts = jpeg.indices.dropLast().filter { jpeg[$0] == 0xFF && 0xD0...0xD7 ~= jpeg[$0 + 1] }
        var swapped = jpeg
        swapped[restarts[1] + 1] = 0xD5
        #expect(try failure { _ = try prove(swapped) } == .corrupt)
        var missing = jpeg
        missing.removeSubrange(restarts[1]..<(restarts[1] + 2))
        #expect(try failure { _ = try prove(missing) } != nil)
        var longer = jpeg
        longer.insert(contentsOf: [0x12, 0x34], at: restarts[1])
        #expect(try failure { _ = try prove(longer) } == .corrupt)
    }

    /// libjpeg-turbo's fast decoder passes over both, which is why there is a proof of our own.
    @Test func undefinedCodesAndOverlongBlocksFail() throws {
        var undefined = try JPEGPictures.cjpeg(640, 480, ["-sample", "1x1"])
        let data = try JPEGPictures.dataOffset(undefined)
        // A code of sixteen ones is defined in no table (T.81, C.2).
        undefined.replaceSubrange((data + 5)..<(data + 11), with: [0xFF, 0, 0xFF, 0, 0xFF, 0])
        #expect(try failure { _ = try prove(undefined) } == .corrupt)
        #expect(try failure { _ = try decode(undefined) } == .corrupt)

        var overlong = try JPEGPictures.cjpeg(640, 480, ["-sample", "1x1"])
        let tables = overlong.indices.dropLast().filter { overlong[$0] == 0xFF && overlong[$0 + 1] == 0xC4 }
        // The first AC table's shortest code shall mean fifteen zeros and a value.
        let table = try #require(tables.first { overlong[$0 + 4] == 0x10 })
        overlong[table + 21] = 0xF1
        #expect(try failure { _ = try prove(overlong) } == .corrupt)
    }

    @Test func memoryIsBounded() throws {
        for (options, needsMemory) in [(["-progressive"], true), ([], false)] {
            let jpeg = try JPEGPictures.cjpeg(512, 512, options)
            let kind = try jpeg.withUnsafeBytes { bytes in
                try failure { _ = try EntropyProof.prove(bytes, bytesMax: 256 * 1024) }
            }
            #expect(kind == (needsMemory ? .outOfMemory : nil))
            // At 4:2:0 one and a half coefficients of two bytes for each pixel, where all are kept at all.
            let needed = (needsMemory ? 512 * 512 * 3 : 0) + 1 << 20
            #expect(throws: Never.self) {
                try jpeg.withUnsafeBytes { bytes in try EntropyProof.prove(bytes, bytesMax: needed) }
            }
        }
    }

    @Test(arguments: codings) func damageNeverCrashes(options: [String]) throws {
        let jpeg = try JPEGPictures.cjpeg(64, 48, options)
        var random = SplitMix64(seed: 99)
        var failures = 0
        for _ in 0..<300 {
            var damaged = jpeg
            damaged[.random(in: 0..<jpeg.count, using: &random)] = random.next()
            if try failure({ _ = try prove(damaged) }) != nil { failures += 1 }
        }
        #expect(failures > 0)
    }

    @Test(arguments: [
        ([UInt8](), CodecError.Kind.truncated), ([0xFF], .truncated), ([0xFF, 0xD8], .truncated),
        ([0xFF, 0xD8, 0xFF, 0xD9], .corrupt), ([0x89, 0x50, 0x4E, 0x47], .corrupt),
    ])
    func noPictureFails(bytes: [UInt8], kind: CodecError.Kind) throws {
        #expect(try failure { _ = try prove(bytes) } == kind)
    }

    /// What libjpeg would take from elsewhere (tables), or from the last of several, is not the file's own.
    @Test func tablesAndScansAreWantedOnce() throws {
        var jpeg = try JPEGPictures.cjpeg(40, 30, [])
        let table = try #require(JPEGPictures.offset(of: 0xC4, in: jpeg))
        jpeg[table + 1] = 0xFE
        #expect(try Tool.run(["djpeg"], input: jpeg).status == 0, "djpeg implies the table")
        #expect(try failure { _ = try prove(jpeg) } == .corrupt)
        #expect(try failure { _ = try decode(jpeg) } == .corrupt)

        let folder = try ScratchFolder()
        let script = try folder.file("scans", Array("0;\n1;\n2;\n".utf8))
        let whole = try JPEGPictures.cjpeg(64, 48, [])
        let apart = try JPEGPictures.output(["jpegtran", "-scans", script], input: whole)
        let scans = apart.indices.dropLast().filter { apart[$0] == 0xFF && apart[$0 + 1] == 0xDA }
        let twice = Array(apart[..<scans[1]]) + apart[scans[0]...]
        #expect(try failure { _ = try prove(twice) } == .corrupt)
    }

    /// Tables are built only where a scan names them: a megabyte of definitions costs no more than reading it.
    @Test func unusedTablesAreNotBuilt() throws {
        let jpeg = try JPEGPictures.cjpeg(40, 30, [])
        // Too many codes of one bit; nobody looks.
        let bogus = [UInt8(0x13), 9] + [UInt8](repeating: 0, count: 15) + [UInt8](repeating: 0, count: 9)
        let segment = JPEGPictures.segment(0xC4, (0..<2000).flatMap { _ in bogus })
        let many = Array(jpeg[..<2]) + (0..<20).flatMap { _ in segment } + jpeg[2...]
        #expect(throws: Never.self) { try prove(many) }
    }

    /// Lawful by T.81, but libjpeg reads neither, and a copy would only be handed on.
    @Test func whatNoDecoderReadsIsUnsupported() throws {
        var jpeg = try JPEGPictures.cjpeg(40, 30, ["-sample", "2x1"])
        let frame = try #require(JPEGPictures.offset(of: 0xC0, in: jpeg))
        jpeg[frame + 11] = 0x31
        jpeg[frame + 14] = 0x21
        #expect(try Tool.run(["djpeg"], input: jpeg).complaint.contains("Fractional sampling"))
        #expect(try failure { _ = try prove(jpeg) } == .unsupported)
        var wide = try JPEGPictures.cjpeg(40, 30, [])
        wide.replaceSubrange((frame + 7)..<(frame + 9), with: [0xFF, 0xDD])
        #expect(try Tool.run(["djpeg"], input: wide).complaint.contains("65500"))
        #expect(try failure { _ = try prove(wide) } == .unsupported)
    }

    @Test(arguments: [0xC3, 0xC5, 0xCB] as [UInt8]) func otherProcessesAreUnsupported(marker: UInt8) throws {
        var jpeg = try JPEGPictures.cjpeg(40, 30, [])
        let frame = try #require(JPEGPictures.offset(of: 0xC0, in: jpeg))
        jpeg[frame + 1] = marker
        // Lossless scans have a predictor there.
        let data = try JPEGPictures.dataOffset(jpeg)
        jpeg.replaceSubrange((data - 3)..<data, with: [1, 0, 0])
        #expect(try failure { _ = try prove(jpeg) } == .unsupported)
        #expect(try failure { _ = try decode(jpeg) } == .unsupported)
    }
}
