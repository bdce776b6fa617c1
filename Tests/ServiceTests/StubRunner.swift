import Core
import Posix
import Service
import Synchronization

@testable import WorkerPool

/// Stands in for the pool of workers: answers at once with what it was told to.
final class StubRunner: JobRunner {
    enum Behaviour: Sendable {
        case succeed(Report, SealedFile)
        /// As a worker that refuses the picture.
        case fail(Failure)
        /// As a pool that takes no job.
        case refuse(Failure)
        /// As a worker that does not come to its end.
        case hold
    }

    private struct State {
        var behaviour: Behaviour
        var isReady = true
        var load = WorkerPool.Load(workers: 1, running: 0, waiting: 0)
        var cancelled: [WorkerPool.Ticket] = []
        var jobs: [Job] = []
    }

    private let state: Mutex<State>

    init(_ behaviour: Behaviour) { state = Mutex(State(behaviour: behaviour)) }

    /// The jobs so far.
    var jobs: [Job] { state.withLock { $0.jobs } }

    var isReady: Bool { state.withLock { $0.isReady } }

    var load: WorkerPool.Load { state.withLock { $0.load } }

    func carry(_ load: WorkerPool.Load) { state.withLock { $0.load = load } }

    /// The jobs that were given up.
    var cancelled: [WorkerPool.Ticket] { state.withLock { $0.cancelled } }

    func cancel(_ ticket: WorkerPool.Ticket) { state.withLock { $0.cancelled.append(ticket) } }

    func behave(_ behaviour: Behaviour) { state.withLock { $0.behaviour = behaviour } }

    func becomeUnready() { state.withLock { $0.isReady = false } }

    func submit(
        _ job: Job, input: SealedFile, expectedMs: Int,
        completion: @escaping @Sendable (WorkerPool.Outcome) -> Void
    ) throws(Failure) -> WorkerPool.Ticket {
        let (behaviour, number) = state.withLock { state in
            state.jobs.append(job)
            return (state.behaviour, state.jobs.count)
        }
        switch behaviour {
        case .succeed(let report, let jpeg):
            completion(.success(WorkerPool.Output(report: report, jpeg: jpeg)))
        case .fail(let failure): completion(.failure(failure))
        case .refuse(let failure): throw failure
        case .hold: break
        }
        return WorkerPool.Ticket(id: number)
    }
}
