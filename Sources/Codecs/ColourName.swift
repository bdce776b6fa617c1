package import Core

extension ColourProfile {
    /// What the record calls the profile: its own description where that is well known, or what it is like. Others may be
    /// the name of a screen.
    package var name: String {
        if let known = ProfileNames.known(description) { return known }
        if isSRGB { return "sRGB" }
        return switch space {
        case .grey: "grey profile"
        case .rgb: "RGB profile"
        case .cmyk: "CMYK profile"
        case .other: "unnamed profile"
        }
    }
}

extension ColourDescription {
    /// What the record calls colours that only code points describe (H.273, tables 2 and 3). Unspecified is sRGB, as
    /// JFIF and HEIF readers take it.
    package var name: String {
        switch transfer {
        case 16: return gamut + " PQ"
        case 18: return gamut + " HLG"
        default: break
        }
        if let space = RGBSpace(self) { return space.name }
        return switch primaries {
        case 1 where transfer == 13 || transfer == 2: "sRGB"
        case 2: "sRGB"
        default: gamut
        }
    }

    private var gamut: String {
        switch primaries {
        case 1, 2: "BT.709"
        case 5, 6, 7: "BT.601"
        case 9: "BT.2020"
        case 11: "DCI-P3"
        case 12: "Display P3"
        default: "primaries \(primaries)"
        }
    }
}
