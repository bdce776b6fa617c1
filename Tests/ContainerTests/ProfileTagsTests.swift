import Support
import Testing

@testable import Container

@Suite struct ProfileTagsTests {
    struct Kind: Sendable, CustomTestStringConvertible {
        let name: String
        let bytes: [UInt8]
        var mode = "RGB"
        var testDescription: String { name }
    }

    static let kinds = [
        Kind(name: "parametric", bytes: ICCFile.matrix(curve: ICCFile.parametric).bytes),
        Kind(name: "curves", bytes: ICCFile.matrix(curve: ICCFile.curve((0..<64).map { $0 * $0 * 16 })).bytes),
        Kind(name: "grey", bytes: ICCFile.grey.bytes, mode: "L"),
        Kind(name: "mft1", bytes: ICCFile.tables("A2B0", ICCFile.oldTable8).bytes),
        Kind(name: "mft2", bytes: ICCFile.tables("A2B0", ICCFile.oldTable16).bytes),
        Kind(name: "mAB", bytes: ICCFile.tables("A2B0", ICCFile.stages).bytes),
        Kind(name: "mpet", bytes: ICCFile.tables("D2B1", ICCFile.elements).bytes),
    ]

    /// Little CMS makes the same colours of it, and it stays what it is.
    @Test(arguments: kinds) func whatMakesColoursStays(kind: Kind) throws {
        let cleaned = try #require(ProfileTags.cleaned(kind.bytes))
        #expect(cleaned.personalBytes == 0)
        #expect(ProfileTags.cleaned(cleaned.bytes) == cleaned)
        let colours = try [kind.bytes, cleaned.bytes].map { try lab($0, kind.mode) }
        #expect(colours[0] == colours[1] && colours[0].count == 3 * 256)
    }

    private func lab(_ profile: [UInt8], _ mode: String) throws -> [UInt8] {
        try JPEGPictures.python(
            """
            import io, sys
            from PIL import Image, ImageCms
            profile = ImageCms.ImageCmsProfile(io.BytesIO(sys.stdin.buffer.read()))
            picture = Image.frombytes("RGB", (16, 16), bytes((i * 7) % 256 for i in range(768))).convert("\(mode)")
            lab = ImageCms.buildTransform(profile, ImageCms.createProfile("LAB"), "\(mode)", "LAB", 1)
            sys.stdout.buffer.write(ImageCms.applyTransform(picture, lab).tobytes())
            """, input: profile)
    }

    /// Wherever words can stand in a profile.
    @Test(
        arguments: [4, 24, 40, 48, 52, 56, 80, 84, 96, 100, 124])
    func wordsInTheHeaderStayBehind(at: Int) throws {
        var file = ICCFile.matrix(curve: ICCFile.parametric)
        file.header = [at: Array("ELM!".utf8)]
        let clean = try #require(ProfileTags.cleaned(ICCFile.matrix(curve: ICCFile.parametric).bytes))
        let cleaned = try #require(ProfileTags.cleaned(file.bytes))
        #expect(cleaned.bytes == clean.bytes)
        #expect((cleaned.personalBytes > 0) == (at >= 100))
    }

    @Test func theHeaderKeepsWhatIsDefined() throws {
        var file = ICCFile.matrix(curve: ICCFile.parametric)
        file.header = [44: [9, 9, 9, 0xFF], 56: [9, 9, 9, 9, 9, 9, 9, 0xFF], 64: [0, 0, 0, 1], 9: [0x43, 7, 7]]
        let cleaned = try #require(ProfileTags.cleaned(file.bytes)?.bytes)
        #expect(Array(cleaned[44..<48]) == [0, 0, 0, 3])
        #expect(Array(cleaned[56..<68]) == [0, 0, 0, 0, 0, 0, 0, 15, 0, 0, 0, 1])
        #expect(Array(cleaned[8..<12]) == [4, 0x43, 0, 0])
        #expect(Array(cleaned[24..<36]) == [0x07, 0xD0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0])
        for (at, word) in [(12, "link"), (16, "CMYK"), (20, "Luv "), (36, "ACSP")] {
            file.header[at] = Array(word.utf8)
            #expect(ProfileTags.cleaned(file.bytes)?.bytes == nil)
            file.header[at] = nil
        }
    }

