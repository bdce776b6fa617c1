import Core
import Foundation
import Support
import Testing

@testable import Codecs

@Suite struct ColourProfileTests {
    private static func colour(_ primaries: UInt16, _ transfer: UInt16) -> ColourDescription {
        ColourDescription(primaries: primaries, transfer: transfer, matrix: 6, isFullRange: true)
    }

    /// Published colorants, adapted to D50: Apple's "Display P3.icc", Adobe's "AdobeRGB1998.icc".
    @Test(
        "built profiles have the colorants that their makers publish",
        arguments: [
            ("Display P3", [0.51512, 0.24120, -0.00105, 0.29198, 0.69225, 0.04189, 0.15710, 0.06657, 0.78407]),
            ("Adobe RGB (1998)", [0.60974, 0.31111, 0.01947, 0.20528, 0.62567, 0.06087, 0.14919, 0.06322, 0.74457]),
        ])
    func colorants(_ name: String, _ expected: [Double]) throws {
        let profile = try #require(name == "Display P3" ? .matching(Self.colour(12, 13)) : ColourProfile.adobeRGB)
        let folder = try ScratchFolder()
        let path = try folder.file("profile.icc", profile.bytes)
        let outcome = try Tool.run(["exiftool", "-json", "-n", "-icc_profile:all", path])
        let report = try #require(
            try JSONSerialization.jsonObject(with: Data(outcome.output)) as? [[String: Any]])
        let tags = try #require(report.first)
        let colorants = ["Red", "Green", "Blue"].flatMap { channel in
            (tags["\(channel)MatrixColumn"] as? String ?? "").split(separator: " ").compactMap { Double($0) }
        }
        #expect(colorants.count == 9)
        for (found, published) in zip(colorants, expected) { #expect(abs(found - published) < 0.0003) }
        #expect(tags["ProfileDescription"] as? String == name)
        #expect(tags["ProfileCopyright"] as? String == "No copyright, use freely")
        #expect(tags["ProfileDateTime"] as? String == "2026:01:01 00:00:00")
        #expect(tags["Warning"] == nil)
        #expect(profile.description == name)
        #expect(profile.bytes.count < 1024)
        #expect(profile.space == .rgb)
        #expect(!profile.isSRGB)
    }

    struct Space: Sendable {
        var code: ColourDescription?
        /// x and y of red, green and blue; the white is D65.
        var primaries: [Double]
        var toLight: @Sendable (Double) -> Double
    }

    private static let sRGBLight: @Sendable (Double) -> Double = {
        $0 <= 0.04045 ? $0 / 12.92 : pow(($0 + 0.055) / 1.055, 2.4)
    }
    private static let cameraLight: @Sendable (Double) -> Double = {
        $0 < 0.081 ? $0 / 4.5 : pow(($0 + 0.099) / 1.099, 1 / 0.45)
    }
    private static let p3 = [0.680, 0.320, 0.265, 0.690, 0.150, 0.060]
    private static let bt2020 = [0.708, 0.292, 0.170, 0.797, 0.131, 0.046]
    private static let bt709 = [0.64, 0.33, 0.30, 0.60, 0.15, 0.06]

    private static let spaces = [
        Space(code: colour(12, 13), primaries: p3, toLight: sRGBLight),
        Space(code: colour(12, 1), primaries: p3, toLight: sRGBLight),
        Space(code: colour(12, 2), primaries: p3, toLight: sRGBLight),
        Space(code: colour(9, 1), primaries: bt2020, toLight: cameraLight),
        Space(code: colour(9, 14), primaries: bt2020, toLight: cameraLight),
        Space(code: colour(9, 13), primaries: bt2020, toLight: sRGBLight),
        Space(code: colour(1, 4), primaries: bt709, toLight: { pow($0, 2.2) }),
        Space(code: colour(1, 5), primaries: bt709, toLight: { pow($0, 2.8) }),
        Space(code: colour(1, 8), primaries: bt709, toLight: { $0 }),
        Space(code: nil, primaries: [0.64, 0.33, 0.21, 0.71, 0.15, 0.06], toLight: { pow($0, 2.19921875) }),
    ]

    @Test("Pillow shows the built profiles' colours as their definitions have them", arguments: spaces.indices)
    func colours(_ index: Int) throws {
        let space = Self.spaces[index]
        let profile = try #require(space.code.map(ColourProfile.matching) ?? ColourProfile.adobeRGB)
        let levels: [UInt8] = [0, 20, 64, 128, 200, 255]
        let colours = levels.flatMap { r in levels.flatMap { g in levels.flatMap { [r, g, $0] } } }
        let converted = try Self.pillow(profile.bytes, "RGB", colours)
        for pixel in 0..<colours.count / 3 {
            let light = (0..<3).map { space.toLight(Double(colours[3 * pixel + $0]) / 255) }
            let shown = Colorimetry.multiply(
                Colorimetry.inverse(Colorimetry.toXYZ(Self.bt709)),
                Colorimetry.multiply(Colorimetry.toXYZ(space.primaries), light))
            // What sRGB does not hold is cut off in ways of their own.
            guard shown.allSatisfy({ (0...1).contains($0) }) else { continue }
            for channel in 0..<3 {
                let value = shown[channel]
                let code = value <= 0.0031308 ? 12.92 * value : 1.055 * pow(value, 1 / 2.4) - 0.055
                #expect(abs(Double(converted[3 * pixel + channel]) - code * 255) < 1.6)
            }
        }
    }

