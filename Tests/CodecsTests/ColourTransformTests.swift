import Core
import Support
import Testing

@testable import Codecs

@Suite struct ColourTransformTests {
    private static let levels: [UInt8] = [0, 37, 128, 200, 255]

    private static let inks = levels.flatMap { c in
        levels.flatMap { m in levels.flatMap { y in levels.flatMap { [c, m, y, $0] } } }
    }

    private static let colours = levels.flatMap { r in levels.flatMap { g in levels.flatMap { [r, g, $0] } } }

    private static func convert(_ transform: borrowing ColourTransform, _ source: [UInt8]) -> [UInt8] {
        let pixels = source.count / transform.channels
        var result = [UInt8](repeating: 0, count: 3 * pixels)
        transform.convert(source, &result, pixels: pixels)
        return result
    }

    private static func distance(_ a: [UInt8], _ b: [UInt8]) -> Int {
        a.count == b.count ? zip(a, b).map { abs(Int($0) - Int($1)) }.max() ?? 0 : .max
    }

    @Test("inks by a profile, as Pillow converts them")
    func press() throws {
        let profile = try #require(ColourProfile.checking(ICCFile.press.bytes))
        let transform = try ColourTransform.toSRGB(from: profile)
        #expect(transform.channels == 4)
        let result = Self.convert(transform, Self.inks)
        #expect(Self.distance(result, try ColourProfileTests.pillow(profile.bytes, "CMYK", Self.inks)) <= 2)
        // No ink is paper, which the profile says is white; all of black is dark.
        #expect(result.prefix(3).allSatisfy { $0 >= 254 })
        #expect(result[12..<15].allSatisfy { $0 < 60 })
    }

    @Test("RGB by a profile, as Pillow converts it")
    func adobe() throws {
        let profile = try #require(ColourProfile.adobeRGB)
        let transform = try ColourTransform.toSRGB(from: profile)
        let expected = try ColourProfileTests.pillow(profile.bytes, "RGB", Self.colours)
        #expect(Self.distance(Self.convert(transform, Self.colours), expected) <= 2)
    }

    @Test("sRGB stays as it is")
    func identity() throws {
        let script =
            "import sys; from PIL import ImageCms; "
            + "sys.stdout.buffer.write(ImageCms.ImageCmsProfile(ImageCms.createProfile('sRGB')).tobytes())"
        let bytes = try Tool.run(["/usr/bin/python3", "-c", script]).output
        let transform = try ColourTransform.toSRGB(from: try #require(ColourProfile.checking(bytes)))
        #expect(Self.distance(Self.convert(transform, Self.colours), Self.colours) <= 1)
    }

    @Test("grey becomes three equal channels")
    func grey() throws {
        let profile = try #require(
            ColourProfile.checking(ICCFile.grey(exponent: 1, description: "linear").bytes))
        let transform = try ColourTransform.toSRGB(from: profile)
        #expect(transform.channels == 1)
        // Half the light is sRGB's code 188 (IEC 61966-2-1, section 5.2).
        #expect(Self.distance(Self.convert(transform, [0, 128, 255]), [0, 0, 0, 188, 188, 188, 255, 255, 255]) <= 1)
    }

    @Test("inks without a profile, as Pillow reads them")
    func untagged() throws {
        let script = """
            import sys
            from PIL import Image
            data = sys.stdin.buffer.read()
            sys.stdout.buffer.write(Image.frombytes("CMYK", (len(data) // 4, 1), data).convert("RGB").tobytes())
            """
        let outcome = try Tool.run(["/usr/bin/python3", "-c", script], input: Self.inks)
        try #require(outcome.status == 0, "\(outcome.complaint)")
        let result = Self.convert(ColourTransform.toSRGBFromUntaggedCMYK(), Self.inks)
        #expect(Self.distance(result, outcome.output) <= 1)
    }
}
