import Core
import Foundation
import HTTP
import Posix
import Service
import Storage
import Support
import Synchronization
import Testing

/// A whole service with a stub for its workers and memory for its store.
final class World: Sendable {
    let runner: StubRunner
    let store: MemoryStore
    /// What the service calls.
    let hanging: HangingStore
    let service: ImageService
    /// A JPEG as cjpeg writes it: 16x8 pixels, JFIF and nothing else.
    let jpeg: [UInt8]
    private let threads: WorkThreads
    private let calls: StoreCalls
    private let lines: LineLog
    private let client: any Client

    init(
        _ transport: Transport, bytesMax: Int = .max, bodyBytesMax: Int = 100_000, pixelsMax: Int = 1_000_000,
        storeMs: Int = 20_000
    ) throws {
        jpeg = try World.makeJPEG()
        runner = StubRunner(.succeed(World.report, try SealedFile.holding(jpeg, name: "output")))
        store = MemoryStore(bytesMax: bytesMax)
        hanging = HangingStore(store)
        threads = try WorkThreads.start(name: "test", threadCount: 2, queueLengthMax: 16)
        var limits = Limits()
        limits.bodyBytesMax = bodyBytesMax
        limits.pixelsMax = pixelsMax
        let lines = LineLog()
        self.lines = lines
        let log = Log { lines.append($0) }
        calls = try StoreCalls.start(threadCount: 2, queueLengthMax: 16, deadlineMs: storeMs, log: log)
        service = ImageService(
            runner: runner, store: hanging, threads: threads, calls: calls, queueLengthMax: 4, limits: limits, log: log)
        switch transport {
        case .direct: client = DirectClient(service: service)
        case .live: client = try LiveClient(service: service)
        }
    }

    deinit {
        client.close()
        threads.stop()
        _ = calls.stop(graceMs: 20_000)
    }

    /// Of a live service.
    var port: UInt16 { (client as? LiveClient)?.port ?? 0 }

    func send(
        _ method: String, _ target: String, headers: [(String, String)] = [], body: [UInt8]? = nil
    ) throws -> Answer {
        try client.send(method, target, headers: headers, body: body)
    }

    /// Uploads the JPEG; the URL of what was stored.
    func upload() throws -> String {
        let answer = try send("POST", "/v1/images", body: jpeg)
        #expect(answer.status == 201)
        return try #require(answer["Location"])
    }

    /// The log's lines so far, decoded. A request's line may come a moment after its answer.
    func logged(_ count: Int) throws -> [[String: Any]] {
        for _ in 0..<200 where lines.all.count < count { usleep(5000) }
        return try lines.all.map { line in
            #expect(line.last == UInt8(ascii: "\n") && !line.dropLast().contains(UInt8(ascii: "\n")))
            return try #require(try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
        }
    }

    /// All of the log as text.
    var log: String { String(decoding: lines.all.joined(), as: UTF8.self) }

    static let report = Report(
        path: .reencode, size: PixelSize(width: 16, height: 8), quality: 90,
        source: Report.Source(
            format: .heic, size: PixelSize(width: 8, height: 16), orientation: .rotated90, orientationSource: .irot),
        color: Report.Color(source: "Display P3", output: "Display P3"), removed: [.gps, .exif],
        warnings: [.orientationConflict])

    private static func makeJPEG() throws -> [UInt8] {
        let pattern = TestPattern(16, 8)
        let outcome = try Tool.run(
            ["cjpeg", "-quality", "90"], input: Array("P6\n16 8\n255\n".utf8) + pattern.rgbBytes)
        try #require(outcome.status == 0)
        return outcome.output
    }
}

/// Keeps the lines of a log.
private final class LineLog: Sendable {
    private let lines = Mutex<[[UInt8]]>([])

    func append(_ line: [UInt8]) { lines.withLock { $0.append(line) } }

    var all: [[UInt8]] { lines.withLock { $0 } }
}
