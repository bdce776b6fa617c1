import Core

extension WorkerPool {
    /// Who does which job, without threads, processes or clocks: told what happened, it answers what to do.
    ///
    /// Of the waiting jobs the one goes first whose wait began the longest ago, a job's expected time counted as wait
    /// that it still owes: so a small job overtakes the big ones that have not waited as much longer as they take
    /// longer, and nobody starves. No worker is kept free for small jobs: it would stand idle while big ones fill the
    /// queue.
    ///
    /// An idle slot and a waiting job never exist at the same time.
    struct StateMachine<Work> {
        private struct Slot {
            /// Its worker has said hello and lives.
            var isWarm = false
            /// Chosen for the slot, which has not come to take it yet.
            var handed: Waiting?
            var running: Running?

            var isBusy: Bool { handed != nil || running != nil }
        }

        private struct Waiting {
            let id: Int
            let work: Work
            let expectedMs: Int
            let sinceMs: Int
            let untilMs: Int

            var rank: Int { sinceMs + expectedMs }
        }

        private struct Running {
            let id: Int
            let expectedMs: Int
            var isCancelled = false
        }

        /// Work given to a slot.
        struct Assignment {
            let work: Work
            /// The threads that it may keep busy: its share of the processors among the work that runs or waits now, at
            /// least one. It keeps them however busy the pool becomes.
            let threads: Int
        }

        enum Submission: Equatable {
            /// The slot's thread is to be woken.
            case handed(slot: Int)
            case queued
            case queueFull
            case stopping
        }

        enum Cancellation {
            /// It was still waiting and is out of the queue.
            case dropped(Work)
            /// It runs and has long to go: the slot's thread is to be woken, and to end its worker.
            case kill(slot: Int)
            /// It runs and is left to its end, which is near, or is over already.
            case leave
        }

        private var slots: [Slot]
        /// Warm and without work; the one used last at the end, so that few workers stay hot when there is little to
        /// do.
        private var idle: [Int] = []
        private var queue: [Waiting] = []
        private let queueLengthMax: Int
        private let processors: Int
        /// What a job takes, in microseconds: each new one counts for an eighth.
        private var jobUs = MovingAverage(Load.jobUsAtFirst)
        /// Set when stopping: the moment when running jobs are cut short.
        private(set) var cutoffMs: Int?

        init(slots count: Int, queueLengthMax: Int, processors: Int) {
            precondition(count > 0 && queueLengthMax >= 0 && processors > 0)
            slots = Array(repeating: Slot(), count: count)
            self.queueLengthMax = queueLengthMax
            self.processors = processors
        }
    }
}

/// A job of nobody's that takes as long is worth a fresh worker, which takes a tenth of it.
private let longMs = 1000

// What is asked of the pool.
extension WorkerPool.StateMachine {
    /// Whether a job would be worked on now or soon.
    var isReady: Bool { cutoffMs == nil && slots.contains { $0.isWarm } }

    var load: WorkerPool.Load {
        WorkerPool.Load(
            workers: slots.count, running: slots.count { $0.isBusy }, waiting: queue.count, jobUs: jobUs.value)
    }

    /// - Parameters:
    ///   - id: one that no other job has.
    ///   - expectedMs: what it will take.
    ///   - untilMs: the moment when the work has waited in vain.
    mutating func submit(_ work: Work, id: Int, expectedMs: Int, nowMs: Int, untilMs: Int) -> Submission {
        guard cutoffMs == nil else { return .stopping }
        let waiting = Waiting(id: id, work: work, expectedMs: expectedMs, sinceMs: nowMs, untilMs: untilMs)
        if let slot = idle.popLast() {
            slots[slot].handed = waiting
            return .handed(slot: slot)
        }
        guard queue.count < queueLengthMax else { return .queueFull }
        queue.append(waiting)
        return .queued
    }

    /// Nobody waits for the job's outcome any more.
    mutating func cancel(id: Int) -> Cancellation {
        if let index = queue.firstIndex(where: { $0.id == id }) { return .dropped(queue.remove(at: index).work) }
        for slot in slots.indices {
            if let handed = slots[slot].handed, handed.id == id {
                slots[slot].handed = nil
                return .dropped(handed.work)
            }
            if let running = slots[slot].running, running.id == id, running.expectedMs >= longMs {
                slots[slot].running?.isCancelled = true
                return .kill(slot: slot)
            }
        }
        return .leave
    }

    /// Takes out what has waited in vain.
    mutating func expire(nowMs: Int) -> [Work] {
        let isCutOff = nowMs >= cutoffMs ?? .max
        let expired = queue.filter { isCutOff || $0.untilMs <= nowMs }
        queue.removeAll { isCutOff || $0.untilMs <= nowMs }
        return expired.map(\.work)
    }

    /// No more work is taken; what waits is given back. Only the first call counts.
    mutating func stop(cutoffMs moment: Int) -> [Work] {
        guard cutoffMs == nil else { return [] }
        cutoffMs = moment
        idle = []
        defer { queue = [] }
        return queue.map(\.work)
    }
}

// What the slots ask and tell.
extension WorkerPool.StateMachine {
    /// The slot has a worker that said hello.
    mutating func warmed(_ slot: Int) { slots[slot].isWarm = true }

    /// The warm slot asks for work; without any it counts as idle.
    mutating func next(_ slot: Int) -> Assignment? {
        guard let next = slots[slot].handed.take() ?? takeFirst() else {
            if cutoffMs == nil, !idle.contains(slot) { idle.append(slot) }
            return nil
        }
        slots[slot].running = Running(id: next.id, expectedMs: next.expectedMs)
        let busy = slots.count { $0.isBusy }
        return Assignment(work: next.work, threads: max(1, processors / (busy + queue.count)))
    }

    /// Whether the job that the slot is at has been given up.
    func isCancelled(_ slot: Int) -> Bool { slots[slot].running?.isCancelled ?? false }

    /// The slot's job has its outcome, after `tookUs` of work.
    mutating func finished(_ slot: Int, tookUs: Int) {
        slots[slot].running = nil
        jobUs.add(tookUs)
    }

    /// The slot's worker is no more. Work handed to the slot and not yet taken goes to another; which one to wake.
    mutating func lost(_ slot: Int) -> Int? {
        slots[slot].isWarm = false
        idle.removeAll { $0 == slot }
        guard let work = slots[slot].handed.take() else { return nil }
        if let other = idle.popLast() {
            slots[other].handed = work
            return other
        }
        queue.insert(work, at: 0)
        return nil
    }

    /// Whether the slot's thread has nothing left to live for.
    func isOver(_ slot: Int) -> Bool { cutoffMs != nil && !slots[slot].isBusy && queue.isEmpty }
}

// Who is next.
extension WorkerPool.StateMachine {
    private mutating func takeFirst() -> Waiting? {
        queue.indices.min { queue[$0].rank < queue[$1].rank }.map { queue.remove(at: $0) }
    }
}
