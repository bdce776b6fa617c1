/// The names of ICC profiles that tell a kind of colours and nothing of whoever uses them. Any other name may be a
/// screen's model, its serial number or the day of its calibration, and is never passed on.
package enum ProfileNames {
    /// - Parameter text: what a profile calls itself.
    /// - Returns: the name as it may be passed on, or nil where it is none of the well-known ones.
    package static func known(_ text: String) -> String? {
        var name = Substring(text)
        while let last = name.unicodeScalars.last, last == " " || last == "\0" { name.unicodeScalars.removeLast() }
        return names.contains(String(name)) ? String(name) : nil
    }

    private static let names = Set(sRGB + wide + grey + inks + ours)

    private static let sRGB = [
        "sRGB", "sRGB IEC61966-2.1", "sRGB IEC61966-2-1", "sRGB IEC61966-2-1 black scaled",
        "sRGB IEC61966-2-1 no black scaling", "sRGB IEC61966-2-1 noBPC", "sRGB2014", "sRGB built-in",
        "GIMP built-in sRGB", "sRGB v4 ICC preference perceptual intent beta", "sRGB_v4_ICC_preference",
        "sRGB v4 ICC preference", "sRGB_ICC_v4_Appearance", "sRGB Profile", "sRGB Color Space Profile",
        "sRGB D65 Gamut with sRGB Transfer", "sRGB Gamut with sRGB Transfer", "sRGB Primaries, sRGB Transfer",
        "sRGB parametric", "sRGB Facebook", "RGB_D65_SRG_Per_SRG", "RGB_D65_SRG_Rel_SRG",
        "Artifex Software sRGB ICC Profile", "sRGB emulation", "sRGB-elle-V2-srgbtrc.icc", "sRGB-elle-V4-srgbtrc.icc",
        "c2", "c2ci", "nRGB", "uRGB", "uRGBe", "cRGB", "Camera RGB Profile",
    ]
    private static let wide = [
        "Display P3", "Apple P3", "uP3", "P3 D65", "P3D65", "DCI-P3", "DCI(P3) RGB", "DCI-P3 D65",
        "SMPTE RP 431-2-2007 DCI (P3)", "DCI-P3 D65 Gamut with sRGB Transfer", "Display P3 Gamut with sRGB Transfer",
        "DisplayP3", "RGB_D65_DCI_Per_SRG", "RGB_D65_DCI_Rel_SRG", "P3-D65", "image P3", "Adobe RGB (1998)",
        "AdobeRGB1998", "Adobe RGB", "Compatible with Adobe RGB (1998)", "A98", "uA98", "A98C",
        "Artifex Software A98 ICC Profile", "GIMP built-in Adobe RGB", "opRGB", "Nikon Adobe RGB 4.0.0.3000",
        "Nikon sRGB 4.0.0.3001", "Nikon sRGB 4.0.0.3002", "Nikon Adobe RGB 4.0.0.3001", "Apple RGB",
        "Generic RGB Profile", "Generic RGB", "ProPhoto RGB", "ProPhoto", "ROMM RGB", "ROMM RGB: ISO 22028-2:2013",
        "Kodak ProPhoto RGB", "Large RGB", "uProPhoto", "Wide Gamut RGB", "WideGamut RGB", "Adobe Wide Gamut RGB",
        "ColorMatch RGB", "eciRGB v2", "eciRGB v2 ICCv4", "ECI-RGB.V1.0.icc", "TIFF RGB", "Rec. ITU-R BT.709-5",
        "Rec. ITU-R BT.709-6", "Rec. ITU-R BT.709", "Rec. 709", "Rec.709", "HDTV (Rec. 709)", "Rec709",
        "ITU-R BT.709", "Rec. ITU-R BT.2020-1", "Rec. ITU-R BT.2020-2", "Rec. ITU-R BT.2020", "Rec. 2020", "Rec2020",
        "Rec.2020", "u2020", "ITU-R BT.2020", "Rec. ITU-R BT.2100 PQ", "Rec. ITU-R BT.2100 HLG", "Rec. 2100 PQ",
        "Rec. 2100 HLG", "ITUR_2100_PQ_FULL", "ITUR_2100_HLG_FULL", "RGB_D65_202_Rel_PeQ", "RGB_D65_202_Rel_HLG",
        "RGB_D65_202_Rel_709", "RGB_D65_202_Per_PeQ", "RGB_D65_202_Per_HLG", "SMPTE-C", "PAL/SECAM", "NTSC (1953)",
        "SDTV NTSC", "SDTV PAL", "XYB_Per", "ACES CG Linear (Academy Color Encoding System AP1)", "ACEScg", "XYZ",
    ]
    private static let grey = [
        "Generic Gray Profile", "Generic Gray", "Generic Gray Gamma 2.2 Profile", "Gray Gamma 2.2", "Gray Gamma 1.8",
        "Gray", "Dot Gain 10%", "Dot Gain 15%", "Dot Gain 20%", "Dot Gain 25%", "Dot Gain 30%", "sGray", "sGrey",
        "uGray", "GIMP built-in D65 Grayscale with sRGB TRC", "Artifex Software sGray ICC Profile", "GRA_D65_Rel_SRG",
        "Gra_D65_Rel_SRG", "Gra_D65_Per_SRG",
    ]
    private static let inks = [
        "U.S. Web Coated (SWOP) v2", "U.S. Web Uncoated v2", "U.S. Sheetfed Coated v2", "U.S. Sheetfed Uncoated v2",
        "Web Coated SWOP 2006 Grade 3 Paper", "Web Coated SWOP 2006 Grade 5 Paper",
        "Coated GRACoL 2006 (ISO 12647-2:2004)", "Coated FOGRA27 (ISO 12647-2:2004)",
        "Coated FOGRA39 (ISO 12647-2:2004)", "Uncoated FOGRA29 (ISO 12647-2:2004)",
        "Web Coated FOGRA28 (ISO 12647-2:2004)", "ISO Coated v2 (ECI)", "ISO Coated v2 300% (ECI)", "PSO Coated v3",
        "PSO Uncoated v3 (FOGRA52)", "Japan Color 2001 Coated", "Japan Color 2001 Uncoated",
        "Japan Color 2002 Newspaper", "Euroscale Coated v2", "Euroscale Uncoated v2", "Generic CMYK Profile",
        "Generic CMYK", "Artifex Software SWOP CMYK ICC Profile", "Artifex CMYK SWOP Profile",
    ]
    /// Of the profiles that are built for pictures whose colours only numbers tell.
    private static let ours = ["BT.709", "BT.2020", "Display P3"].flatMap { space in
        ["", " gamma 2.2", " gamma 2.8", " linear"].map { space + $0 }
    }
}
