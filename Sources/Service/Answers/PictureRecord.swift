import Core
import Posix
import Storage

/// The JSON record of a stored picture, as `POST /v1/images` answers it.
struct PictureRecord: Encodable, Equatable {
    let key: String
    let url: String
    let createdAt: String
    let contentType: String
    let width: Int
    let height: Int
    let bytes: Int
    let sha256: String
    let path: String
    let quality: Int?
    let source: SourceRecord
    let color: ColorRecord
    let disclosure: DisclosureRecord
    let removed: [String]
    let kept: [String]
    let warnings: [String]

    enum CodingKeys: String, CodingKey {
        case key, url, width, height, bytes, sha256, path, quality, source, color, removed, kept, warnings
        case createdAt = "created_at"
        case contentType = "content_type"
    }

    init(_ prepared: Prepared, key: ObjectKey, url: String, createdAt: UTCTime) {
        let report = prepared.report
        self.key = key.text
        self.url = url
        self.createdAt = createdAt.rfc3339
        contentType = "image/jpeg"
        width = report.size.width
        height = report.size.height
        bytes = prepared.jpeg.count
        sha256 = prepared.sha256.hex
        path = report.path.rawValue
        quality = report.quality
        source = SourceRecord(report, prepared.source)
        color = ColorRecord(report.color)
        disclosure = DisclosureRecord(report.disclosure)
        removed = report.removed.map(\.rawValue)
        kept = report.kept.map(\.rawValue)
        warnings = report.warnings.map(\.rawValue)
    }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(key, forKey: .key)
        try fields.encode(url, forKey: .url)
        try fields.encode(createdAt, forKey: .createdAt)
        try fields.encode(contentType, forKey: .contentType)
        try fields.encode(width, forKey: .width)
        try fields.encode(height, forKey: .height)
        try fields.encode(bytes, forKey: .bytes)
        try fields.encode(sha256, forKey: .sha256)
        try fields.encode(path, forKey: .path)
        // Present and null where nothing was encoded; the compiler's own version would leave the field out.
        try fields.encode(quality, forKey: .quality)
        try fields.encode(source, forKey: .source)
        try fields.encode(color, forKey: .color)
        try disclosure.encode(to: encoder)
        try fields.encode(removed, forKey: .removed)
        try fields.encode(kept, forKey: .kept)
        try fields.encode(warnings, forKey: .warnings)
    }
}
