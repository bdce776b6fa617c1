import Core
import Foundation
import Glibc
import Posix
import Support
import Synchronization
import Testing

@testable import WorkerPool

/// A pool of fault workers, and what it says of them.
final class FaultPool: Sendable {
    let pool: WorkerPool
    private let log: EventLog
    private let folder: ScratchFolder

    /// - Parameter name: what the worker is called by, which is how it behaves at its start.
    init(
        _ name: String = "FaultWorker", workers: Int = 1, _ adjust: (inout WorkerPool.Configuration) -> Void = { _ in }
    ) throws {
        folder = try ScratchFolder()
        let path = folder.url.appendingPathComponent(name)
        try FileManager.default.createSymbolicLink(at: path, withDestinationURL: Self.executable)
        var configuration = WorkerPool.Configuration(workerPath: path.path, workers: workers)
        let log = EventLog()
        configuration.log = { log.append($0) }
        adjust(&configuration)
        self.log = log
        pool = try WorkerPool.start(configuration)
    }

    /// The fault worker is built beside the test bundle.
    private static var executable: URL {
        URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent("FaultWorker")
    }

    var events: [Event] { log.events }
    var started: [Int32] { events.compactMap { if case .started(let pid) = $0 { pid } else { nil } } }

    /// A name of a file that does not exist yet.
    func path(_ name: String) -> String { folder.url.appendingPathComponent(name).path }

    /// Submits at once; the outcome is waited for later.
    func begin(
        _ words: String, deadlineMs: Int = 20_000, outputBytesMax: Int = 4096, expectedMs: Int = 0
    ) throws -> Pending {
        let input = try SealedFile.holding(Array(words.utf8), name: "input")
        var limits = Limits()
        limits.jobDeadlineMs = deadlineMs
        limits.outputBytesMax = outputBytesMax
        let startMs = Clock.monotonicMs()
        let pending = Pending(startMs: startMs)
        let ticket = try pool.submit(
            Job(options: Options(), limits: limits), input: input, expectedMs: expectedMs
        ) { pending.end(with: $0) }
        pending.ticket.withLock { $0 = ticket }
        return pending
    }

    func cancel(_ job: Pending) throws { pool.cancel(try #require(job.ticket.withLock { $0 })) }

    /// A job that a worker has begun and goes on with after `release`; it says "released" then.
    func beginHeld(expectedMs: Int = 0) throws -> Pending {
        let job = try begin("until \(path("begun")) \(path("released"))", expectedMs: expectedMs)
        try wait { access(path("begun"), F_OK) == 0 }
        return job
    }

    func release() throws { _ = try folder.file("released", []) }

    /// What the worker wrote.
    func text(_ words: String) throws -> String { try begin(words).text }

    func failure(_ words: String, deadlineMs: Int = 20_000) throws -> Failure? {
        try begin(words, deadlineMs: deadlineMs).failure
    }

    /// Stops the pool while `body` runs.
    func stop(graceMs: Int, during body: () throws -> Void) throws {
        let threads = ThreadGroup()
        try threads.start("stop") { self.pool.stop(graceMs: graceMs) }
        defer { threads.join() }
        try body()
    }

    /// Waits until `isTrue`, at most 20 s.
    func wait(_ isTrue: () -> Bool) throws {
        let untilMs = Clock.monotonicMs() + 20_000
        while !isTrue() {
            try #require(Clock.monotonicMs() < untilMs, "waited in vain; events: \(events)")
            usleep(2000)
        }
    }
}

private final class EventLog: Sendable {
    private let list = Mutex<[Event]>([])

    var events: [Event] { list.withLock { $0 } }

    func append(_ event: Event) { list.withLock { $0.append(event) } }
}

extension WorkerPool.Output {
    var text: String { jpeg.withBytes { String(decoding: $0, as: UTF8.self) } }
}

/// A job submitted. Waiting for its end blocks the test's thread: a test that suspends comes back only when all other
/// tests of the run have had their turn, and its times would say nothing.
final class Pending: Sendable {
    struct End {
        let outcome: WorkerPool.Outcome
        let atMs: Int
    }

    private let startMs: Int
    private let ended = DispatchSemaphore(value: 0)
    private let result = Mutex<End?>(nil)
    fileprivate let ticket = Mutex<WorkerPool.Ticket?>(nil)

    fileprivate init(startMs: Int) { self.startMs = startMs }

    fileprivate func end(with outcome: WorkerPool.Outcome) {
        result.withLock { $0 = End(outcome: outcome, atMs: Clock.monotonicMs()) }
        ended.signal()
    }

    var end: End {
        get throws {
            ended.wait()
            ended.signal()
            return try #require(result.withLock { $0 })
        }
    }

    var output: WorkerPool.Output { get throws { try end.outcome.get() } }

    var text: String { get throws { try output.text } }

    var failure: Failure? { get throws { try failureAndTime.0 } }

    /// The failure, and the milliseconds that it took.
    var failureAndTime: (Failure?, tookMs: Int) {
        get throws {
            let end = try end
            return switch end.outcome {
            case .success: (nil, end.atMs - startMs)
            case .failure(let failure): (failure, end.atMs - startMs)
            }
        }
    }
}
