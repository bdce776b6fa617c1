import Core
import Glibc
import Posix

/// What one thread of the pool does: it keeps one worker alive and runs one job at a time on it.
///
/// The thread lives as long as the pool, as a worker asks the kernel to be killed when the thread that started it ends.
struct Slot {
    /// A job in hand, through both of its tries.
    private struct Running {
        let work: WorkerPool.Work
        /// What the job may keep busy, in both of its tries.
        let threads: Int
        let startUs: Int
        var untilMs: Int
        /// How the first try was lost.
        var loss: Loss?
    }

    /// What becomes of a worker.
    private enum Fate: Equatable {
        case keep
        case recycle
        case lost
    }

    /// While all slots are busy or without a worker, somebody must look after the jobs that wait.
    private static let lookEveryMs = 250

    /// Who comes to a look so late was standing still, and all of the machine or the container with it: that time is not
    /// held against the job.
    private static let standstillMs = 1000

    let index: Int
    let pool: WorkerPool
    let wakeUp: EventCounter
    private var running: Running?
    /// Workers in a row that came to no job.
    private var failedStarts = 0

    init(index: Int, pool: WorkerPool, wakeUp: EventCounter) {
        self.index = index
        self.pool = pool
        self.wakeUp = wakeUp
    }

    mutating func run() {
        while !pool.isOver(index) {
            pause()
            guard var worker = startWorker() else { continue }
            pool.warmed(index)
            var fate = Fate.keep
            while fate == .keep, !pool.isOver(index) {
                fate = running == nil ? awaitWork(&worker) : attempt(&worker)
            }
            pool.lost(index)
            worker.end(graceMs: fate == .lost ? 0 : 1000)
        }
    }
}

// Workers come.
extension Slot {
    /// Waits after failed starts: 10 ms, then twice as long each time, up to a second.
    private mutating func pause() {
        let untilMs = Clock.monotonicMs() + pauseMs
        while Clock.monotonicMs() < untilMs, !pool.isOver(index) {
            if waitReadable([wakeUp.descriptor.raw], untilMs: min(untilMs, limitMs))[0] { wakeUp.wait() }
            expire()
        }
    }

    private var pauseMs: Int { failedStarts == 0 ? 0 : min(1000, 10 << min(failedStarts - 1, 7)) }

    /// A worker that said hello; nil where there is none, or no need for one any more.
    private mutating func startWorker() -> Worker? {
        let untilMs = Clock.monotonicMs() + pool.configuration.helloDeadlineMs
        do {
            var worker = try Worker.spawn(pool.configuration.workerPath)
            while !pool.isOver(index) {
                do throws(Loss) {
                    guard
                        try worker.awaitHello(
                            allowsUnsandboxed: pool.configuration.allowsUnsandboxed, wakeUp: wakeUp,
                            untilMs: min(untilMs, limitMs, Clock.monotonicMs() + Self.lookEveryMs))
                    else { continue }
                    pool.configuration.log(.started(pid: worker.pid))
                    return worker
                } catch {
                    expire()
                    if error == .timedOut, Clock.monotonicMs() < untilMs { continue }
                    noteFailedStart(error == .timedOut ? "no hello in time" : "\(error)")
                    return nil
                }
            }
        } catch {
            noteFailedStart("\(error)")
            expire()
        }
        return nil
    }

    private mutating func noteFailedStart(_ reason: String) {
        failedStarts += 1
        pool.configuration.log(.startFailed(reason: reason, retryInMs: pauseMs))
    }

    /// The moment when the job in hand must have its outcome.
    private var limitMs: Int { min(running?.untilMs ?? .max, pool.cutoffMs ?? .max) }

    /// Fails the jobs, in hand and in the queue, whose time went by while there was no worker.
    private mutating func expire() {
        pool.expire()
        guard let running, Clock.monotonicMs() >= limitMs else { return }
        let isLate = Clock.monotonicMs() >= running.untilMs
        finish(.failure(isLate ? running.loss.map(Failure.undecodable) ?? .noWorker : .stopping))
    }
}

// Workers work.
extension Slot {
    private mutating func awaitWork(_ worker: inout Worker) -> Fate {
        if let next = pool.next(index) {
            running = Running(
                work: next.work, threads: next.threads, startUs: Clock.monotonicUs(),
                untilMs: Clock.monotonicMs() + next.work.job.limits.jobDeadlineMs)
            return .keep
        }
        do throws(Loss) {
            try worker.idle(wakeUp: wakeUp)
            return .keep
        } catch {
            if worker.jobs == 0 { failedStarts += 1 }
            log(error, pid: worker.pid, duringJob: false)
            return .lost
        }
    }

