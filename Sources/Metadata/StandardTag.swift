import Core

/// A tag of the EXIF standard that may be read: the allow-list for reading, and the lesser one for keeping.
struct StandardTag: Sendable, Equatable {
    /// Where the standard puts a tag.
    enum Directory: UInt8, Sendable, CaseIterable {
        /// IFD0
        case image
        case exif
        case gps
        case interoperability
    }

    /// A tag number means something only within its directory.
    struct Key: Hashable, Comparable {
        let directory: Directory
        let number: UInt16

        static func < (one: Key, other: Key) -> Bool {
            (one.directory.rawValue, one.number) < (other.directory.rawValue, other.number)
        }
    }

    /// The type that the standard gives a tag; others are read where they say the same.
    enum Form: Sendable {
        case text
        /// One byte each, meant as numbers.
        case bytes
        /// UNDEFINED that holds four digits.
        case version
        case short
        /// SHORT or LONG.
        case long
        case rational
        case signedRational
    }

    let key: Key
    /// As in EXIF 3.0.
    let name: String
    let form: Form
    /// Elements, all that is read of them. Of texts: bytes.
    let count: Int
    /// Whether `keep` may write it.
    let isKept: Bool

    /// Texts are cut here, so that a block of all texts there are fits one APP1 segment twice.
    static let textBytesMax = 1000

    /// How its text has to be written to be kept.
    var textForm: ExifTextForm {
        if name.hasPrefix("DateTime") { return .moment }
        if name.hasPrefix("OffsetTime") { return .offset }
        return name.hasPrefix("SubSecTime") ? .fraction : .free
    }

    static let all: [Key: StandardTag] = Dictionary(
        uniqueKeysWithValues: (imageTags + exifTags + gpsTags + interoperabilityTags).map { ($0.key, $0) })
}

extension StandardTag {
    private typealias Row = (UInt16, String, Form, Int)

    private static func rows(_ directory: Directory, kept: [Row], returned: [Row]) -> [StandardTag] {
        let make = { (row: Row, isKept: Bool) in
            StandardTag(
                key: Key(directory: directory, number: row.0), name: row.1, form: row.2,
                count: row.2 == .text ? textBytesMax : row.3, isKept: isKept)
        }
        return kept.map { make($0, true) } + returned.map { make($0, false) }
    }

    /// EXIF 3.0, section 4.6.5. Not kept: what describes the source's pixels, and what a person wrote of the picture.
    private static let imageTags = rows(
        .image,
        kept: [
            (0x010F, "Make", .text, 0), (0x0110, "Model", .text, 0), (0x0131, "Software", .text, 0),
            (0x0132, "DateTime", .text, 0), (0x013B, "Artist", .text, 0), (0x8298, "Copyright", .text, 0),
        ],
        returned: [
            (0x0100, "ImageWidth", .long, 1), (0x0101, "ImageLength", .long, 1), (0x0102, "BitsPerSample", .short, 3),
            (0x0103, "Compression", .short, 1), (0x0106, "PhotometricInterpretation", .short, 1),
            (0x010E, "ImageDescription", .text, 0), (0x0112, "Orientation", .short, 1),
            (0x0115, "SamplesPerPixel", .short, 1), (0x011A, "XResolution", .rational, 1),
            (0x011B, "YResolution", .rational, 1), (0x011C, "PlanarConfiguration", .short, 1),
            (0x0128, "ResolutionUnit", .short, 1),
            (0x013E, "WhitePoint", .rational, 2), (0x013F, "PrimaryChromaticities", .rational, 6),
            (0x0211, "YCbCrCoefficients", .rational, 3), (0x0212, "YCbCrSubSampling", .short, 2),
            (0x0213, "YCbCrPositioning", .short, 1), (0x0214, "ReferenceBlackWhite", .rational, 6),
        ])

