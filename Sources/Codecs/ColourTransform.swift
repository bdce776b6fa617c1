import Core

/// Converts interleaved pixels, eight bits a channel, to interleaved sRGB.
///
/// Ink is counted as Little CMS and ICC do: 0 is paper, 255 is full ink. (JPEGs with Adobe's marker hold the
/// complement; whoever decodes them turns it.)
package struct ColourTransform: ~Copyable {
    private let link: ProfileLink?
    /// Bytes of a source pixel.
    package let channels: Int

    private init(link: consuming ProfileLink?, channels: Int) {
        self.link = link
        self.channels = channels
    }

    /// By `profile`: relative colorimetric, with black point compensation.
    ///
    /// - Throws: `corrupt` where the profile cannot be used after all, `outOfMemory`.
    package static func toSRGB(from profile: ColourProfile) throws(CodecError) -> ColourTransform {
        let source = try OpenProfile.reading(profile.bytes)
        let link = try ProfileLink.connecting(source, to: try OpenProfile.sRGB())
        return ColourTransform(link: link, channels: source.channels)
    }

    /// CMYK without a profile, as browsers and Pillow read it: what ink and black leave of the light.
    package static func toSRGBFromUntaggedCMYK() -> ColourTransform { ColourTransform(link: nil, channels: 4) }

    /// - Parameters:
    ///   - source: `pixels` times `channels` bytes.
    ///   - destination: `pixels` times 3 bytes: R, G, B; not the source's memory.
    package func convert(_ source: UnsafePointer<UInt8>, _ destination: UnsafeMutablePointer<UInt8>, pixels: Int) {
        switch link {
        case .some(let link): link.convert(source, destination, pixels: pixels)
        case nil: Self.multiply(source, destination, pixels: pixels)
        }
    }

    private static func multiply(
        _ source: UnsafePointer<UInt8>, _ destination: UnsafeMutablePointer<UInt8>, pixels: Int
    ) {
        for pixel in 0..<pixels {
            let light = 255 - UInt32(source[4 * pixel + 3])
            for channel in 0..<3 {
                let product = (255 - UInt32(source[4 * pixel + channel])) * light
                destination[3 * pixel + channel] = UInt8((product + 127) / 255)
            }
        }
    }
}
