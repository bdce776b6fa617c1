import Core

/// An RGB space by its definition: the chromaticities of its colorants and one curve for all of them.
struct RGBSpace: Sendable, Equatable {
    struct Chromaticity: Sendable, Equatable {
        var x: Double
        var y: Double

        static let d65 = Chromaticity(x: 0.3127, y: 0.3290)
    }

    /// From code to light, as ICC's parametric curve (ICC.1:2022, section 10.18): `type` counts from 1 as Little CMS
    /// does, one more than the standard's number.
    struct Curve: Sendable, Equatable {
        var type: Int32
        var parameters: [Double]

        static func gamma(_ exponent: Double) -> Curve { Curve(type: 1, parameters: [exponent]) }
        /// IEC 61966-2-1, section 5.2.
        static let sRGB = Curve(type: 4, parameters: [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045])
        /// The inverse of the camera's curve (BT.709-6, item 1.2; BT.2020-2, table 4).
        static let bt709 = Curve(type: 4, parameters: [1 / 0.45, 1 / 1.099, 0.099 / 1.099, 1 / 4.5, 0.081])
    }

    var name: String
    var red: Chromaticity
    var green: Chromaticity
    var blue: Chromaticity
    var white: Chromaticity
    var curve: Curve

    /// Adobe RGB (1998) Color Image Encoding, version 2005-05, section 4.3.
    static let adobe = RGBSpace(
        name: "Adobe RGB (1998)", red: Chromaticity(x: 0.64, y: 0.33), green: Chromaticity(x: 0.21, y: 0.71),
        blue: Chromaticity(x: 0.15, y: 0.06), white: .d65, curve: .gamma(2 + 51.0 / 256))

    /// The space of numbers that only code points describe (H.273, tables 2 and 3), or nil where they are as good as
    /// sRGB's or say nothing, and for high dynamic range, which no such curve shows rightly.
    ///
    /// As good as sRGB: BT.709's primaries with any camera's curve, since that is looked at through sRGB's; and
    /// BT.601's (5, 6, 7), which phones' encoders write beside pictures of their sRGB cameras.
    init?(_ colour: ColourDescription) {
        guard let curve = Self.curve(of: colour) else { return nil }
        let suffix = curve.suffix.map { " " + $0 } ?? ""
        switch colour.primaries {
        case 1 where curve.suffix != nil:
            self.init(
                name: "BT.709" + suffix, red: Chromaticity(x: 0.64, y: 0.33), green: Chromaticity(x: 0.30, y: 0.60),
                blue: Chromaticity(x: 0.15, y: 0.06), white: .d65, curve: curve.curve)
        case 9:
            self.init(
                name: "BT.2020" + suffix, red: Chromaticity(x: 0.708, y: 0.292),
                green: Chromaticity(x: 0.170, y: 0.797),
                blue: Chromaticity(x: 0.131, y: 0.046), white: .d65, curve: curve.curve)
        case 12:
            self.init(
                name: "Display P3" + suffix, red: Chromaticity(x: 0.680, y: 0.320),
                green: Chromaticity(x: 0.265, y: 0.690), blue: Chromaticity(x: 0.150, y: 0.060), white: .d65,
                curve: curve.curve)
        default: return nil
        }
    }

    private init(
        name: String, red: Chromaticity, green: Chromaticity, blue: Chromaticity, white: Chromaticity, curve: Curve
    ) {
        self.name = name
        self.red = red
        self.green = green
        self.blue = blue
        self.white = white
        self.curve = curve
    }

    /// The curve, and what it adds to the space's name unless it is the usual one.
    private static func curve(of colour: ColourDescription) -> (curve: Curve, suffix: String?)? {
        switch colour.transfer {
        case 1, 6, 14, 15: (colour.primaries == 9 ? .bt709 : .sRGB, nil)
        case 2, 13: (.sRGB, nil)
        case 4: (.gamma(2.2), "gamma 2.2")
        case 5: (.gamma(2.8), "gamma 2.8")
        case 8: (.gamma(1), "linear")
        default: nil
        }
    }
}
