import Core

/// An inspection for people: a line for each thing, its name before it.
struct InspectionText {
    private(set) var text = ""

    init(_ inspected: Inspected) {
        let report = inspected.report
        let source = report.source
        add("photo", "\(source.format.rawValue), \(source.size) as stored, \(inspected.source.count) bytes")
        let turn = source.orientationSource == .none ? "told by nobody" : "told by \(source.orientationSource.rawValue)"
        add("orientation", "\(source.orientation.rawValue), \(turn)")
        add("colour", report.color.source)
        add("plan", InspectionText.plan(report))
        add("found", report.found.isEmpty ? "nothing beside the picture" : InspectionText.list(report))
        add("removed", InspectionText.words(report.removed.map(\.rawValue)))
        add("kept", InspectionText.words(report.kept.map(\.rawValue)))
        if !report.warnings.isEmpty { add("warnings", InspectionText.words(report.warnings.map(\.rawValue))) }
        addPlace(report.disclosure)
        if let exif = report.disclosure.exif { addFields(exif) }
    }

    private mutating func add(_ name: String, _ value: String) {
        text += name + String(repeating: " ", count: max(1, 14 - name.count)) + value + "\n"
    }

    private static func words(_ words: [String]) -> String { words.isEmpty ? "–" : words.joined(separator: ", ") }

    private static func plan(_ report: Report) -> String {
        let quality = report.quality.map { ", quality \($0)" } ?? ""
        return "\(report.path.rawValue) to \(report.size), \(report.color.output)\(quality)"
    }

    private static func list(_ report: Report) -> String {
        words(
            Removable.allCases.compactMap { kind in report.found[kind].map { "\(kind.rawValue) \($0) bytes" } })
    }

    private mutating func addPlace(_ disclosure: Disclosure) {
        guard let status = disclosure.gpsStatus else { return }
        guard let place = disclosure.position else { return add("place", status.rawValue) }
        let off = place.horizontalError.map { " within \(InspectionText.number($0)) m" } ?? ""
        // Millionths of a degree are a hand's breadth.
        let (latitude, longitude) = (place.latitude.rounded(digits: 6), place.longitude.rounded(digits: 6))
        add("place", "\(latitude), \(longitude)\(off)")
        if let altitude = place.altitude { add("altitude", "\(InspectionText.number(altitude.rounded(digits: 1))) m") }
        if let timestamp = place.timestamp { add("place at", timestamp) }
    }

    /// What an enumeration's number means stands behind it.
    private mutating func addFields(_ exif: ExifRecord) {
        let width = (exif.fields.map(\.name.count).max() ?? 0) + 1
        text += exif.fields.isEmpty ? "" : "\n"
        for field in exif.fields where !field.name.hasSuffix("_text") {
            let words = exif.text(field.name + "_text").map { " (\($0))" } ?? ""
            // Texts may hold anything that prints; what a terminal obeys is taken out.
            let value = (InspectionText.value(field.value) + words).printable(scalarsMax: 200)
            text += field.name + String(repeating: " ", count: width - field.name.count) + value + "\n"
        }
    }

    private static func value(_ value: ExifValue) -> String {
        switch value {
        case .integer(let value): String(value)
        case .number(let value): number(value)
        case .text(let text): text.split(separator: "\n").joined(separator: " / ")
        case .integers(let values): values.map(String.init).joined(separator: " ")
        case .numbers(let values): values.map { $0.map(number) ?? "–" }.joined(separator: " ")
        }
    }

    private static func number(_ value: Double) -> String {
        let text = value.description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

extension Double {
    /// To so many digits behind the point.
    fileprivate func rounded(digits: Int) -> Double {
        let unit = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
        return (self * unit).rounded() / unit
    }
}
