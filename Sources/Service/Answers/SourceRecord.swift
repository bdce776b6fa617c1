import Core
import Storage

/// A photo as it was sent, as the records tell it.
struct SourceRecord: Encodable, Equatable {
    let format: String
    let bytes: Int
    let sha256: String
    let width: Int
    let height: Int
    let orientation: Int
    let orientationSource: String

    enum CodingKeys: String, CodingKey {
        case format, bytes, sha256, width, height, orientation
        case orientationSource = "orientation_source"
    }

    init(_ report: Report, _ photo: SentPhoto) {
        format = report.source.format.rawValue
        bytes = photo.count
        sha256 = photo.sha256.hex
        width = report.source.size.width
        height = report.source.size.height
        orientation = Int(report.source.orientation.rawValue)
        orientationSource = report.source.orientationSource.rawValue
    }
}

/// Colour spaces by name, as the records tell them.
struct ColorRecord: Encodable, Equatable {
    let source: String
    let output: String

    init(_ color: Report.Color) {
        source = color.source
        output = color.output
    }
}
