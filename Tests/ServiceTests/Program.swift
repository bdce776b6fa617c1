import Foundation
import Support
import Testing

/// The program itself, as it was built beside this test.
enum Program {
    private static let url = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("safelight")

    static var path: String { url.path }

    static func run(_ arguments: [String], input: [UInt8] = []) throws -> Tool.Outcome {
        try Tool.run([url.path] + arguments, input: input)
    }

    /// A JPEG as cjpeg writes it, 16x8.
    static func makeJPEG() throws -> [UInt8] {
        let pattern = TestPattern(16, 8)
        let outcome = try Tool.run(
            ["cjpeg", "-quality", "90"], input: Array("P6\n16 8\n255\n".utf8) + pattern.rgbBytes)
        try #require(outcome.status == 0)
        return outcome.output
    }

    /// `safelight serve`, running until it is stopped.
    final class Service: Sendable {
        let port: Int
        private let process: Process
        private let log: URL

        /// Starts it, by a program that runs others where one is given, and waits for its line "listening".
        init(_ arguments: [String], in folder: ScratchFolder, through runner: [String] = []) throws {
            log = URL(fileURLWithPath: try folder.file("log", []))
            process = Process()
            let command = runner + [url.path, "serve", "--listen", "127.0.0.1:0"] + arguments
            process.executableURL = URL(fileURLWithPath: command[0])
            process.arguments = Array(command.dropFirst())
            process.standardError = try FileHandle(forWritingTo: log)
            process.standardOutput = FileHandle.nullDevice
            try process.run()
            var port: Int?
            for _ in 0..<400 where port == nil {
                usleep(10_000)
                port = try Service.lines(log).first { $0["message"] as? String == "listening" }?["http.port"] as? Int
            }
            guard let port else {
                process.terminate()
                throw NotListening(log: try String(contentsOf: log, encoding: .utf8))
            }
            self.port = port
        }

        deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

        struct NotListening: Error {
            let log: String
        }

        func lines() throws -> [[String: Any]] { try Service.lines(log) }

        private static func lines(_ log: URL) throws -> [[String: Any]] {
            try String(contentsOf: log, encoding: .utf8).split(separator: "\n").compactMap {
                try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
            }
        }

        /// What curl prints for a path, and its exit code.
        func curl(_ arguments: [String], _ path: String, input: [UInt8] = []) throws -> Tool.Outcome {
            try Tool.run(
                ["curl", "--silent", "--noproxy", "*", "--max-time", "20"] + arguments
                    + ["http://127.0.0.1:\(port)\(path)"], input: input)
        }

        /// An upload that goes on beside the test; what curl printed and the status that it got come with `finish`.
        final class Upload: Sendable {
            private let process = Process()
            private let folder: ScratchFolder

            fileprivate init(_ jpeg: [UInt8], to url: String) throws {
                folder = try ScratchFolder()
                let body = try folder.file("body", jpeg)
                let output = URL(fileURLWithPath: try folder.file("output", []))
                process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
                process.arguments = [
                    "curl", "--silent", "--noproxy", "*", "--max-time", "20", "--data-binary", "@\(body)",
                    "--write-out",
                    "\n%{http_code}", url,
                ]
                process.standardOutput = try FileHandle(forWritingTo: output)
                try process.run()
            }

            func finish() throws -> String {
                process.waitUntilExit()
                return String(decoding: try folder.read("output"), as: UTF8.self)
            }
        }

        func beginUpload(_ jpeg: [UInt8], _ path: String) throws -> Upload {
            try Upload(jpeg, to: "http://127.0.0.1:\(port)\(path)")
        }

        func waitUntilReady() throws {
            for _ in 0..<400 {
                if try curl(["--fail", "--output", "/dev/null"], "/readyz").status == 0 { return }
                usleep(10_000)
            }
            Issue.record("never ready")
        }

        func signal(_ signal: Int32) { kill(process.processIdentifier, signal) }

        /// Waits for its end; the exit code.
        func exitCode() -> Int32 {
            process.waitUntilExit()
            return process.terminationReason == .exit ? process.terminationStatus : -1
        }
    }
}
