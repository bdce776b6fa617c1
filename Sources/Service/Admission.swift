import Core
import Posix
import Synchronization
import WorkerPool

/// Decides about an upload when its head is there: whether there will be a worker for it.
///
/// No place in the queue is set aside for a body on its way, else whoever sends slowly would keep others out. Instead
/// bodies on their way count as waiting, less what the workers get done while a body comes: at full load, with photos
/// from slow phones, as many uploads are under way as that is, and refusing them would leave the workers idle. So where
/// more comes than can be done, the queue fills and stays full, nearly all that is let in finds its place, and the rest
/// is told so before it has sent its body. A body that takes far longer than others do does not count any more.
final class Admission: Sendable {
    /// What an upload holds while it is received: leaves the count when it is let go of, if not before.
    final class Permit: Sendable {
        private let admission: Admission
        private let id: Int

        fileprivate init(id: Int, of admission: Admission) {
            self.admission = admission
            self.id = id
        }

        deinit { admission.machine.withLock { $0.gone(id) } }

        /// The body is whole, and has so many bytes.
        func arrived(bytes: Int) {
            let nowMs = Clock.monotonicMs()
            admission.machine.withLock { $0.arrived(id, bytes: bytes, nowMs: nowMs) }
        }
    }

    private let machine: Mutex<StateMachine>

    init(queueLengthMax: Int) { machine = Mutex(StateMachine(queueLengthMax: queueLengthMax)) }

    /// A permit to send the body; nil where it would come in vain.
    func ask(_ load: WorkerPool.Load) -> Permit? {
        let nowMs = Clock.monotonicMs()
        return machine.withLock { $0.ask(nowMs: nowMs, load) }.map { Permit(id: $0, of: self) }
    }

    /// Seconds until those who are there now have been served.
    func retryAfterSeconds(_ load: WorkerPool.Load) -> Int {
        let nowMs = Clock.monotonicMs()
        return machine.withLock { $0.retryAfterSeconds(nowMs: nowMs, load) }
    }
}

extension Admission {
    /// The count, without clocks or locks.
    struct StateMachine {
        /// A body is as good as lost after so long, or after twice the usual time.
        private static let slowMs = 1000
        /// A body that comes more slowly says nothing about the usual time: else a few bytes that take their time would
        /// make the service wait for the like.
        private static let bytesPerSecondMin = 64 * 1024
        /// No single body says more about the usual time than this.
        private static let uploadMsMax = 10_000
        private static let retryAfterSecondsMax = 60

        private let queueLengthMax: Int
        /// When the head of each body on its way came.
        private var receiving: [Int: Int] = [:]
        private var serial = 0
        /// What a body takes to come, in microseconds.
        private var uploadUs = MovingAverage(0)

        init(queueLengthMax: Int) { self.queueLengthMax = queueLengthMax }

        mutating func ask(nowMs: Int, _ load: WorkerPool.Load) -> Int? {
            let idle = load.workers - load.running
            let doneMeanwhile = load.workers * uploadUs.value / max(1, load.jobUs)
            guard load.waiting + fastCount(nowMs: nowMs) < queueLengthMax + idle + doneMeanwhile else { return nil }
            serial += 1
            receiving[serial] = nowMs
            return serial
        }

        mutating func arrived(_ id: Int, bytes: Int, nowMs: Int) {
            guard let sinceMs = receiving.removeValue(forKey: id),
                bytes * 1000 >= Self.bytesPerSecondMin * (nowMs - sinceMs)
            else { return }
            uploadUs.add(min(nowMs - sinceMs, Self.uploadMsMax) * 1000)
        }

        mutating func gone(_ id: Int) { receiving[id] = nil }

        func retryAfterSeconds(nowMs: Int, _ load: WorkerPool.Load) -> Int {
            let ahead = load.running + load.waiting + fastCount(nowMs: nowMs)
            let us = ahead * load.jobUs / load.workers
            return min(max(1, (us + 999_999) / 1_000_000), Self.retryAfterSecondsMax)
        }

        private func fastCount(nowMs: Int) -> Int {
            let patienceMs = max(Self.slowMs, 2 * uploadUs.value / 1000)
            return receiving.values.count { nowMs - $0 <= patienceMs }
        }
    }
}
