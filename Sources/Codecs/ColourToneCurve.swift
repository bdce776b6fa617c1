import Glibc

/// The functions between code and light of high and standard dynamic range. Codes are 0…1, light is in cd/m² or, of
/// scenes and of SDR, 0…1.
enum ToneCurve {
    /// What a diffuse white shows (BT.2408), which SDR has at its top.
    static let referenceWhite: Double = 203
    /// The top of what is expected of a photo; what is brighter is cut. HLG's nominal display (BT.2100-2, table 5).
    static let sourcePeak: Double = 1000

    /// PQ's code to light (BT.2100-2, table 4).
    static func lightOfPQ(_ code: Double) -> Double {
        let power = pow(max(code, 0), 1 / PQ.m2)
        return 10_000 * pow(max(power - PQ.c1, 0) / (PQ.c2 - PQ.c3 * power), 1 / PQ.m1)
    }

    /// Light to PQ's code.
    static func codeOfPQ(_ light: Double) -> Double {
        let power = pow(max(light, 0) / 10_000, PQ.m1)
        return pow((PQ.c1 + PQ.c2 * power) / (1 + PQ.c3 * power), PQ.m2)
    }

    private enum PQ {
        static let m1: Double = 2610.0 / 16384
        static let m2: Double = 2523.0 / 4096 * 128
        static let c1: Double = 3424.0 / 4096
        static let c2: Double = 2413.0 / 4096 * 32
        static let c3: Double = 2392.0 / 4096 * 32
    }

    /// HLG's code to the light of the scene (BT.2100-2, table 5).
    static func sceneOfHLG(_ code: Double) -> Double {
        let (a, b, c): (Double, Double, Double) = (0.17883277, 0.28466892, 0.55991073)
        return code <= 0.5 ? code * code / 3 : (exp((code - c) / a) + b) / 12
    }

    /// What the light of a scene is to be multiplied by to be that of HLG's nominal display, whose exponent is 1.2
    /// (BT.2100-2, table 5): `luminance` is the scene's.
    static func displayGainOfHLG(_ luminance: Float) -> Float {
        Float(sourcePeak) * powf(max(luminance, 0), 0.2)
    }

    /// Light up to `sourcePeak` brought below `referenceWhite` by the EETF of BT.2390, section 5.4: on PQ's
    /// scale, nothing changes up to the knee, and the top bends over.
    static func rolledOff(_ light: Double) -> Double {
        let top = codeOfPQ(sourcePeak)
        let target = codeOfPQ(referenceWhite) / top
        let knee = 1.5 * target - 0.5
        let code = min(codeOfPQ(light) / top, 1)
        guard code > knee else { return light }
        let t = (code - knee) / (1 - knee)
        let (t2, t3) = (t * t, t * t * t)
        let bent = (2 * t3 - 3 * t2 + 1) * knee + (t3 - 2 * t2 + t) * (1 - knee) + (3 * t2 - 2 * t3) * target
        return lightOfPQ(bent * top)
    }

    /// Light to sRGB's code (IEC 61966-2-1, section 5.2).
    static func codeOfSRGB(_ light: Double) -> Double {
        light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055
    }
}