    /// `pixels` as Pillow converts them to its own sRGB.
    static func pillow(_ profile: [UInt8], _ mode: String, _ pixels: [UInt8]) throws -> [UInt8] {
        let channels = mode.utf8.count
        let script = """
            import io, sys
            from PIL import Image, ImageCms
            data = sys.stdin.buffer.read()
            profile = ImageCms.ImageCmsProfile(io.BytesIO(data[:\(profile.count)]))
            picture = Image.frombytes("\(mode)", (\(pixels.count / channels), 1), data[\(profile.count):])
            result = ImageCms.profileToProfile(picture, profile, ImageCms.createProfile("sRGB"),
                renderingIntent=1, outputMode="RGB", flags=0x2000)
            sys.stdout.buffer.write(result.tobytes())
            """
        let outcome = try Tool.run(["/usr/bin/python3", "-c", script], input: profile + pixels)
        try #require(outcome.status == 0, "\(outcome.complaint)")
        return outcome.output
    }

    @Test("no profile for sRGB's like, for what is unspecified, for high dynamic range")
    func none() {
        for (primaries, transfer) in [
            (1, 13), (1, 1), (1, 6), (1, 14), (1, 2), (2, 2), (2, 13), (5, 1), (6, 6), (7, 13), (9, 16), (9, 18),
            (12, 16), (1, 18), (0, 0), (200, 200), (9, 3),
        ] as [(UInt16, UInt16)] {
            #expect(ColourProfile.matching(Self.colour(primaries, transfer)) == nil)
        }
    }

    @Test("the same code points give the same bytes")
    func deterministic() throws {
        let first = try #require(ColourProfile.matching(Self.colour(12, 13)))
        Thread.sleep(forTimeInterval: 1.1)
        #expect(ColourProfile.matching(Self.colour(12, 13)) == first)
    }

    @Test("sRGB is known by what it shows")
    func sRGB() throws {
        let script =
            "import sys; from PIL import ImageCms; "
            + "sys.stdout.buffer.write(ImageCms.ImageCmsProfile(ImageCms.createProfile('sRGB')).tobytes())"
        let bytes = try Tool.run(["/usr/bin/python3", "-c", script]).output
        let profile = try #require(ColourProfile.checking(bytes))
        #expect(profile.isSRGB)
        #expect(profile.space == .rgb)
        #expect(profile.bytes == bytes)
    }

    @Test("bytes behind the profile's end are not part of it")
    func trailing() throws {
        let profile = try #require(ColourProfile.adobeRGB)
        #expect(ColourProfile.checking(profile.bytes + Array("a secret".utf8)) == profile)
    }

