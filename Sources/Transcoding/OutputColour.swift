import Codecs
import Container
import Core

/// What becomes of a picture's colours: which profile the JPEG carries, and what the record says.
struct OutputColour {
    /// The profile to embed, without what does not tell colours; nil says sRGB, which every reader assumes.
    let icc: [UInt8]?
    /// The bytes of the source's profile that are left out of it and may tell something of a person or a device.
    let profileTextBytes: Int
    /// Whether the finished picture's numbers are sRGB.
    let isSRGB: Bool
    /// By which the pixels are to be converted to sRGB; nil where they keep their numbers.
    let conversion: ColourProfile?
    let names: Report.Color
    let warnings: Set<Warning>

    /// For samples that keep their source's primaries and transfer: the profile travels along where it is sound and of
    /// the picture's kind; numbers that are not sRGB and have no profile get the one that says the same. High dynamic
    /// range becomes what the tone mapper makes of it. Under `color=srgb` all but sRGB itself is converted by that
    /// profile instead.
    ///
    /// - Parameters:
    ///   - embedded: the source's profile, nil where it has none, empty where it could not be put together.
    ///   - colour: what the container or the bitstream says in numbers.
    static func of(
        _ embedded: [UInt8]?, colour: ColourDescription, isGrey: Bool, isAdobeRGB: Bool = false, rule: ColorRule
    ) -> OutputColour {
        // A profile of HDR would speak of other numbers than the tone mapper's.
        if colour.isHDR {
            return OutputColour(
                ColourProfile.matching(.displayP3), source: colour.name, warnings: [.hdrToneMapped], rule: rule)
        }
        if let profile = embedded.flatMap(ColourProfile.checking), profile.space == (isGrey ? .grey : .rgb),
            let colours = ProfileTags.cleaned(profile.bytes)
        {
            return OutputColour(profile, colours: colours, source: profile.name, rule: rule)
        }
        let warnings: Set<Warning> = embedded == nil ? [] : [.iccInvalid]
        if isAdobeRGB, !isGrey, let adobe = ColourProfile.adobeRGB {
            return OutputColour(adobe, source: adobe.name, warnings: warnings, rule: rule)
        }
        return OutputColour(
            isGrey ? nil : ColourProfile.matching(colour), source: colour.name, warnings: warnings, rule: rule)
    }

    /// For pixels that are converted to sRGB from what is called `name` while they are decoded.
    static func converted(from name: String, warnings: Set<Warning> = []) -> OutputColour {
        OutputColour(nil, source: name, warnings: warnings, rule: .keep)
    }

    /// - Parameter colours: what tells colours of the profile; nil where it is not the source's, but built.
    private init(
        _ profile: ColourProfile?, colours: ProfileTags.Cleaned? = nil, source: String, warnings: Set<Warning> = [],
        rule: ColorRule
    ) {
        let isConverted = rule == .srgb && profile.map { !$0.isSRGB } ?? false
        conversion = isConverted ? profile : nil
        icc = isConverted ? nil : (colours ?? profile.flatMap { ProfileTags.cleaned($0.bytes) })?.bytes
        profileTextBytes = isConverted ? 0 : colours?.personalBytes ?? 0
        isSRGB = isConverted || profile?.isSRGB ?? true
        names = Report.Color(source: source, output: isConverted ? "sRGB" : profile?.name ?? "sRGB")
        self.warnings = warnings
    }
}
