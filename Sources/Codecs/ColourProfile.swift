import CLCMS
package import Core

/// An ICC profile that Little CMS has read and can convert by, so that every reader of the JPEG can.
package struct ColourProfile: Sendable, Equatable {
    /// What the numbers of a picture with this profile are.
    package enum Space: Sendable, Equatable {
        case grey, rgb, cmyk, other
    }

    /// The file, without anything behind its declared end.
    package let bytes: [UInt8]
    /// The name that the profile gives itself, foreign text: printable, at most 80 characters; may be empty.
    package let description: String
    package let space: Space
    /// Whether it shows RGB as sRGB does, whatever it is called.
    package let isSRGB: Bool

    /// The profile in `bytes`, or nil where it is broken or no profile of pictures: structure by ICC.1:2022, section 7,
    /// versions 2 to 4, a class that describes pixels, and a way to sRGB.
    package static func checking(_ bytes: [UInt8]) -> ColourProfile? {
        guard let size = declaredSize(of: bytes) else { return nil }
        return try? ColourProfile(trying: Array(bytes.prefix(size)))
    }

    /// A profile for pictures that only code points describe; nil where they need none (sRGB and its like, and what is
    /// unspecified) and for high dynamic range.
    ///
    /// The same code points give the same bytes.
    package static func matching(_ colour: ColourDescription) -> ColourProfile? {
        RGBSpace(colour).flatMap(building)
    }

    /// For pictures whose EXIF alone says Adobe RGB.
    package static let adobeRGB: ColourProfile? = building(.adobe)

    private static func building(_ space: RGBSpace) -> ColourProfile? {
        guard let open = try? OpenProfile.building(space), var bytes = open.serialised(), bytes.count > 100 else {
            return nil
        }
        // The date of creation and the profile's ID (ICC.1:2022, sections 7.2.8 and 7.2.18): a fixed date and none.
        bytes.replaceSubrange(24..<36, with: [0x07, 0xEA, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0])
        bytes.replaceSubrange(84..<100, with: repeatElement(0, count: 16))
        return checking(bytes)
    }

    /// The size in the header, where header and table of tags keep within the bytes that are there.
    private static func declaredSize(of bytes: [UInt8]) -> Int? {
        func number(at offset: Int) -> Int { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }
        guard bytes.count >= 132, Array(bytes[36..<40]) == Array("acsp".utf8), (2...4).contains(bytes[8]) else {
            return nil
        }
        let size = number(at: 0)
        let tags = number(at: 128)
        guard size <= bytes.count, (1...100).contains(tags), 132 + 12 * tags <= size else { return nil }
        for entry in stride(from: 132, to: 132 + 12 * tags, by: 12) {
            let offset = number(at: entry + 4)
            guard offset >= 132 + 12 * tags, offset + number(at: entry + 8) <= size else { return nil }
        }
        return size
    }

    private init(trying bytes: [UInt8]) throws(CodecError) {
        let profile = try OpenProfile.reading(bytes)
        switch profile.deviceClass {
        case cmsSigInputClass, cmsSigDisplayClass, cmsSigOutputClass, cmsSigColorSpaceClass: break
        default: throw CodecError(.unsupported, "a profile of no pixels")
        }
        guard profile.connectionSpace == cmsSigXYZData || profile.connectionSpace == cmsSigLabData else {
            throw CodecError(.corrupt, "a profile without a connection space")
        }
        let link = try ProfileLink.connecting(profile, to: try OpenProfile.sRGB(), isForTrial: true)
        switch profile.colourSpace {
        case cmsSigGrayData: space = .grey
        case cmsSigRgbData: space = .rgb
        case cmsSigCmykData: space = .cmyk
        default: space = .other
        }
        isSRGB = space == .rgb && Self.changesLittle(link)
        self.bytes = bytes
        description = profile.description.printable(scalarsMax: 80)
    }

    /// Tries a lattice of colours: two codes are the rounding of tables.
    private static func changesLittle(_ link: borrowing ProfileLink) -> Bool {
        let levels = stride(from: UInt8(0), through: 255, by: 51)
        let colours = levels.flatMap { red in levels.flatMap { green in levels.flatMap { [red, green, $0] } } }
        var converted = colours
        link.convert(colours, &converted, pixels: colours.count / 3)
        return zip(colours, converted).allSatisfy { abs(Int($0) - Int($1)) <= 2 }
    }
}
