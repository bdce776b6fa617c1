import Codecs
import Core

/// Which profile the JPEG carries, and what the record says of colour.
struct OutputColour {
    /// The profile to embed; nil says sRGB, which every reader assumes.
    let icc: [UInt8]?
    let names: Report.Color
    let warnings: Set<Warning>

    /// For samples that keep their source's primaries and transfer: the profile travels along where it is sound and of
    /// the picture's kind; numbers that are not sRGB and have no profile get the one that says the same. High dynamic
    /// range becomes what the tone mapper makes of it.
    ///
    /// - Parameters:
    ///   - embedded: the source's profile, nil where it has none, empty where it could not be put together.
    ///   - colour: what the container or the bitstream says in numbers.
    static func kept(
        _ embedded: [UInt8]?, colour: ColourDescription, isGrey: Bool, isAdobeRGB: Bool = false
    ) -> OutputColour {
        // A profile of HDR would speak of other numbers than the tone mapper's.
        if colour.isHDR {
            return OutputColour(ColourProfile.matching(.displayP3), source: colour.name, warnings: [.hdrToneMapped])
        }
        if let profile = embedded.flatMap(ColourProfile.checking), profile.space == (isGrey ? .grey : .rgb) {
            return OutputColour(profile, source: profile.name)
        }
        let warnings: Set<Warning> = embedded == nil ? [] : [.iccInvalid]
        if isAdobeRGB, !isGrey, let adobe = ColourProfile.adobeRGB {
            return OutputColour(adobe, source: adobe.name, warnings: warnings)
        }
        return OutputColour(isGrey ? nil : ColourProfile.matching(colour), source: colour.name, warnings: warnings)
    }

    /// For pixels that were converted to sRGB from what is called `name`.
    static func converted(from name: String, warnings: Set<Warning> = []) -> OutputColour {
        OutputColour(nil, source: name, warnings: warnings)
    }

    private init(_ profile: ColourProfile?, source: String, warnings: Set<Warning> = []) {
        icc = profile?.bytes
        names = Report.Color(source: source, output: profile?.name ?? "sRGB")
        self.warnings = warnings
    }
}
