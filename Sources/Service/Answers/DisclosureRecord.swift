import Core

/// The fields `exif`, `capture`, `gps` and `gps_status` of the records: always there, and null where the options let
/// nothing through.
struct DisclosureRecord: Encodable, Equatable {
    let disclosure: Disclosure

    enum CodingKeys: String, CodingKey {
        case exif, capture, gps
        case gpsStatus = "gps_status"
    }

    init(_ disclosure: Disclosure) { self.disclosure = disclosure }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(disclosure.exif.map(ExifFields.init), forKey: .exif)
        try fields.encode(disclosure.capture.map(CaptureRecord.init), forKey: .capture)
        try fields.encode(disclosure.position.map(PositionRecord.init), forKey: .gps)
        try fields.encode(disclosure.gpsStatus?.rawValue, forKey: .gpsStatus)
    }
}

/// EXIF by its standard's tag names.
private struct ExifFields: Encodable {
    let record: ExifRecord

    struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    init(_ record: ExifRecord) { self.record = record }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Name.self)
        for field in record.fields {
            let name = Name(stringValue: field.name)
            switch field.value {
            case .integer(let value): try fields.encode(value, forKey: name)
            case .number(let value): try fields.encode(value, forKey: name)
            case .text(let value): try fields.encode(value, forKey: name)
            case .integers(let values): try fields.encode(values, forKey: name)
            case .numbers(let values): try fields.encode(values, forKey: name)
            }
        }
    }
}

/// The ten things that applications ask for; each null where the photo does not tell it.
private struct CaptureRecord: Encodable {
    let capture: Capture

    enum CodingKeys: String, CodingKey, CaseIterable {
        case takenAt = "taken_at"
        case cameraMake = "camera_make"
        case cameraModel = "camera_model"
        case lens
        case exposureTime = "exposure_time"
        case fNumber = "f_number"
        case iso
        case focalLength = "focal_length"
        case focalLength35mm = "focal_length_35mm"
        case flashFired = "flash_fired"
    }

    init(_ capture: Capture) { self.capture = capture }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(capture.takenAt, forKey: .takenAt)
        try fields.encode(capture.cameraMake, forKey: .cameraMake)
        try fields.encode(capture.cameraModel, forKey: .cameraModel)
        try fields.encode(capture.lens, forKey: .lens)
        try fields.encode(capture.exposureTime, forKey: .exposureTime)
        try fields.encode(capture.fNumber, forKey: .fNumber)
        try fields.encode(capture.iso, forKey: .iso)
        try fields.encode(capture.focalLength, forKey: .focalLength)
        try fields.encode(capture.focalLength35mm, forKey: .focalLength35mm)
        try fields.encode(capture.flashFired, forKey: .flashFired)
    }
}

/// A place in the units of the contract; what is not told is null.
private struct PositionRecord: Encodable {
    let position: Position

    enum CodingKeys: String, CodingKey {
        case latitude, longitude, altitude, timestamp, speed
        case imageDirection = "image_direction"
        case imageDirectionReference = "image_direction_reference"
        case horizontalError = "horizontal_error"
    }

    init(_ position: Position) { self.position = position }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(position.latitude, forKey: .latitude)
        try fields.encode(position.longitude, forKey: .longitude)
        try fields.encode(position.altitude, forKey: .altitude)
        try fields.encode(position.timestamp, forKey: .timestamp)
        try fields.encode(position.speed, forKey: .speed)
        try fields.encode(position.imageDirection, forKey: .imageDirection)
        try fields.encode(position.imageDirectionReference?.rawValue, forKey: .imageDirectionReference)
        try fields.encode(position.horizontalError, forKey: .horizontalError)
    }
}
