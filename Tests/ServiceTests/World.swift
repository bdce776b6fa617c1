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
    let faulty: FaultyStore
    let service: ImageService
    /// A JPEG as cjpeg writes it: 16x8 pixels, JFIF and nothing else.
    let jpeg: [UInt8]
    private let threads: WorkThreads
    private let puts: StoreCalls
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
        faulty = FaultyStore(store)
        threads = try WorkThreads.start(name: "test", threadCount: 2, queueLengthMax: 16)
        var limits = Limits()
        limits.bodyBytesMax = bodyBytesMax
        limits.pixelsMax = pixelsMax
        let lines = LineLog()
        self.lines = lines
        let log = Log { lines.append($0) }
        puts = try StoreCalls.start(name: "put", threadCount: 2, queueLengthMax: 16, deadlineMs: storeMs, log: log)
        calls = try StoreCalls.start(name: "store", threadCount: 2, queueLengthMax: 16, deadlineMs: storeMs, log: log)
        service = ImageService(
            runner: runner, store: faulty, threads: threads, puts: puts, calls: calls, queueLengthMax: 4,
            limits: limits, log: log)
        switch transport {
        case .direct: client = DirectClient(service: service)
        case .live: client = try LiveClient(service: service)
        }
    }

    deinit {
        client.close()
        threads.stop()
        _ = puts.stop(graceMs: 20_000)
        _ = calls.stop(graceMs: 20_000)
    }

    /// Of a live service.
    var port: UInt16 { (client as? LiveClient)?.port ?? 0 }

    func send(
        _ method: String, _ target: String, headers: [(String, String)] = [], body: [UInt8]? = nil
    ) throws -> Answer {
        try client.send(method, target, headers: headers, body: body)
    }

    /// Has the worker tell this, whatever the policy.
    func tell(_ disclosure: Disclosure) throws {
        var report = World.report
        report.disclosure = disclosure
        runner.behave(.succeed(report, try SealedFile.holding(jpeg, name: "output")))
    }

    /// All that a photo can tell.
    static let disclosure: Disclosure = {
        var disclosure = Disclosure()
        disclosure.exif = ExifRecord(fields: [
            .init(name: "Make", value: .text("Zo\u{EB} \u{2026}/")),
            .init(name: "ExposureTime", value: .number(1.0 / 60)),
            .init(name: "FNumber", value: .number(4)), .init(name: "Flash", value: .integer(16)),
            .init(name: "SubjectArea", value: .integers([1, 2])),
            .init(name: "LensSpecification", value: .numbers([1.5, nil])),
        ])
        var capture = Capture()
        capture.takenAt = "2024-05-06T07:08:09+02:00"
        capture.iso = 64
        disclosure.capture = capture
        disclosure.gpsStatus = .present
        var position = Position(latitude: 48.858322, longitude: -2.2945)
        position.altitude = 35.25
        position.timestamp = "2024-05-06T05:08:09Z"
        position.imageDirection = 91.28
        position.imageDirectionReference = .magneticNorth
        disclosure.position = position
        return disclosure
    }()

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

    /// A lawful block for a picture of 16x8, as `keep` may write it.
    static func keptBlock(gps: Bool = false) -> TIFFBuilder {
        var block = TIFFBuilder()
        block.isBigEndian = true
        block.ifd0 = [(0x010F, .ascii("5ecret Maker")), (0x0112, .short(1))]
        block.exif = [
            (0x9000, .undefined(Array("0300".utf8))), (0xA001, .short(1)), (0xA002, .long(16)), (0xA003, .long(8)),
        ]
        guard gps else { return block }
        block.gps = [
            (0, .bytes([2, 4, 0, 0])), (1, .ascii("N")), (2, .rational([(48, 1), (51, 1), (2996, 100)])),
            (3, .ascii("W")), (4, .rational([(2, 1), (17, 1), (402, 10)])),
        ]
        return block
    }

    static let report = Report(
        path: .reencode, size: PixelSize(width: 16, height: 8), quality: 90,
        source: Report.Source(
            format: .heic, size: PixelSize(width: 8, height: 16), orientation: .rotated90, orientationSource: .irot),
        color: Report.Color(source: "Display P3", output: "Display P3"), found: [.gps: 34, .exif: 12],
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

/// A JPEG with segments put behind its SOI and its JFIF segment.
func inserting(_ segments: [UInt8], into jpeg: [UInt8]) -> [UInt8] { jpeg[..<20] + segments + jpeg[20...] }
