extension WorkerPool {
    /// Who does which job, without threads, processes or clocks: told what happened, it answers what to do.
    ///
    /// An idle slot and a waiting job never exist at the same time.
    struct StateMachine<Work> {
        private struct Slot {
            /// Its worker has said hello and lives.
            var isWarm = false
            /// Chosen for the slot, which has not come to take it yet.
            var handed: Waiting?
            var isRunning = false
        }

        private struct Waiting {
            let work: Work
            let untilMs: Int
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

        private var slots: [Slot]
        /// Warm and without work; the one used last at the end, so that few workers stay hot when there is little to do.
        private var idle: [Int] = []
        private var queue: [Waiting] = []
        private let queueLengthMax: Int
        private let processors: Int
        /// Set when stopping: the moment when running jobs are cut short.
        private(set) var cutoffMs: Int?

        init(slots count: Int, queueLengthMax: Int, processors: Int) {
            precondition(count > 0 && queueLengthMax >= 0 && processors > 0)
            slots = Array(repeating: Slot(), count: count)
            self.queueLengthMax = queueLengthMax
            self.processors = processors
        }

        /// Whether a job would be worked on now or soon.
        var isReady: Bool { cutoffMs == nil && slots.contains { $0.isWarm } }

        /// - Parameter untilMs: the moment when the work has waited in vain.
        mutating func submit(_ work: Work, untilMs: Int) -> Submission {
            guard cutoffMs == nil else { return .stopping }
            if let slot = idle.popLast() {
                slots[slot].handed = Waiting(work: work, untilMs: untilMs)
                return .handed(slot: slot)
            }
            guard queue.count < queueLengthMax else { return .queueFull }
            queue.append(Waiting(work: work, untilMs: untilMs))
            return .queued
        }

        /// The slot has a worker that said hello.
        mutating func warmed(_ slot: Int) { slots[slot].isWarm = true }

        /// The warm slot asks for work; without any it counts as idle.
        mutating func next(_ slot: Int) -> Assignment? {
            guard let next = slots[slot].handed.take() ?? (queue.isEmpty ? nil : queue.removeFirst()) else {
                if cutoffMs == nil, !idle.contains(slot) { idle.append(slot) }
                return nil
            }
            slots[slot].isRunning = true
            let busy = slots.count { $0.isRunning || $0.handed != nil }
            return Assignment(work: next.work, threads: max(1, processors / (busy + queue.count)))
        }

        /// The slot's job has its outcome.
        mutating func finished(_ slot: Int) { slots[slot].isRunning = false }

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

        /// Whether the slot's thread has nothing left to live for.
        func isOver(_ slot: Int) -> Bool {
            cutoffMs != nil && !slots[slot].isRunning && slots[slot].handed == nil && queue.isEmpty
        }
    }
}