    @Test("grey and inks are told apart")
    func spacesOfProfiles() throws {
        let grey = try #require(
            ColourProfile.checking(ICCFile.grey(exponent: 2.2, description: "Dot Gain 20%").bytes))
        #expect(grey.space == .grey)
        #expect(grey.name == "Dot Gain 20%")
        #expect(!grey.isSRGB)
        let press = try #require(ColourProfile.checking(ICCFile.press.bytes))
        #expect(press.space == .cmyk)
        #expect(press.name == "CMYK profile")
    }

    @Test("a description is foreign text: clipped, and without what does not print")
    func description() throws {
        let text = "Naïve\u{7}\u{202E} \u{1F4F7}" + String(repeating: "x", count: 200)
        let profile = try #require(ColourProfile.checking(ICCFile.grey(exponent: 2, description: text).bytes))
        #expect(profile.description.hasPrefix("Naïve \u{1F4F7}x"))
        #expect(profile.description.count == 80)
        let unnamed = try #require(ColourProfile.checking(ICCFile.grey(exponent: 2, description: "").bytes))
        #expect(unnamed.name == "grey profile")
        #expect(profile.name == "grey profile")
    }

    @Test("profiles of no pixels and of other versions are none")
    func refused() {
        var file = ICCFile.grey(exponent: 2.2, description: "x")
        #expect(ColourProfile.checking(file.bytes) != nil)
        for deviceClass in ["link", "abst", "nmcl", "    "] {
            file.deviceClass = deviceClass
            #expect(ColourProfile.checking(file.bytes) == nil)
        }
        file.deviceClass = "scnr"
        for (version, isGood) in [(0, false), (1, false), (2, true), (4, true), (5, false), (255, false)] {
            file.version = UInt8(version)
            #expect((ColourProfile.checking(file.bytes) != nil) == isGood)
        }
        file.version = 2
        file.connectionSpace = "RGB "
        #expect(ColourProfile.checking(file.bytes) == nil)
        file.connectionSpace = "XYZ "
        file.tags.removeAll { $0.name == "kTRC" }
        #expect(ColourProfile.checking(file.bytes) == nil)
    }

    @Test("cut short or wrongly measured, a profile is none")
    func truncated() throws {
        for whole in [try #require(ColourProfile.adobeRGB).bytes, ICCFile.press.bytes] {
            for count in stride(from: 0, to: whole.count, by: 7) {
                #expect(ColourProfile.checking(Array(whole.prefix(count))) == nil)
            }
            for size in [0, 1, 131, whole.count + 1, 0x7FFF_FFFF, 0xFFFF_FFFF] {
                #expect(ColourProfile.checking(ICCFile.number(size) + whole[4...]) == nil)
            }
            for tags in [0, 101, 0xFFFF_FFFF] {
                #expect(ColourProfile.checking(whole[..<128] + ICCFile.number(tags) + whole[132...]) == nil)
            }
        }
    }

    @Test("whatever the damage, a profile is none or converts", arguments: 0..<4)
    func mutations(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let wholes = [try #require(ColourProfile.adobeRGB).bytes, ICCFile.press.bytes]
        for round in 0..<250 {
            var bytes = wholes[round % 2]
            for _ in 0...Int(random.next() % 4) {
                // Mostly where structure is told: header, table, and the beginnings of tags.
                let reach = random.next() % 4 == 0 ? bytes.count : min(bytes.count, 360)
                bytes[Int(random.next() % UInt64(reach))] = UInt8(truncatingIfNeeded: random.next())
            }
            // Preparing inks takes a while: a few do.
            guard let profile = ColourProfile.checking(bytes), profile.space == .rgb || round < 10 else { continue }
            let transform = try ColourTransform.toSRGB(from: profile)
            let source = [UInt8](repeating: 99, count: transform.channels * 4)
            var target = [UInt8](repeating: 0, count: 12)
            transform.convert(source, &target, pixels: 4)
        }
    }

    @Test("names for the record")
    func names() {
        let expected: [(UInt16, UInt16, String)] = [
            (1, 13, "sRGB"), (2, 2, "sRGB"), (1, 1, "BT.709"), (12, 13, "Display P3"), (12, 1, "Display P3"),
            (9, 14, "BT.2020"), (9, 16, "BT.2020 PQ"), (9, 18, "BT.2020 HLG"), (12, 16, "Display P3 PQ"),
            (5, 1, "BT.601"), (6, 6, "BT.601"), (1, 4, "BT.709 gamma 2.2"), (1, 8, "BT.709 linear"), (11, 13, "DCI-P3"),
            (77, 13, "primaries 77"),
        ]
        for (primaries, transfer, name) in expected { #expect(Self.colour(primaries, transfer).name == name) }
    }
}

/// Matrices of three by three, by rows.
enum Colorimetry {
    /// From RGB light to XYZ, by the chromaticities of the colorants (x and y of red, green, blue) and D65 (SMPTE
    /// RP 177, section 3.3).
    static func toXYZ(_ primaries: [Double]) -> [Double] {
        let columns = (0..<3).map { index in
            let (x, y) = (primaries[2 * index], primaries[2 * index + 1])
            return [x / y, 1, (1 - x - y) / y]
        }
        let matrix = (0..<9).map { columns[$0 % 3][$0 / 3] }
        let white = [0.3127 / 0.3290, 1, (1 - 0.3127 - 0.3290) / 0.3290]
        let scale = multiply(inverse(matrix), white)
        return (0..<9).map { matrix[$0] * scale[$0 % 3] }
    }

    static func multiply(_ m: [Double], _ v: [Double]) -> [Double] {
        (0..<3).map { m[3 * $0] * v[0] + m[3 * $0 + 1] * v[1] + m[3 * $0 + 2] * v[2] }
    }

    static func inverse(_ m: [Double]) -> [Double] {
        func minor(_ r: Int, _ c: Int) -> Double {
            let (a, b) = ((r + 1) % 3, (r + 2) % 3)
            let (d, e) = ((c + 1) % 3, (c + 2) % 3)
            return m[3 * a + d] * m[3 * b + e] - m[3 * a + e] * m[3 * b + d]
        }
        let determinant = m[0] * minor(0, 0) + m[1] * minor(0, 1) + m[2] * minor(0, 2)
        return (0..<9).map { minor($0 % 3, $0 / 3) / determinant }
    }
}
