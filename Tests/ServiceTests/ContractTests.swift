import Core
import Foundation
import HTTP
import Support
import Testing

@testable import Service

/// openapi.yaml against the code, as text: what one knows the other must know.
@Suite struct ContractTests {
    private let contract: String

    init() throws { contract = try String(contentsOf: Repository.file("openapi.yaml"), encoding: .utf8) }

    /// The lines below `key` that are indented deeper than it.
    private func block(_ key: String) throws -> String {
        let lines = contract.components(separatedBy: "\n")
        let start = try #require(lines.firstIndex(of: key), "\(key)")
        let depth = key.prefix { $0 == " " }.count
        let rest = lines[(start + 1)...].prefix { $0.isEmpty || $0.prefix { $0 == " " }.count > depth }
        return rest.joined(separator: "\n")
    }

    private func values(_ block: String, below key: String) throws -> [String] {
        let lines = block.components(separatedBy: "\n")
        let start = try #require(lines.firstIndex { $0.trimmingCharacters(in: .whitespaces) == key })
        return lines[(start + 1)...].map { $0.trimmingCharacters(in: .whitespaces) }.prefix { $0.hasPrefix("- ") }
            .map { String($0.dropFirst(2)) }
    }

    @Test func listsEveryWord() throws {
        #expect(
            try values(try block("    Problem:"), below: "enum:") == Failure.Code.allCases.map(\.rawValue))
        #expect(try values(try block("    Removed:"), below: "enum:") == Removable.allCases.map(\.rawValue))
        let warnings = try block("    Warning:")
        #expect(try values(warnings, below: "enum:") == Warning.allCases.map(\.rawValue))
        for warning in Warning.allCases { #expect(warnings.contains("`\(warning.rawValue)`: "), "\(warning)") }
        #expect(try block("    Path:").contains("enum: [\(joined(TranscodePath.allCases.map(\.rawValue)))]"))
        let source = try block("    Source:")
        #expect(source.contains("enum: [\(joined(OrientationSource.allCases.map(\.rawValue)))]"))
        #expect(source.contains("enum: [heic, jpeg]"))
        #expect(Set(SourceFormat.allCases.map(\.rawValue)) == ["heic", "jpeg"])
    }

    private func joined(_ words: [String]) -> String { words.joined(separator: ", ") }