    /// EXIF 3.0, section 4.6.6. Not kept: serial numbers, names and ids; what a person wrote; what describes the
    /// source's pixels; and the surroundings, of which pressure and depth tell the place. Blobs are not read at all.
    private static let exifTags = rows(
        .exif,
        kept: [
            (0x829A, "ExposureTime", .rational, 1), (0x829D, "FNumber", .rational, 1),
            (0x8822, "ExposureProgram", .short, 1), (0x8827, "PhotographicSensitivity", .short, 1),
            (0x8830, "SensitivityType", .short, 1), (0x8831, "StandardOutputSensitivity", .long, 1),
            (0x8832, "RecommendedExposureIndex", .long, 1), (0x8833, "ISOSpeed", .long, 1),
            (0x8834, "ISOSpeedLatitudeyyy", .long, 1), (0x8835, "ISOSpeedLatitudezzz", .long, 1),
            (0x9003, "DateTimeOriginal", .text, 0), (0x9004, "DateTimeDigitized", .text, 0),
            (0x9010, "OffsetTime", .text, 0), (0x9011, "OffsetTimeOriginal", .text, 0),
            (0x9012, "OffsetTimeDigitized", .text, 0), (0x9201, "ShutterSpeedValue", .signedRational, 1),
            (0x9202, "ApertureValue", .rational, 1), (0x9203, "BrightnessValue", .signedRational, 1),
            (0x9204, "ExposureBiasValue", .signedRational, 1), (0x9205, "MaxApertureValue", .rational, 1),
            (0x9206, "SubjectDistance", .rational, 1), (0x9207, "MeteringMode", .short, 1),
            (0x9208, "LightSource", .short, 1), (0x9209, "Flash", .short, 1), (0x920A, "FocalLength", .rational, 1),
            (0x9290, "SubSecTime", .text, 0), (0x9291, "SubSecTimeOriginal", .text, 0),
            (0x9292, "SubSecTimeDigitized", .text, 0), (0xA20B, "FlashEnergy", .rational, 1),
            (0xA215, "ExposureIndex", .rational, 1), (0xA217, "SensingMethod", .short, 1),
            (0xA300, "FileSource", .bytes, 1), (0xA301, "SceneType", .bytes, 1), (0xA401, "CustomRendered", .short, 1),
            (0xA402, "ExposureMode", .short, 1), (0xA403, "WhiteBalance", .short, 1),
            (0xA404, "DigitalZoomRatio", .rational, 1), (0xA405, "FocalLengthIn35mmFilm", .short, 1),
            (0xA406, "SceneCaptureType", .short, 1), (0xA407, "GainControl", .short, 1),
            (0xA408, "Contrast", .short, 1), (0xA409, "Saturation", .short, 1), (0xA40A, "Sharpness", .short, 1),
            (0xA40C, "SubjectDistanceRange", .short, 1), (0xA432, "LensSpecification", .rational, 4),
            (0xA433, "LensMake", .text, 0), (0xA434, "LensModel", .text, 0), (0xA439, "CameraFirmware", .text, 0),
            (0xA460, "CompositeImage", .short, 1),
        ],
        returned: [
            (0x8824, "SpectralSensitivity", .text, 0), (0x9000, "ExifVersion", .version, 4),
            (0x9101, "ComponentsConfiguration", .bytes, 4), (0x9102, "CompressedBitsPerPixel", .rational, 1),
            (0x9214, "SubjectArea", .short, 4), (0x9400, "Temperature", .signedRational, 1),
            (0x9401, "Humidity", .rational, 1), (0x9402, "Pressure", .rational, 1),
            (0x9403, "WaterDepth", .signedRational, 1), (0x9404, "Acceleration", .rational, 1),
            (0x9405, "CameraElevationAngle", .signedRational, 1), (0xA000, "FlashpixVersion", .version, 4),
            (0xA001, "ColorSpace", .short, 1), (0xA002, "PixelXDimension", .long, 1),
            (0xA003, "PixelYDimension", .long, 1), (0xA004, "RelatedSoundFile", .text, 0),
            (0xA20E, "FocalPlaneXResolution", .rational, 1), (0xA20F, "FocalPlaneYResolution", .rational, 1),
            (0xA210, "FocalPlaneResolutionUnit", .short, 1), (0xA214, "SubjectLocation", .short, 2),
            (0xA420, "ImageUniqueID", .text, 0), (0xA430, "CameraOwnerName", .text, 0),
            (0xA431, "BodySerialNumber", .text, 0), (0xA435, "LensSerialNumber", .text, 0),
            (0xA436, "ImageTitle", .text, 0), (0xA437, "Photographer", .text, 0), (0xA438, "ImageEditor", .text, 0),
            (0xA43A, "RAWDevelopingSoftware", .text, 0), (0xA43B, "ImageEditingSoftware", .text, 0),
            (0xA43C, "MetadataEditingSoftware", .text, 0), (0xA461, "SourceImageNumberOfCompositeImage", .short, 2),
            (0xA500, "Gamma", .rational, 1),
        ])

    /// EXIF 3.0, section 4.6.7: what `Position` tells. They are kept as `Position` understands them, not tag by tag.
    private static let gpsTags = rows(
        .gps, kept: [],
        returned: [
            (0x01, "GPSLatitudeRef", .text, 0), (0x02, "GPSLatitude", .rational, 3),
            (0x03, "GPSLongitudeRef", .text, 0), (0x04, "GPSLongitude", .rational, 3),
            (0x05, "GPSAltitudeRef", .bytes, 1), (0x06, "GPSAltitude", .rational, 1),
            (0x07, "GPSTimeStamp", .rational, 3), (0x0C, "GPSSpeedRef", .text, 0), (0x0D, "GPSSpeed", .rational, 1),
            (0x10, "GPSImgDirectionRef", .text, 0), (0x11, "GPSImgDirection", .rational, 1),
            (0x1D, "GPSDateStamp", .text, 0), (0x1F, "GPSHPositioningError", .rational, 1),
        ])

    /// EXIF 3.0, section 4.6.8.
    private static let interoperabilityTags = rows(
        .interoperability, kept: [], returned: [(0x01, "InteroperabilityIndex", .text, 0)])
}
