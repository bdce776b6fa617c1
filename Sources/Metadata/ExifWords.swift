import Core

/// What the numbers of EXIF's enumerations mean, in the standard's words (EXIF 3.0, sections 4.6.5 and 4.6.6).
enum ExifWords {
    /// - Returns: nil for tags that are no enumeration, and for numbers that the standard reserves.
    static func text(for name: String, _ value: ExifValue) -> String? {
        guard case .integer(let number) = value else { return nil }
        return name == "Flash" ? flash(number) : words[name]?[number]
    }

    private static let words: [String: [Int: String]] = [
        "Orientation": [
            1: "0th row at top, 0th column at left", 2: "0th row at top, 0th column at right",
            3: "0th row at bottom, 0th column at right", 4: "0th row at bottom, 0th column at left",
            5: "0th row at left, 0th column at top", 6: "0th row at right, 0th column at top",
            7: "0th row at right, 0th column at bottom", 8: "0th row at left, 0th column at bottom",
        ],
        "ResolutionUnit": [2: "inches", 3: "centimeters"],
        "FocalPlaneResolutionUnit": [2: "inches", 3: "centimeters"],
        "ExposureProgram": [
            0: "Not defined", 1: "Manual", 2: "Normal program", 3: "Aperture priority", 4: "Shutter priority",
            5: "Creative program", 6: "Action program", 7: "Portrait mode", 8: "Landscape mode",
        ],
        "SensitivityType": [
            0: "Unknown", 1: "Standard output sensitivity", 2: "Recommended exposure index", 3: "ISO speed",
            4: "Standard output sensitivity and recommended exposure index",
            5: "Standard output sensitivity and ISO speed", 6: "Recommended exposure index and ISO speed",
            7: "Standard output sensitivity, recommended exposure index and ISO speed",
        ],
        "MeteringMode": [
            0: "Unknown", 1: "Average", 2: "Center-weighted average", 3: "Spot", 4: "Multi-spot", 5: "Pattern",
            6: "Partial", 255: "Other",
        ],
        "LightSource": [
            0: "Unknown", 1: "Daylight", 2: "Fluorescent", 3: "Tungsten (incandescent light)", 4: "Flash",
            9: "Fine weather", 10: "Cloudy weather", 11: "Shade", 12: "Daylight fluorescent (D 5700 - 7100K)",
            13: "Day white fluorescent (N 4600 - 5500K)", 14: "Cool white fluorescent (W 3800 - 4500K)",
            15: "White fluorescent (WW 3250 - 3800K)", 16: "Warm white fluorescent (L 2600 - 3250K)",
            17: "Standard light A", 18: "Standard light B", 19: "Standard light C", 20: "D55", 21: "D65", 22: "D75",
            23: "D50", 24: "ISO studio tungsten", 255: "Other light source",
        ],
        "ColorSpace": [1: "sRGB", 65535: "Uncalibrated"],
        "SensingMethod": [
            1: "Not defined", 2: "One-chip color area sensor", 3: "Two-chip color area sensor",
            4: "Three-chip color area sensor", 5: "Color sequential area sensor", 7: "Trilinear sensor",
            8: "Color sequential linear sensor",
        ],
        "FileSource": [0: "Others", 1: "Scanner of transparent type", 2: "Scanner of reflex type", 3: "DSC"],
        "SceneType": [1: "A directly photographed image"],
        "CustomRendered": [0: "Normal process", 1: "Custom process"],
        "ExposureMode": [0: "Auto exposure", 1: "Manual exposure", 2: "Auto bracket"],
        "WhiteBalance": [0: "Auto white balance", 1: "Manual white balance"],
        "SceneCaptureType": [0: "Standard", 1: "Landscape", 2: "Portrait", 3: "Night scene"],
        "GainControl": [0: "None", 1: "Low gain up", 2: "High gain up", 3: "Low gain down", 4: "High gain down"],
        "Contrast": [0: "Normal", 1: "Soft", 2: "Hard"],
        "Saturation": [0: "Normal", 1: "Low saturation", 2: "High saturation"],
        "Sharpness": [0: "Normal", 1: "Soft", 2: "Hard"],
        "SubjectDistanceRange": [0: "Unknown", 1: "Macro", 2: "Close view", 3: "Distant view"],
        "CompositeImage": [
            0: "Unknown", 1: "Non-composite image", 2: "General composite image",
            3: "Composite image captured when shooting",
        ],
    ]

    /// Flash is a field of bits: 0 fired; 1 and 2 the strobe's return light; 3 and 4 the mode; 5 no flash function; 6
    /// red-eye reduction (EXIF 3.0, section 4.6.6.7.12).
    private static func flash(_ bits: Int) -> String? {
        guard (0...0x7F).contains(bits) else { return nil }
        if bits & 0x20 != 0 { return "No flash function" }
        var words = [bits & 1 == 0 ? "Flash did not fire" : "Flash fired"]
        switch bits >> 3 & 3 {
        case 1, 2: words.append("compulsory flash mode")
        case 3: words.append("auto mode")
        default: break
        }
        switch bits >> 1 & 3 {
        case 2: words.append("return light not detected")
        case 3: words.append("return light detected")
        default: break
        }
        if bits & 0x40 != 0 { words.append("red-eye reduction mode") }
        return words.joined(separator: ", ")
    }
}
