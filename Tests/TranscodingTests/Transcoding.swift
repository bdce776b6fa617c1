import Container
import Core
import Posix
import Support
import Testing
import Transcoding

/// A photo's way through the transcoder, as a worker takes it.
struct Transcoded {
    let report: Report
    let jpeg: [UInt8]

    /// Transcodes, and holds the result to what holds for every picture: the output check passes, and exiftool finds
    /// nothing in it but structure and a profile.
    init(_ input: [UInt8], quality: Int = 90, limits: Limits = Limits()) throws {
        try self.init(input, [("quality", "\(quality)")], limits: limits)
    }

    /// - Parameter pairs: options, as a request writes them.
    init(_ input: [UInt8], _ pairs: [(String, String)], limits: Limits = Limits()) throws {
        let options = try Options(parsing: pairs.map { (name: $0.0, value: $0.1) })
        let file = try MemoryFile(name: "test-output")
        let job = Job(options: options, limits: limits)
        report = try input.withUnsafeBytes { try Transcoder.transcode($0, job, to: file.descriptor) }
        jpeg = try file.seal().withBytes { Array($0) }
        try OutputCheck.verify(jpeg.span, size: report.size, kept: report.kept, policy: options.metadata)
        guard report.kept.isEmpty else { return }
        let lines = try Transcoded.exiftool(jpeg, ["-G1", "-s", "-a", "-u"]).split(separator: "\n")
        let allowed = ["[ExifTool]", "[System]", "[File]", "[JFIF]", "[ICC", "[Composite]"]
        #expect(lines.filter { line in !allowed.contains { line.hasPrefix($0) } } == [])
    }

    /// What would be done, and that nothing is written.
    static func inspected(_ input: [UInt8], _ pairs: [(String, String)] = []) throws -> Report {
        let options = try Options(parsing: pairs.map { (name: $0.0, value: $0.1) })
        let file = try MemoryFile(name: "test-output")
        let job = Job(.inspect, options: options, limits: Limits())
        let report = try input.withUnsafeBytes { try Transcoder.transcode($0, job, to: file.descriptor) }
        #expect(try file.seal().count == 0)
        return report
    }

    /// What exiftool finds in the JPEG, by group and tag, numbers as numbers.
    func tags() throws -> [String: String] {
        let lines = try Transcoded.exiftool(jpeg, ["-G1", "-s", "-a", "-u", "-n"]).split(separator: "\n")
        return Dictionary(
            lines.compactMap { line in
                let parts = line.split(separator: ":", maxSplits: 1).map { $0.split(separator: " ") }
                guard parts.count == 2, parts[0].count >= 2 else { return nil }
                let group = parts[0].dropLast().joined(separator: " ").filter { $0 != "[" && $0 != "]" }
                return ("\(group):\(parts[0].last ?? "")", parts[1].joined(separator: " "))
            }, uniquingKeysWith: { first, _ in first })
    }

    static func exiftool(_ jpeg: [UInt8], _ arguments: [String]) throws -> String {
        try Tool.run(["exiftool"] + arguments + ["-"], input: jpeg).text
    }

    /// Why the photo is refused.
    static func failure(
        _ input: [UInt8], _ pairs: [(String, String)] = [], limits: Limits = Limits()
    ) throws -> Failure {
        let file = try MemoryFile(name: "test-output")
        let options = try Options(parsing: pairs.map { (name: $0.0, value: $0.1) })
        let job = Job(options: options, limits: limits)
        do {
            _ = try input.withUnsafeBytes { try Transcoder.transcode($0, job, to: file.descriptor) }
        } catch let failure as Failure {
            return failure
        }
        throw Accepted()
    }

    struct Accepted: Error {}
}

/// A JPEG with segments put behind its SOI.
func inserting(_ segments: [UInt8], into jpeg: [UInt8]) -> [UInt8] { jpeg[..<2] + segments + jpeg[2...] }
