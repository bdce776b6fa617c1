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
    func begin(_ words: String, deadlineMs: Int = 20_000, outputBytesMax: Int = 4096) throws -> Pending {
        let input = try SealedFile.holding(Array(words.utf8), name: "input")
        var limits = Limits()
        limits.jobDeadlineMs = deadlineMs
        limits.outputBytesMax = outputBytesMax
        let startMs = Clock.monotonicMs()
        let (stream, continuation) = AsyncStream<Pending.End>.makeStream()
        try pool.submit(Job(options: Options(), limits: limits), input: input) { outcome in
            continuation.yield(Pending.End(outcome: outcome, atMs: Clock.monotonicMs()))
        }
        return Pending(startMs: startMs, stream: stream)
    }

    /// A job that a worker has begun and goes on with after `release`; it says "released" then.
    func beginHeld() async throws -> Pending {
        let job = try begin("until \(path("begun")) \(path("released"))")
        try await wait { access(path("begun"), F_OK) == 0 }
        return job
    }

    func release() throws { _ = try folder.file("released", []) }

    /// What the worker wrote.
    func text(_ words: String) async throws -> String { try await begin(words).text }

    func failure(_ words: String, deadlineMs: Int = 20_000) async throws -> Failure? {
        try await begin(words, deadlineMs: deadlineMs).failure
    }

    /// Stops the pool without blocking the test's thread.
    func stop(graceMs: Int) async throws {
        let threads = ThreadGroup()
        await withCheckedContinuation { continuation in
            do {
                try threads.start("stop") {
                    self.pool.stop(graceMs: graceMs)
                    continuation.resume()
                }
            } catch {
                Issue.record(error)
                continuation.resume()
            }
        }
        threads.join()
    }

    /// Waits until `isTrue`, at most 20 s.
    func wait(_ isTrue: () -> Bool) async throws {
        let untilMs = Clock.monotonicMs() + 20_000
        while !isTrue() {
            try #require(Clock.monotonicMs() < untilMs, "waited in vain; events: \(events)")
            try await Task.sleep(for: .milliseconds(2))
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

/// A job submitted.
struct Pending {
    struct End {
        let outcome: WorkerPool.Outcome
        let atMs: Int
    }

    fileprivate let startMs: Int
    fileprivate let stream: AsyncStream<End>

    var end: End {
        get async throws {
            for await end in stream { return end }
            throw CancellationError()
        }
    }

    var output: WorkerPool.Output { get async throws { try await end.outcome.get() } }

    var text: String { get async throws { try await output.text } }

    var failure: Failure? { get async throws { try await failureAndTime.0 } }

    /// The failure, and the milliseconds that it took.
    var failureAndTime: (Failure?, tookMs: Int) {
        get async throws {
            let end = try await end
            return switch end.outcome {
            case .success: (nil, end.atMs - startMs)
            case .failure(let failure): (failure, end.atMs - startMs)
            }
        }
    }
}
