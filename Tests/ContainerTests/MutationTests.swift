import Container
import Core
import Support
import Testing

/// Whatever bytes come, the walkers end and answer. A trap would end the test run and name no seed, so each case says
/// its seed where its answer breaks a promise.
@Suite struct MutationTests {
    private static let sources: [[UInt8]] = [
        JPEGShape.file(
            JPEGShape.segment(0xE1, "Exif\0\0", [1, 2, 3]) + JPEGShape.icc(1, of: 2, [1]) + JPEGShape.icc(2, of: 2, [2])
                + JPEGShape.segment(0xE1, "http://ns.adobe.com/xap/1.0/\0tiff:Orientation=\"6\" exif:GPSLatitude"),
            appended: JPEGShape.file()),
        HEIFShape.grid.bytes, richHEIF.bytes,
        JPEGShape.progressive(
            JPEGShape.dri + JPEGShape.dqt(1, "unused") + JPEGShape.dri,
            between: JPEGShape.dht(2, "unused") + JPEGShape.segment(0xDD, [0, 0]), first: JPEGShape.restartedData),
    ]

    private static var richHEIF: HEIFShape {
        var shape = HEIFShape.grid
        shape.isWide = true
        shape.properties += [
            HEIFShape.irot(3), HEIFShape.clap(60, 1, 50, 1, 1, 2, -1, 2), HEIFShape.prof([1, 2, 3, 4]),
            HEIFShape.auxC("urn:mpeg:hevc:2015:auxid:1"), HEIFShape.pixi(8, 8, 8),
        ]
        shape.items[4].properties += [4, 5, 6, 8]
        shape.items += [
            HEIFShape.Item(id: 6, type: "hvc1", properties: [1, 2, 7]),
            HEIFShape.Item(id: 7, type: "Exif", data: [0, 0, 0, 0] + Array("II*\0abcd".utf8), extents: 2),
            HEIFShape.Item(id: 8, type: "mime", contentType: "application/rdf+xml", data: Array("<x/>".utf8)),
        ]
        shape.references += [
            .init(type: "auxl", from: 6, to: [5]), .init(type: "cdsc", from: 7, to: [5]),
            .init(type: "thmb", from: 6, to: [5]),
        ]
        return shape
    }

    @Test(arguments: 0..<4) func theSourcesAreGood(index: Int) {
        #expect(problem(MutationTests.sources[index]) == nil)
        #expect(answers(MutationTests.sources[index]))
    }

    @Test(arguments: 0..<4) func survivesMutations(source: Int) {
        for seed in 0..<1500 as Range<UInt64> {
            let bytes = MutationTests.sources[source].mutated(seed: seed)
            if let problem = problem(bytes) {
                Issue.record("source \(source), seed \(seed): \(problem)")
                return
            }
        }
    }

    @Test func survivesNoise() {
        for seed in 0..<1000 as Range<UInt64> {
            var random = SplitMix64(seed: seed)
            let choice: [UInt8] = [0, 1, 2, 8, 0xFF, 0xD8, 0xD9, 0xDA, 0xC0, 0xE1]
            let bytes = (0..<Int.random(in: 0...80, using: &random)).map { _ in
                choice[Int.random(in: choice.indices, using: &random)]
            }
            if let problem = problem([0xFF, 0xD8] + bytes) ?? problem(bytes) {
                Issue.record("seed \(seed): \(problem)")
                return
            }
        }
    }

    private func answers(_ bytes: [UInt8]) -> Bool {
        (try? JPEGStructure(parsing: bytes.span, limits: Limits())) != nil
            || (try? HEIFStructure(parsing: bytes.span, limits: Limits())) != nil
    }

    /// What a broken promise is called: ranges beyond the file, a refusal with a strange code, a copy that the output
    /// check does not let pass.
    private func problem(_ bytes: [UInt8]) -> String? {
        _ = Sniffer.sniff(bytes.span)
        let allowed: Set<Failure.Code> = [.corrupt, .truncated, .tooManyPixels, .undecodable, .unsupportedMedia]
        do throws(Failure) {
            let jpeg = try JPEGStructure(parsing: bytes.span, limits: Limits())
            let ranges = jpeg.carried.ranges + jpeg.exif.flatMap(\.ranges) + [jpeg.trailer]
            if ranges.contains(where: { $0.upperBound > bytes.count }) { return "a range beyond the file" }
            if jpeg.isCopyable, !jpeg.frame.isArithmetic, jpeg.frame.components.count < 4 {
                let copy =
                    try JPEGPreamble.bytes(profile: JPEGShape.profile) + jpeg.carried.bytes(in: bytes.span)
                    + JPEGShape.eoi
                try OutputCheck.verify(copy.span, size: jpeg.frame.size)
            }
        } catch {
            guard allowed.contains(error.code) else { return error.detail }
        }
        do throws(Failure) {
            let heif = try HEIFStructure(parsing: bytes.span, limits: Limits())
            if heif.exif.flatMap(\.ranges).contains(where: { $0.upperBound > bytes.count }) { return "EXIF beyond" }
            if heif.displaySize.width < 1 || heif.displaySize.height < 1 { return "an empty picture" }
        } catch {
            guard allowed.contains(error.code) else { return error.detail }
        }
        do throws(Failure) {
            try OutputCheck.verify(bytes.span, size: PixelSize(width: 48, height: 32))
            if bytes.suffix(2) != JPEGShape.eoi[...] { return "passed without EOI at the end" }
        } catch {
            guard error.code == .selfCheckFailed else { return error.detail }
        }
        return nil
    }
}
