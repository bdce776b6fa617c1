import Foundation
import Support
import Testing

/// `safelight serve` as a process.
@Suite struct ServeTests {
    private let folder: ScratchFolder
    private let worker: ScriptWorker

    init() throws {
        folder = try ScratchFolder()
        worker = try ScriptWorker(in: folder)
    }

    private func serve(_ arguments: [String] = []) throws -> Program.Service {
        try Program.Service(
            ["--store", folder.path + "/data", "--worker", worker.path, "--workers", "1"] + arguments, in: folder)
    }

    @Test func storesAPhotoFromEndToEnd() throws {
        let service = try serve()
        try service.waitUntilReady()
        let jpeg = try Program.makeJPEG()
        let record = try service.curl(["--data-binary", "@-"], "/v1/images", input: jpeg)
        let members = try #require(
            try JSONSerialization.jsonObject(with: Data(record.output)) as? [String: Any])
        let key = try #require(members["key"] as? String)
        #expect(members["path"] as? String == "copy")
        #expect(members["removed"] as? [String] == ["comment"])
        #expect(try service.curl([], "/v1/images/" + key).output == jpeg)
        #expect(try service.curl(["--data-binary", "@-"], "/v1/convert", input: jpeg).output == jpeg)
        let day = "\(key.prefix(4))/\(key.dropFirst(4).prefix(2))/\(key.dropFirst(6).prefix(2))"
        #expect(try folder.read("data/\(day)/\(key)") == jpeg)
        service.signal(SIGTERM)
        #expect(service.exitCode() == 0)
        let messages = try service.lines().compactMap { $0["message"] as? String }
        #expect(messages.last == "stopped")
        #expect(messages.contains("worker started"))
    }

    /// The real worker may have what its job may plan for and 256 MiB of its own, whatever a file makes its libraries ask
    /// for.
    @Test func boundsTheMemoryOfItsWorker() throws {
        let service = try Program.Service(
            ["--store", folder.path + "/data", "--workers", "1", "--worker-memory", "100MiB"], in: folder)
        try service.waitUntilReady()
        let jpeg = try Program.makeJPEG()
        #expect(try service.curl(["--data-binary", "@-"], "/v1/convert", input: jpeg).output == jpeg)
        let pid = try #require(try service.lines().compactMap { $0["worker.pid"] as? Int }.last)
        let limits = try String(contentsOfFile: "/proc/\(pid)/limits", encoding: .utf8)
        let line = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max data size") })
        #expect(line.split(separator: " ").dropFirst(3).first == "\(356 << 20)")
        service.signal(SIGTERM)
        #expect(service.exitCode() == 0)
    }

    /// A disk that is full for real: 507, nothing left behind, and everything well again when there is room.
    @Test(.enabled(if: TinyDisk.isPermitted, "mounting a file system is not permitted here"))
    func livesWithAFullDisk() throws {
        let disk = try TinyDisk(kilobytes: 256)
        let service = try Program.Service(
            ["--store", disk.folder.path, "--worker", worker.path, "--workers", "1"], in: folder)
        try service.waitUntilReady()
        let jpeg = try Program.makeJPEG()
        func post(_ path: String) throws -> Substring {
            let answer = try service.curl(["--data-binary", "@-", "--write-out", "\n%{http_code}"], path, input: jpeg)
            return answer.text.suffix(3)
        }
        func status(_ path: String) throws -> String {
            try service.curl(["--output", "/dev/null", "--write-out", "%{http_code}"], path).text
        }
        #expect(try post("/v1/images") == "201")
        let before = try FileManager.default.subpathsOfDirectory(atPath: disk.folder.path)
        let filler = try Tool.run(["dd", "if=/dev/zero", "of=\(disk.folder.path)/filler", "bs=4k"])
        try #require(filler.complaint.contains("No space left"))
        #expect(try post("/v1/images") == "507")
        #expect(try post("/v1/convert") == "200")
        #expect(try status("/readyz") == "503")
        #expect(try status("/healthz") == "200")
        try FileManager.default.removeItem(atPath: disk.folder.path + "/filler")
        #expect(try FileManager.default.subpathsOfDirectory(atPath: disk.folder.path) == before)
        #expect(try status("/readyz") == "200")
        #expect(try post("/v1/images") == "201")
        service.signal(SIGTERM)
        #expect(service.exitCode() == 0)
    }

    /// A request that is under way when the signal comes is answered, new connections are not taken, and the exit code
    /// tells that all went well.
    @Test(arguments: [SIGTERM, SIGINT, SIGHUP]) func finishesWhatRuns(signal: Int32) throws {
        let service = try serve(["--grace", "10s"])
        let upload = try service.beginUpload(try Program.makeJPEG(), "/v1/images?quality=1")
        worker.waitUntilBegun()
        service.signal(signal)
        var refusal: Int32 = 0
        for _ in 0..<50 where refusal != 7 {
            usleep(10_000)
            refusal = try service.curl(["--output", "/dev/null"], "/healthz").status
        }
        #expect(refusal == 7, "curl: failed to connect")
        #expect(try upload.finish().hasSuffix("}\n201"))
        #expect(service.exitCode() == 0)
    }

    /// Past the grace the request is answered too, by 503, and the exit code tells.
    @Test func cutsShortAfterTheGrace() throws {
        let service = try serve(["--grace", "100ms"])
        let upload = try service.beginUpload(try Program.makeJPEG(), "/v1/images?quality=1")
        worker.waitUntilBegun()
        service.signal(SIGTERM)
        #expect(try upload.finish().hasSuffix("}\n503"))
        #expect(service.exitCode() == 1)
    }

    @Test func saysEverythingThatIsWrongAtOnce() throws {
        let outcome = try Program.run([
            "serve", "--listen", "8080", "--workers", "0", "--grace", "20", "--colour", "red", "stray",
        ])
        #expect(outcome.status == 2)
        #expect(
            outcome.complaint.split(separator: "\n").map { $0.prefix(30) } == [
                "safelight: --listen='8080' is ", "safelight: --workers='0' is no", "safelight: --grace='20' is not",
                "safelight: unknown flag '--col", "safelight: unexpected 'red'; s", "safelight: unexpected 'stray';",
            ])
    }

    @Test func isNotOpenToEverybodyByAccident() throws {
        let outcome = try Program.run(["serve", "--listen", "0.0.0.0:0"])
        #expect(outcome.status == 2)
        #expect(outcome.complaint.contains("--allow-anonymous"))
    }

    @Test func cannotStartWithoutItsWorkerOrStore() throws {
        let noWorker = try Program.run(["serve", "--store", folder.path, "--worker", "/nowhere/worker"])
        #expect(noWorker.status == 1)
        #expect(noWorker.complaint.contains(#""message":"cannot start""#))
        #expect(noWorker.complaint.contains("cannot start a worker: access /nowhere/worker: No such file or directory"))
        let file = try folder.file("file", [])
        let noStore = try Program.run(["serve", "--store", file])
        #expect(noStore.status == 1)
        #expect(noStore.complaint.contains("cannot open the store \(file): open: Not a directory"))
    }

    @Test func cannotStartWhereSomebodyListens() throws {
        let service = try serve()
        let outcome = try Program.run([
            "serve", "--listen", "127.0.0.1:\(service.port)", "--store", folder.path, "--worker",
            folder.path + "/worker",
        ])
        #expect(outcome.status == 1)
        #expect(outcome.complaint.contains("cannot listen on 127.0.0.1:\(service.port): bind: Address already in use"))
        service.signal(SIGTERM)
        #expect(service.exitCode() == 0)
    }
}
