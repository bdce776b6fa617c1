import Core
import Storage

/// What a photo is and what would become of it, as `POST /v1/inspect` and `safelight inspect` answer it.
struct InspectionRecord: Encodable, Equatable {
    /// What would be done to it.
    struct Plan: Encodable, Equatable {
        let path: String
        let width: Int
        let height: Int
        let quality: Int?

        enum CodingKeys: String, CodingKey {
            case path, width, height, quality
        }

        func encode(to encoder: any Encoder) throws {
            var fields = encoder.container(keyedBy: CodingKeys.self)
            try fields.encode(path, forKey: .path)
            try fields.encode(width, forKey: .width)
            try fields.encode(height, forKey: .height)
            try fields.encode(quality, forKey: .quality)
        }
    }

    let source: SourceRecord
    let color: ColorRecord
    let disclosure: DisclosureRecord
    /// By the names of `Removable`.
    let foundBytes: [String: Int]
    let removed: [String]
    let kept: [String]
    let plan: Plan
    let warnings: [String]

    enum CodingKeys: String, CodingKey {
        case source, color, removed, kept, plan, warnings
        case foundBytes = "found_bytes"
    }

    init(_ inspected: Inspected) {
        let report = inspected.report
        source = SourceRecord(report, inspected.source)
        color = ColorRecord(report.color)
        disclosure = DisclosureRecord(report.disclosure)
        foundBytes = Dictionary(uniqueKeysWithValues: report.found.map { ($0.rawValue, $1) })
        removed = report.removed.map(\.rawValue)
        kept = report.kept.map(\.rawValue)
        plan = Plan(
            path: report.path.rawValue, width: report.size.width, height: report.size.height, quality: report.quality)
        warnings = report.warnings.map(\.rawValue)
    }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(source, forKey: .source)
        try fields.encode(color, forKey: .color)
        try disclosure.encode(to: encoder)
        try fields.encode(foundBytes, forKey: .foundBytes)
        try fields.encode(removed, forKey: .removed)
        try fields.encode(kept, forKey: .kept)
        try fields.encode(plan, forKey: .plan)
        try fields.encode(warnings, forKey: .warnings)
    }
}