    /// One try of the job in hand.
    private mutating func attempt(_ worker: inout Worker) -> Fate {
        guard let running else { return .keep }
        let output: MemoryFile
        do { output = try MemoryFile(name: "safelight-output") } catch {
            finish(.failure(.noRoom(error)))
            return .keep
        }
        var job = running.work.job
        job.threads = running.threads
        do throws(Loss) {
            try worker.hand(job, input: running.work.input, output: output)
        } catch {
            // The worker never had the job: it costs no try, and the deadline ends the search for a better one.
            failedStarts += 1
            log(error, pid: worker.pid, duringJob: false)
            return .lost
        }
        failedStarts = 0
        do throws(Loss) {
            let reply = try awaitReply(&worker)
            finish(try Self.outcome(of: reply, output: output, running.work.job))
            return isWornOut(worker) ? .recycle : .keep
        } catch {
            log(error, pid: worker.pid, duringJob: true)
            lose(error)
            return .lost
        }
    }

    private mutating func awaitReply(_ worker: inout Worker) throws(Loss) -> Reply {
        while true {
            // Woken up, it asks for the limit again: the pool may be stopping.
            let lookMs = min(limitMs, Clock.monotonicMs() + Self.lookEveryMs)
            do throws(Loss) {
                if let reply = try worker.awaitReply(wakeUp: wakeUp, untilMs: lookMs) { return reply }
            } catch {
                guard error == .timedOut else { throw error }
                let nowMs = Clock.monotonicMs()
                if nowMs - lookMs > Self.standstillMs { running?.untilMs += nowMs - lookMs }
                if nowMs >= running?.untilMs ?? .max { throw .timedOut }
                if nowMs >= limitMs { throw .stopped }
                pool.expire()
            }
            if pool.isCancelled(index) { throw .abandoned }
        }
    }

    private static func outcome(
        of reply: Reply, output: consuming MemoryFile, _ job: Job
    ) throws(Loss) -> WorkerPool.Outcome {
        switch reply {
        case .failed(let failure): return .failure(failure)
        case .done(let report):
            let bytesMax = job.kind == .inspect ? 0 : job.limits.outputBytesMax
            let jpeg: SealedFile
            do { jpeg = try output.seal(bytesMax: bytesMax) } catch {
                if error.call == "mmap" { return .failure(.noRoom(error)) }
                if error.errno == EFBIG { throw .outputTooLarge(limit: bytesMax) }
                throw .outputHeld(error)
            }
            guard jpeg.count > 0 || bytesMax == 0 else { throw .outputMissing }
            return .success(WorkerPool.Output(report: report, jpeg: jpeg))
        }
    }

    private mutating func lose(_ loss: Loss) {
        guard let running else { return }
        switch loss {
        case .stopped: finish(.failure(.stopping))
        case .abandoned: finish(.failure(.abandoned))
        case .timedOut: finish(.failure(.late(deadlineMs: running.work.job.limits.jobDeadlineMs)))
        default: if running.loss == nil { self.running?.loss = loss } else { finish(.failure(.undecodable(loss))) }
        }
    }

    private mutating func finish(_ outcome: WorkerPool.Outcome) {
        guard let running else { return }
        let tookUs = Clock.monotonicUs() - running.startUs
        running.work.complete(
            outcome.map { output in
                var output = output
                output.queueUs = running.startUs - running.work.submittedUs
                output.workUs = tookUs
                return output
            })
        self.running = nil
        pool.finished(index, tookUs: tookUs)
    }

    private func isWornOut(_ worker: borrowing Worker) -> Bool {
        let residentBytes = worker.residentBytes()
        let configuration = pool.configuration
        guard worker.jobs >= configuration.jobsPerWorkerMax || residentBytes ?? 0 > configuration.residentBytesMax
        else { return false }
        configuration.log(.recycled(pid: worker.pid, jobs: worker.jobs, residentBytes: residentBytes))
        return true
    }

    private func log(_ loss: Loss, pid: Int32, duringJob: Bool) {
        let event: Event =
            switch loss {
            case .exited(let exit): .crashed(pid: pid, exit, duringJob: duringJob)
            case .trapped(let call): .trapped(pid: pid, call: call, duringJob: duringJob)
            case .timedOut: .killedAtDeadline(pid: pid)
            case .stopped: .killedAtStop(pid: pid)
            case .abandoned: .killedAsAbandoned(pid: pid)
            case .unreachable, .unfiltered, .spokeUnasked, .replyMalformed, .gaveUp, .outputMissing, .outputTooLarge,
                .outputHeld:
                .misbehaved(pid: pid, how: "\(loss)")
            }
        pool.configuration.log(event)
    }
}
