import Core

extension Capture {
    init(_ exif: ExifRecord) {
        self.init()
        takenAt = exif.text("DateTimeOriginal").flatMap(ExifTime.init).map {
            $0.described(
                fraction: exif.text("SubSecTimeOriginal"),
                offset: exif.text("OffsetTimeOriginal"))
        }
        cameraMake = exif.text("Make")
        cameraModel = exif.text("Model")
        lens = exif.text("LensModel")
        exposureTime = exif.number("ExposureTime").flatMap(Capture.positive)
        fNumber = exif.number("FNumber").flatMap(Capture.positive)
        iso = Capture.iso(exif)
        focalLength = exif.number("FocalLength").flatMap(Capture.positive)
        focalLength35mm = exif.number("FocalLengthIn35mmFilm").flatMap(Capture.positive)
        flashFired = exif.integer("Flash").map { $0 & 1 == 1 }
    }

    /// The standard writes 0 where it is unknown.
    private static func positive(_ value: Double) -> Double? { value > 0 ? value : nil }

    /// PhotographicSensitivity is a SHORT: 65535 says that the value stands elsewhere (EXIF 3.0, section 4.6.6.7.5).
    private static func iso(_ exif: ExifRecord) -> Int? {
        let stated = exif.integer("PhotographicSensitivity")
        if let stated, stated > 0, stated < 65535 { return stated }
        return ["RecommendedExposureIndex", "ISOSpeed", "StandardOutputSensitivity"]
            .lazy.compactMap { exif.integer($0) }.first { $0 > 0 }
    }
}
