import Core
package import Posix
import Synchronization

/// Calls to the store, on threads of their own, so that a store that hangs holds up nothing else.
///
/// A call that has not come back at its deadline is answered for. Its thread stays where it is; while all of them are
/// held that way, further calls are refused at once rather than queued behind a store that does not answer.
package final class StoreCalls: Sendable {
    private struct State {
        var machine: StateMachine
        var answers: [Int: @Sendable (Failure) -> Void] = [:]
    }

    private let threads: WorkThreads
    private let watch = ThreadGroup()
    private let end: EventCounter
    private let state: Mutex<State>
    private let deadlineMs: Int
    private let log: Log
    private static let watchIntervalMs = 100

    private init(threads: WorkThreads, end: EventCounter, threadCount: Int, deadlineMs: Int, log: Log) {
        self.threads = threads
        self.end = end
        self.deadlineMs = deadlineMs
        self.log = log
        state = Mutex(State(machine: StateMachine(threadCount: threadCount)))
    }

    /// - Parameters:
    ///   - name: of the threads, for people.
    ///   - queueLengthMax: calls that may wait for a thread.
    /// - Throws: where the system has no room for the threads.
    package static func start(
        name: String, threadCount: Int, queueLengthMax: Int, deadlineMs: Int, log: Log
    ) throws(PosixError) -> StoreCalls {
        let calls = StoreCalls(
            threads: try WorkThreads.start(name: name, threadCount: threadCount, queueLengthMax: queueLengthMax),
            end: try EventCounter.make(), threadCount: threadCount, deadlineMs: deadlineMs, log: log)
        do { try calls.watch.start("\(name)-watch") { calls.keepWatch() } } catch {
            _ = calls.stop(graceMs: 0)
            throw error
        }
        return calls
    }

    /// Makes a call, whose outcome `completion` gets, exactly once, on a thread of the store's or, for a call that is
    /// refused or answered for, on another, which it must not block.
    ///
    /// - Parameter undo: called instead, where the call comes back from a success that nobody was told of.
    func run<Value: Sendable>(
        _ call: @escaping @Sendable () throws(Failure) -> Value,
        undo: @escaping @Sendable (Value) -> Void = { _ in },
        completion: @escaping @Sendable (Result<Value, Failure>) -> Void
    ) {
        let nowMs = Clock.monotonicMs()
        let id = state.withLock { state in
            let id = state.machine.submit(untilMs: nowMs + deadlineMs)
            if let id { state.answers[id] = { completion(.failure($0)) } }
            return id
        }
        guard let id else {
            completion(.failure(.storeHangs))
            return
        }
        let isTaken = threads.submit { [self] in
            guard state.withLock({ $0.machine.begin(id) }) else { return }
            let result = Result { () throws(Failure) in try call() }
            if finish(id) {
                completion(result)
            } else if case .success(let value) = result {
                undo(value)
            }
        }
        if !isTaken, finish(id) { completion(.failure(Failure(.busy, "too much is waiting for the store"))) }
    }

    /// Returns once the threads have ended; false where some of them still hang in the store after the grace, and are
    /// left behind.
    package func stop(graceMs: Int) -> Bool {
        let isClean = threads.stop(graceMs: graceMs)
        end.signal()
        watch.join()
        return isClean
    }

    /// Whether the call had not been answered for.
    private func finish(_ id: Int) -> Bool {
        state.withLock { state in
            state.answers[id] = nil
            return state.machine.finish(id)
        }
    }

    private func keepWatch() {
        while !waitReadable([end.descriptor.raw], untilMs: Clock.monotonicMs() + Self.watchIntervalMs)[0] {
            let nowMs = Clock.monotonicMs()
            let (answers, hanging) = state.withLock { state in
                let late = state.machine.expire(nowMs: nowMs)
                return (late.compactMap { state.answers.removeValue(forKey: $0) }, state.machine.hangingCount)
            }
            if answers.isEmpty { continue }
            log(.warning, "store does not answer", ["store.hanging": .number(hanging)])
            for answer in answers { answer(.storeHangs) }
        }
    }
}

extension StoreCalls {
    /// Which calls are where, without threads or clocks.
    struct StateMachine {
        private enum Place { case queued, running, hanging }

        private let threadCount: Int
        private var calls: [Int: (place: Place, untilMs: Int)] = [:]
        private var serial = 0

        init(threadCount: Int) { self.threadCount = threadCount }

        /// Threads in calls that were answered for.
        var hangingCount: Int { calls.values.count { $0.place == .hanging } }

        /// The call's name; nil where no thread is left for it.
        mutating func submit(untilMs: Int) -> Int? {
            guard hangingCount < threadCount else { return nil }
            serial += 1
            calls[serial] = (.queued, untilMs)
            return serial
        }

        /// A thread has come to the call; false where that is too late.
        mutating func begin(_ id: Int) -> Bool {
            guard let call = calls[id] else { return false }
            calls[id] = (.running, call.untilMs)
            return true
        }

        /// The call has come back, or is not made after all; false where it had been answered for.
        mutating func finish(_ id: Int) -> Bool {
            guard let call = calls.removeValue(forKey: id) else { return false }
            return call.place != .hanging
        }

        /// The calls to be answered for.
        mutating func expire(nowMs: Int) -> [Int] {
            let late = calls.filter { $0.value.place != .hanging && $0.value.untilMs <= nowMs }
            for (id, call) in late { calls[id] = call.place == .running ? (.hanging, call.untilMs) : nil }
            return Array(late.keys)
        }
    }
}

extension Failure {
    static let storeHangs = Failure(.storageUnavailable, "the store does not answer", diagnosis: "deadline passed")
}