    @Test(
        arguments: [
            "dmnd", "dmdd", "tech", "view", "vued", "meas", "gamt", "pre0", "ncl2", "clrt", "clro", "ciis", "chrm",
            "rig0",
            "lumi", "bkpt", "meta", "targ", "mmod", "calt", "vcgt", "kTRC",
        ])
    func otherTagsStayBehind(name: String) throws {
        var file = ICCFile.matrix(curve: ICCFile.parametric)
        let clean = ProfileTags.cleaned(file.bytes)?.bytes
        file.set(name, ICCFile.text("Elm Street"))
        let cleaned = try #require(ProfileTags.cleaned(file.bytes))
        #expect(cleaned.bytes == clean)
        #expect(cleaned.personalBytes == ICCFile.text("Elm Street").count)
    }

    /// Numbers that no reader needs, and what the makers of sRGB wrote, are nothing personal.
    @Test func dullTagsAreNotWorthAWord() throws {
        var file = ICCFile.matrix(curve: ICCFile.parametric)
        file.set("bkpt", ICCFile.colour(0, 0, 0))
        file.set("dmnd", ICCFile.description("IEC http://www.iec.ch"))
        file.set("tech", ICCFile.type("sig ", Array("CRT ".utf8)))
        #expect(try #require(ProfileTags.cleaned(file.bytes)).personalBytes == 0)
    }

    @Test(arguments: ["rXYZ", "wtpt", "rTRC", "chad", "A2B0", "B2A0", "D2B0", "cicp"])
    func anotherTypeIsUnsound(name: String) {
        var file = ICCFile.matrix(curve: ICCFile.parametric)
        for data in [ICCFile.text("Elm Street, and then some more of it to be long enough"), [], [1, 2, 3]] {
            file.set(name, data)
            #expect(ProfileTags.cleaned(file.bytes)?.bytes == nil)
        }
    }

    /// Behind the end of a tag's content, in its reserved bytes, and in its gaps.
    @Test(arguments: ["rXYZ", "rTRC", "chad", "cicp", "A2B0", "A2B1", "A2B2", "D2B0"]) func tailsStayBehind(
        name: String
    ) throws {
        var file = ICCFile.matrix(curve: ICCFile.curve([1, 2, 3]))
        file.set("cicp", ICCFile.type("cicp", [12, 13, 0, 1]))
        file.set("A2B0", ICCFile.oldTable8)
        file.set("A2B1", ICCFile.oldTable16)
        file.set("A2B2", ICCFile.stages)
        file.set("D2B0", ICCFile.elements)
        let clean = try #require(ProfileTags.cleaned(file.bytes)?.bytes)
        let index = try #require(file.tags.firstIndex { $0.name == name })
        let whole = file.tags[index].data
        file.tags[index].data = whole + Array("Elm Street".utf8)
        #expect(ProfileTags.cleaned(file.bytes) == ProfileTags.Cleaned(bytes: clean, personalBytes: 10))
        file.tags[index].data = whole
        file.tags[index].data.replaceSubrange(4..<8, with: Array("Elm!".utf8))
        #expect(ProfileTags.cleaned(file.bytes) == ProfileTags.Cleaned(bytes: clean, personalBytes: 4))
        file.tags[index].data = Array(whole.dropLast(4))
        #expect(ProfileTags.cleaned(file.bytes) == nil)
    }

