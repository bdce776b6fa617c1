import Container
import Support
import Testing

@Suite struct ProfileTagsTests {
    /// Little CMS makes the same colours of it.
    @Test func whatMakesColoursStays() throws {
        let profile = try JPEGPictures.profile(adding: ["mmod", "calt", "zzzz", "lumi"], text: "SERIAL")
        let cleaned = ProfileTags.coloursOnly(profile)
        #expect(cleaned.count < profile.count && cleaned.count % 4 == 0)
        let colours = try [profile, cleaned].map { profile in
            try JPEGPictures.python(
                """
                import io, sys
                from PIL import Image, ImageCms
                profile = ImageCms.ImageCmsProfile(io.BytesIO(sys.stdin.buffer.read()))
                picture = Image.frombytes("RGB", (16, 16), bytes((i * 7) % 256 for i in range(768)))
                lab = ImageCms.buildTransform(profile, ImageCms.createProfile("LAB"), "RGB", "LAB")
                sys.stdout.buffer.write(ImageCms.applyTransform(picture, lab).tobytes())
                """, input: profile)
        }
        #expect(colours[0] == colours[1] && colours[0].count == 768)
        // The one standard tag of the four.
        #expect(String(decoding: cleaned, as: UTF8.self).split(separator: "SERIAL").count == 2)
    }

    @Test func aProfileOfColoursAloneIsItself() throws {
        let profile = try JPEGPictures.profile(adding: [], text: "none")
        #expect(ProfileTags.coloursOnly(profile) == profile)
    }

    @Test(arguments: 0..<200) func anyBytesAreSurvived(seed: Int) throws {
        var profile = try #require(Self.small)
        for step in 0..<4 {
            profile[(seed * 31 + step * 53) % profile.count] = UInt8(truncatingIfNeeded: seed * 97 + step)
        }
        _ = ProfileTags.coloursOnly(profile)
        for count in [0, 4, 127, 128, 131, 132, 143, 144] { _ = ProfileTags.coloursOnly(Array(profile.prefix(count))) }
    }

    /// Two tags that share their data, one to go, and one of no length.
    private static let small: [UInt8]? = {
        let table: [(String, Int, Int)] = [("rTRC", 180, 8), ("gTRC", 180, 8), ("mmod", 188, 4), ("desc", 192, 0)]
        func big(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
        return [UInt8](repeating: 0, count: 128) + big(4) + table.flatMap { Array($0.0.utf8) + big($0.1) + big($0.2) }
            + [1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9]
    }()

    @Test func sharedDataStaysShared() throws {
        let cleaned = ProfileTags.coloursOnly(try #require(Self.small))
        #expect(cleaned.count == 128 + 4 + 36 + 8)
        #expect(Array(cleaned[..<4]) == [0, 0, 0, UInt8(cleaned.count)])
        #expect(Array(cleaned.suffix(8)) == [1, 2, 3, 4, 5, 6, 7, 8])
        let places = [0, 1].map { cleaned[(132 + 12 * $0 + 4)..<(132 + 12 * $0 + 12)] }
        #expect(Array(places[0]) == [0, 0, 0, 168, 0, 0, 0, 8] && places[0].elementsEqual(places[1]))
    }
}