    @Test func explainsEveryFailure() throws {
        let responses = try block("  responses:") + (try block("paths:"))
        for code in Failure.Code.allCases { #expect(responses.contains("`\(code.rawValue)`"), "\(code)") }
        // Each status that a failure has is an answer of some operation, or that of a wrong method.
        let paths = try block("paths:")
        for status in Set(Failure.Code.allCases.map(\.status)) where status != 405 {
            #expect(paths.contains("        '\(status)':"), "\(status)")
        }
    }

    @Test func hasEveryRouteAndMethod() throws {
        let places: [Place] = [.images, .convert, .inspect, .image(nil), .health, .readiness, .contract, .front]
        let paths = try block("paths:").components(separatedBy: "\n").filter { $0.hasPrefix("  /") }
        #expect(Set(paths) == Set(places.map { "  \($0.pattern):" }))
        for place in places {
            let verbs = try block("  \(place.pattern):").components(separatedBy: "\n")
                .filter { $0.wholeMatch(of: /\ {4}(get|head|post|put|patch|delete|options):/) != nil }
            #expect(Set(verbs) == Set(place.methods.map { "    \($0.description.lowercased()):" }), "\(place)")
        }
    }

    @Test func hasEveryOption() throws {
        let uploads = try ["images", "convert", "inspect"].map { try block("  /v1/\($0):") }
        for option in OptionDescriptor.all {
            for upload in uploads {
                #expect(upload.contains("- $ref: '#/components/parameters/\(option.name)'"), "\(option.name)")
            }
            let parameter = try block("    \(option.name):")
            #expect(parameter.contains("      name: \(option.name)\n      in: query"))
            if let fallback = option.fallback {
                #expect(parameter.contains("        default: \(fallback)\n") || parameter.hasSuffix(fallback))
            } else {
                #expect(!parameter.contains("default:"), "\(option.name)")
            }
            #expect(parameter.lowercased().contains(option.summary.lowercased()), "\(option.name)")
        }
        let parameters = try block("  parameters:").components(separatedBy: "\n").filter { $0 == "      in: query" }
        #expect(parameters.count == OptionDescriptor.all.count)
    }

    @Test func readmeHasEveryOption() throws {
        let readme = try String(contentsOf: Repository.file("README.md"), encoding: .utf8)
        for option in OptionDescriptor.all {
            let row =
                "| `\(option.name)` | \(option.fallback.map { "`\($0)`" } ?? "–") | \(option.summary); \(option.allowed) |"
            #expect(readme.contains(row + "\n"), "\(row)")
        }
    }

    @Test func hasEveryFieldOfTheRecord() throws {
        let world = try World(.direct)
        try world.tell(World.disclosure)
        let all = "?exif=return&gps=return"
        let record = try world.send("POST", "/v1/images" + all, body: world.jpeg).json()
        let inspection = try world.send("POST", "/v1/inspect" + all, body: world.jpeg).json()
        func check(_ members: [String: Any], _ schema: String) throws {
            let text = try block("    \(schema):")
            let names = text.components(separatedBy: "\n").compactMap {
                $0.wholeMatch(of: /\ {8}([a-z0-9_]+):/).map { String($0.1) }
            }
            #expect(Set(names) == Set(members.keys), "\(schema)")
            let required = try #require(text.firstMatch(of: /required: \[(.*)\]/)).1
            #expect(Set(required.components(separatedBy: ", ")) == Set(members.keys), "\(schema)")
        }
        try check(record, "PictureRecord")
        try check(inspection, "InspectionRecord")
        for answer in [record, inspection] {
            for (field, schema) in [
                ("source", "Source"), ("color", "Color"), ("capture", "Capture"), ("gps", "Gps"),
            ] {
                try check(try #require(answer[field] as? [String: Any]), schema)
            }
        }
        try check(try #require(inspection["plan"] as? [String: Any]), "Plan")
        #expect(try block("    GpsStatus:").contains("enum: [\(joined(GPSStatus.allCases.map(\.rawValue))), null]"))
        let directions = Position.DirectionReference.allCases.map { $0 == .trueNorth ? "'true'" : $0.rawValue }
        #expect(try block("    Gps:").contains("enum: [\(joined(directions)), null]"))
        try check(try world.send("GET", "/none").json(), "Problem")
        try check(try world.send("GET", "/").json(), "Front")
    }

    @Test func hasEveryHeader() throws {
        let world = try World(.live)
        let url = try world.upload()
        let told: [(String, Answer)] = [
            ("  /v1/images:", try world.send("POST", "/v1/images", body: world.jpeg)),
            ("  /v1/convert:", try world.send("POST", "/v1/convert", body: world.jpeg)),
            ("  /v1/inspect:", try world.send("POST", "/v1/inspect", body: world.jpeg)),
            ("  /v1/images/{key}:", try world.send("GET", url)),
            ("  /v1/images/{key}:", try world.send("GET", url, headers: [("Range", "bytes=0-1")])),
            ("  /healthz:", try world.send("GET", "/healthz")), ("  /readyz:", try world.send("GET", "/readyz")),
            ("  /openapi.yaml:", try world.send("GET", "/openapi.yaml")), ("  /:", try world.send("GET", "/")),
        ]
        // Of HTTP itself; Content-Type stands under `content` (OpenAPI 3.1.1, section 4.8.17.1).
        let general = ["date", "connection", "content-type", "content-length"]
        for (path, answer) in told {
            let operation = try block(path)
            for (name, _) in answer.headers where !general.contains(name.lowercased()) {
                #expect(operation.contains("            \(name):\n"), "\(path) \(name)")
            }
        }
    }

    @Test func isOfThisVersion() { #expect(contract.contains("\n  version: \(Version.text)\n")) }

    /// The limits that it names are the defaults in force.
    @Test func namesTheLimits() {
        let limits = Limits()
        #expect(contract.contains("\(limits.bodyBytesMax >> 20) MiB (`--body-max`)"))
        #expect(contract.contains("\(limits.pixelsMax / 1_000_000) megapixels"))
    }
}
