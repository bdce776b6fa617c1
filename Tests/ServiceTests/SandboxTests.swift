import Foundation
import Support
import Testing

/// The service where workers can and cannot be sandboxed. The kernel without seccomp is made by Tests/SandboxProbe.
@Suite struct SandboxTests {
    private let folder: ScratchFolder
    private let withoutSeccomp: [String]

    init() throws {
        folder = try ScratchFolder()
        withoutSeccomp = [URL(fileURLWithPath: Program.path).deletingLastPathComponent().path + "/SandboxProbe"]
    }

    /// The real worker, as it waits for a job.
    @Test func runsItsWorkersInTheSandbox() throws {
        let service = try Program.Service(["--store", folder.path + "/data", "--workers", "1"], in: folder)
        try service.waitUntilReady()
        let pid = try #require(try service.lines().compactMap { $0["worker.pid"] as? Int }.last)
        let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        #expect(status.contains("Seccomp:\t2\n"))
        service.signal(SIGTERM)
        #expect(service.exitCode() == 0)
    }

    @Test func refusesToStartWithoutSeccomp() throws {
        let serve = try Tool.run(
            withoutSeccomp + [Program.path, "serve", "--listen", "127.0.0.1:0", "--store", folder.path + "/data"])
        #expect(serve.status == 1)
        #expect(serve.complaint.contains(#""message":"cannot start""#))
        #expect(serve.complaint.contains("no seccomp") && serve.complaint.contains("--allow-unsandboxed"))
        let photo = try folder.file("in.jpg", try Program.makeJPEG())
        let convert = try Tool.run(withoutSeccomp + [Program.path, "convert", photo, "-o", folder.path + "/out.jpg"])
        #expect(convert.status == 1)
        #expect(convert.complaint.contains("--allow-unsandboxed"))
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/out.jpg"))
    }

    @Test func worksWithoutSeccompWhereThatIsAllowed() throws {
        let jpeg = try Program.makeJPEG()
        let service = try Program.Service(
            ["--store", folder.path + "/data", "--workers", "1", "--allow-unsandboxed"], in: folder,
            through: withoutSeccomp)
        try service.waitUntilReady()
        #expect(try service.curl(["--data-binary", "@-"], "/v1/convert", input: jpeg).output == jpeg)
        service.signal(SIGTERM)
        #expect(service.exitCode() == 0)
        let warnings = try service.lines().filter { $0["level"] as? String == "warning" }.map {
            $0["message"] as? String
        }
        #expect(warnings == ["workers run without their sandbox: the kernel has no seccomp"])
        let photo = try folder.file("in.jpg", jpeg)
        let convert = try Tool.run(
            withoutSeccomp + [Program.path, "convert", "--allow-unsandboxed", photo, "-o", folder.path + "/out.jpg"])
        #expect(convert.status == 0)
        #expect(convert.complaint.contains("warning: the worker runs without its sandbox"))
        #expect(try folder.read("out.jpg") == jpeg)
    }
}
