import Synchronization

/// A fixed number of threads that run short pieces of blocking work in the order of submission.
///
/// The threads keep the object alive until `stop`.
package final class WorkThreads: Sendable {
    private struct State {
        var queue: [@Sendable () -> Void] = []
        var isStopping = false
    }

    private let queueLengthMax: Int
    private let threadCount: Int
    private let state = Mutex(State())
    /// One count for each piece in the queue; when stopping, one more for each thread.
    private let pending: EventCounter
    /// One count for each thread that has ended.
    private let ended: EventCounter
    private let threads = ThreadGroup()

    private init(threadCount: Int, queueLengthMax: Int, pending: EventCounter, ended: EventCounter) {
        self.threadCount = threadCount
        self.queueLengthMax = queueLengthMax
        self.pending = pending
        self.ended = ended
    }

    /// - Parameters:
    ///   - name: of the threads, before their number; together 15 characters count.
    ///   - queueLengthMax: pieces that may wait for a thread.
    package static func start(
        name: String, threadCount: Int, queueLengthMax: Int
    ) throws(PosixError) -> WorkThreads {
        precondition(threadCount > 0 && queueLengthMax > 0)
        let work = WorkThreads(
            threadCount: threadCount, queueLengthMax: queueLengthMax, pending: try EventCounter.make(),
            ended: try EventCounter.make())
        do {
            for index in 0..<threadCount { try work.threads.start("\(name)-\(index)") { work.run() } }
        } catch {
            work.stop()
            throw error
        }
        return work
    }

    /// Queues `piece`; false where the queue is full or the threads are stopping, and then it never runs.
    package func submit(_ piece: @escaping @Sendable () -> Void) -> Bool {
        let isTaken = state.withLock { state in
            guard !state.isStopping, state.queue.count < queueLengthMax else { return false }
            state.queue.append(piece)
            return true
        }
        if isTaken { pending.signal() }
        return isTaken
    }

    /// Takes no more, runs what is queued, and returns once the threads have ended.
    package func stop() {
        finishUp()
        threads.join()
    }

    /// Likewise, but waits for no longer than `graceMs`; false where threads are still at their work then, and left to
    /// it.
    package func stop(graceMs: Int) -> Bool {
        finishUp()
        let untilMs = Clock.monotonicMs() + graceMs
        for _ in 0..<threadCount {
            guard waitReadable([ended.descriptor.raw], untilMs: untilMs)[0] else { return false }
            ended.wait()
        }
        threads.join()
        return true
    }

    private func finishUp() {
        let isFirst = state.withLock { state in
            defer { state.isStopping = true }
            return !state.isStopping
        }
        if isFirst { pending.signal(count: threadCount) }
    }

    private func run() {
        defer { ended.signal() }
        while true {
            pending.wait()
            let piece = state.withLock { $0.queue.isEmpty ? nil : $0.queue.removeFirst() }
            guard let piece else { return }
            piece()
        }
    }
}
