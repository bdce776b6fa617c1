import Core
import Support
import Testing

@Suite struct TranscoderTests {
    @Test(
        arguments: [
            ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], "image/png"), (Array("GIF89a".utf8), "image/gif"),
            (Array("%PDF-1.7".utf8), "application/pdf"),
        ] as [([UInt8], String)]) func refusesByName(bytes: [UInt8], name: String) throws
    {
        let failure = try Transcoded.failure(bytes + [UInt8](repeating: 0, count: 64))
        #expect(failure.code == .unsupportedMedia)
        #expect(failure.detail.contains(name))
    }

    @Test func refusesWhatIsNothing() throws {
        #expect(try Transcoded.failure([]).code == .unsupportedMedia)
        #expect(try Transcoded.failure(Array("hello".utf8)).code == .unsupportedMedia)
    }

    @Test func theSameInputGivesTheSameBytes() throws {
        var picture = HEICPicture(200, 136)
        picture.tile = PixelSize(width: 64, height: 64)
        picture.nclx = .displayP3
        let heic = try picture.make()
        #expect(try Transcoded(heic).jpeg == Transcoded(heic).jpeg)
    }
}
