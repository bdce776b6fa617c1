package import Foundation

/// Runs an independent tool (djpeg, jpegtran, exiftool, heif-dec …) on bytes and returns what it wrote.
package enum Tool {
    package struct Outcome: Sendable {
        package let status: Int32
        package let output: [UInt8]
        package let complaint: String

        package var text: String { String(decoding: output, as: UTF8.self) }
    }

    /// - Parameter arguments: the program's name, found in PATH, then its arguments.
    package static func run(_ arguments: [String], input: [UInt8] = []) throws -> Outcome {
        let folder = try ScratchFolder()
        let files = ["in", "out", "err"].map { folder.url.appendingPathComponent($0) }
        try Data(input).write(to: files[0])
        for file in files[1...] { try Data().write(to: file) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.standardInput = try FileHandle(forReadingFrom: files[0])
        process.standardOutput = try FileHandle(forWritingTo: files[1])
        process.standardError = try FileHandle(forWritingTo: files[2])
        try process.run()
        process.waitUntilExit()
        return Outcome(
            status: process.terminationStatus, output: Array(try Data(contentsOf: files[1])),
            complaint: String(decoding: try Data(contentsOf: files[2]), as: UTF8.self))
    }
}

/// A folder that vanishes with this value.
package final class ScratchFolder: Sendable {
    package let url: URL

    package init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("safelight-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    package var path: String { url.path }

    /// Writes `bytes` to a file in the folder; the file's path.
    package func file(_ name: String, _ bytes: [UInt8]) throws -> String {
        let file = url.appendingPathComponent(name)
        try Data(bytes).write(to: file)
        return file.path
    }

    package func read(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: url.appendingPathComponent(name)))
    }
}