    @Test(
        "a name is kept where it is well known",
        arguments: [
            ("Display P3", "Display P3", true), ("sRGB IEC61966-2.1", "sRGB IEC61966-2.1", true),
            ("Artifex Software A98 ICC Profile ", "Artifex Software A98 ICC Profile", true), ("", "RGB", true),
            ("RGB", "RGB", true), ("DELL U2720Q #SN4711 2024-05-06", "RGB", false), ("Display P3 of Elm", "RGB", false),
        ])
    func names(text: String, expected: String, isKnown: Bool) throws {
        for version in [2, 4] as [UInt8] {
            for data in [ICCFile.localised(text), ICCFile.description(text)] {
                var file = ICCFile.matrix(curve: ICCFile.parametric)
                file.version = version
                file.set("desc", data)
                let cleaned = try #require(ProfileTags.cleaned(file.bytes))
                #expect((cleaned.personalBytes == 0) == isKnown)
                #expect(ProfileTags.cleaned(cleaned.bytes)?.bytes == cleaned.bytes)
                let told = try JPEGPictures.python(
                    """
                    import io, sys
                    from PIL import ImageCms
                    profile = ImageCms.ImageCmsProfile(io.BytesIO(sys.stdin.buffer.read())).profile
                    print(profile.profile_description, profile.copyright, sep="|", end="")
                    """, input: cleaned.bytes)
                #expect(String(decoding: told, as: UTF8.self) == expected + "|Not stated")
                let type = version == 4 ? "mluc" : "desc"
                #expect(cleaned.bytes.firstRange(of: Array(type.utf8) + [0, 0, 0, 0]) != nil)
            }
        }
    }

    @Test func aPersonsCopyrightStaysBehind() throws {
        var file = ICCFile.grey
        file.set("cprt", ICCFile.text("Copyright J. Elm"))
        file.set("desc", ICCFile.description("J. Elm's scanner"))
        let cleaned = try #require(ProfileTags.cleaned(file.bytes))
        #expect(!String(decoding: cleaned.bytes, as: UTF8.self).contains("Elm"))
        #expect(String(decoding: cleaned.bytes, as: UTF8.self).contains("grey"))
        #expect(cleaned.personalBytes > 40)
    }

    /// What lies between and behind the tags goes, and tags that overlap to more than the profile are refused.
    @Test func nothingRidesAlong() throws {
        let small = ICCFile.grey.bytes
        let clean = try #require(ProfileTags.cleaned(small)?.bytes)
        #expect(ProfileTags.cleaned(small + [9, 9, 9, 0]) == ProfileTags.Cleaned(bytes: clean, personalBytes: 3))
        let names = ["A2B0", "A2B1", "A2B2"].map { Array($0.utf8) }
        let table = ICCFile.oldTable8
        let data = (0..<3).flatMap { _ in Array(table.prefix(100)) } + table
        let overlapping = names.enumerated().flatMap {
            $1 + ICCFile.number(168 + $0 * 100) + ICCFile.number(data.count - $0 * 100)
        }
        let header = Array(ICCFile.tables("A2B0", []).bytes[..<128])
        #expect(ProfileTags.cleaned(header + ICCFile.number(3) + overlapping + data)?.bytes == nil)
    }

    @Test func sharedDataStaysShared() throws {
        let whole = ICCFile.matrix(curve: ICCFile.curve((0..<100).map { $0 }))
        let cleaned = try #require(ProfileTags.cleaned(whole.bytes)?.bytes)
        #expect(cleaned.count < whole.bytes.count - 400)
        let places = [6, 7, 8].map { Array(cleaned[(132 + 12 * $0 + 4)..<(132 + 12 * $0 + 12)]) }
        #expect(places[0] == places[1] && places[1] == places[2])
    }

    @Test func theFirstOfANameCounts() throws {
        var file = ICCFile.grey
        file.tags.append(("kTRC", ICCFile.text("Elm")))
        #expect(ProfileTags.cleaned(file.bytes)?.bytes == ProfileTags.cleaned(ICCFile.grey.bytes)?.bytes)
    }

    /// Whatever the damage, it ends, and what comes of it comes of itself.
    @Test(arguments: 0..<200 as Range<UInt64>) func anyBytesAreSurvived(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for kind in ProfileTagsTests.kinds {
            var profile = kind.bytes
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let reach = Bool.random(using: &random) ? profile.count : min(profile.count, 500)
                let value: UInt8 = Bool.random(using: &random) ? 0xFF : UInt8.random(in: 0...255, using: &random)
                profile[Int.random(in: 0..<reach, using: &random)] = value
            }
            if let cleaned = ProfileTags.cleaned(profile)?.bytes {
                #expect(ProfileTags.cleaned(cleaned)?.bytes == cleaned)
            }
            for count in [0, 4, 127, 128, 131, 132, 143, 144, profile.count - 1] {
                _ = ProfileTags.cleaned(Array(profile.prefix(count)))
            }
        }
    }
}
