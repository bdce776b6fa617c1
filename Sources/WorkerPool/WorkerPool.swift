package import Core
import Glibc
package import Posix
import Synchronization

/// A fixed number of slots, each a thread that keeps one `safelight-worker` process alive and gives it one job at a
/// time.
///
/// A worker that dies, hangs, breaks the protocol or writes too much loses its job once; the job is tried again on a
/// fresh worker, and refused as `undecodable` at the second loss. Both tries share the job's one deadline, so a
/// deadline passed is final. Nothing a worker does reaches another job.
///
/// The threads keep the pool alive until `stop`.
package final class WorkerPool: Sendable {
    /// A finished picture. The JPEG is sealed: no worker can change it any more. Of a job that inspects it is empty.
    package struct Output: Sendable {
        package let report: Report
        package let jpeg: SealedFile
        /// Microseconds that the job waited for a worker.
        package var queueUs = 0
        /// Microseconds that it was with workers, in all of its tries.
        package var workUs = 0
    }

    /// What becomes of a job.
    package typealias Outcome = Result<Output, Failure>

    /// A job with all that it needs, on its way through the queue to a slot.
    struct Work: Sendable {
        let job: Job
        let input: SealedFile
        let submittedUs: Int
        let complete: @Sendable (Outcome) -> Void
    }

    let configuration: Configuration
    private let machine: Mutex<StateMachine<Work>>
    /// One a slot, waking its thread.
    private let wakeUps: [EventCounter]
    private let threads = ThreadGroup()
    private let serial = Atomic(0)

    private init(configuration: Configuration, wakeUps: [EventCounter]) {
        self.configuration = configuration
        self.wakeUps = wakeUps
        machine = Mutex(
            StateMachine(
                slots: configuration.workers, queueLengthMax: configuration.queueLengthMax,
                processors: configuration.processors))
    }

    /// Starts the slots; their workers come up by themselves, see `isReady`.
    ///
    /// - Throws: where the worker is not there or not executable, or the system has no room for the threads.
    package static func start(_ configuration: Configuration) throws(PosixError) -> WorkerPool {
        precondition(configuration.workers > 0 && configuration.workerPath.hasPrefix("/"))
        try syscall("access \(configuration.workerPath)") { access(configuration.workerPath, X_OK) }
        var wakeUps: [EventCounter] = []
        for _ in 0..<configuration.workers { wakeUps.append(try EventCounter.make()) }
        let pool = WorkerPool(configuration: configuration, wakeUps: wakeUps)
        do {
            for index in 0..<configuration.workers {
                try pool.threads.start("slot-\(index)") {
                    var slot = Slot(index: index, pool: pool, wakeUp: pool.wakeUps[index])
                    slot.run()
                }
            }
        } catch {
            pool.stop(graceMs: 0)
            throw error
        }
        return pool
    }

    /// Whether at least one worker has said hello and lives.
    package var isReady: Bool { machine.withLock { $0.isReady } }

    /// How busy it is at this moment.
    package var load: Load { machine.withLock { $0.load } }

    /// Queues a job; `completion` is called exactly once with its outcome, from a thread of the pool, and must soon
    /// return.
    ///
    /// Failures come from the worker (`unsupported_media_type`, `corrupt`, `truncated`, `too_many_pixels` …), or are
    /// `undecodable` after two losses or at the deadline, `busy` where no worker took the job within `waitMs`,
    /// `stopping`, or `internal_error`.
    ///
    /// - Parameter expectedMs: what the job will take, as far as one can tell.
    /// - Returns: what the job is cancelled by.
    /// - Throws: `busy` where the queue is full, `stopping` after `stop`; `completion` is not called then.
    @discardableResult
    package func submit(
        _ job: Job, input: SealedFile, expectedMs: Int, completion: @escaping @Sendable (Outcome) -> Void
    ) throws(Failure) -> Ticket {
        let nowMs = Clock.monotonicMs()
        let work = Work(job: job, input: input, submittedUs: Clock.monotonicUs(), complete: completion)
        let id = serial.add(1, ordering: .relaxed).newValue
        let submission = machine.withLock {
            $0.submit(work, id: id, expectedMs: expectedMs, nowMs: nowMs, untilMs: nowMs + configuration.waitMs)
        }
        switch submission {
        case .handed(let slot): wakeUps[slot].signal()
        case .queued: break
        case .queueFull:
            throw Failure(.busy, "all workers are busy and \(configuration.queueLengthMax) jobs wait already")
        case .stopping: throw .stopping
        }
        return Ticket(id: id)
    }

    /// Gives up a job whose outcome nobody waits for any more. One that waits is dropped. One that runs is left to its
    /// end, for on average that costs less than a fresh worker; only where it was expected to take more than a second
    /// its worker is killed. Either way its completion is called, sooner or later. Harmless after the job's end.
    package func cancel(_ ticket: Ticket) {
        switch machine.withLock({ $0.cancel(id: ticket.id) }) {
        case .dropped(let work): work.complete(.failure(.abandoned))
        case .kill(let slot): wakeUps[slot].signal()
        case .leave: break
        }
    }

    /// Takes no more jobs and fails those that wait; those that run may finish for `graceMs`. Returns once all workers
    /// are reaped and all threads have ended; no completion is called later.
    package func stop(graceMs: Int) {
        let cutoffMs = Clock.monotonicMs() + graceMs
        for work in machine.withLock({ $0.stop(cutoffMs: cutoffMs) }) { work.complete(.failure(.stopping)) }
        for wakeUp in wakeUps { wakeUp.signal() }
        threads.join()
    }
}

// What the slots' threads ask and tell.
extension WorkerPool {
    /// When stopping: the moment when running jobs are cut short.
    var cutoffMs: Int? { machine.withLock { $0.cutoffMs } }

    func isOver(_ slot: Int) -> Bool { machine.withLock { $0.isOver(slot) } }

    func next(_ slot: Int) -> StateMachine<Work>.Assignment? {
        expire()
        return machine.withLock { $0.next(slot) }
    }

    func warmed(_ slot: Int) { machine.withLock { $0.warmed(slot) } }

    func isCancelled(_ slot: Int) -> Bool { machine.withLock { $0.isCancelled(slot) } }

    func finished(_ slot: Int, tookUs: Int) { machine.withLock { $0.finished(slot, tookUs: tookUs) } }

    func lost(_ slot: Int) {
        if let other = machine.withLock({ $0.lost(slot) }) { wakeUps[other].signal() }
    }

    /// Fails the jobs that no slot has taken in time.
    func expire() {
        let nowMs = Clock.monotonicMs()
        let (expired, isStopping) = machine.withLock { ($0.expire(nowMs: nowMs), $0.cutoffMs != nil) }
        for work in expired { work.complete(.failure(isStopping ? .stopping : .noWorker)) }
    }
}

extension Failure {
    static let stopping = Failure(.stopping, "the service is stopping")
    static let noWorker = Failure(.busy, "no worker became free in time")
    /// Nobody hears of it.
    package static let abandoned = Failure(.busy, "the client has gone")

    static func noRoom(_ error: PosixError) -> Failure {
        Failure(.busy, "no room for another job", diagnosis: error.description)
    }

    static func undecodable(_ loss: Loss) -> Failure {
        Failure(.undecodable, "the picture could not be decoded", diagnosis: loss.description)
    }

    static func late(deadlineMs: Int) -> Failure {
        Failure(.undecodable, "the picture could not be decoded within \(deadlineMs) ms", diagnosis: "\(Loss.timedOut)")
    }
}
