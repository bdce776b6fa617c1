package import Posix

/// What happens to the workers, for the log. Holds nothing of any picture.
package enum Event: Sendable, Equatable {
    /// A worker has said hello.
    case started(pid: Int32)
    /// A worker could not be started, or did not come to its hello; the next one is tried after a pause.
    case startFailed(reason: String, retryInMs: Int)
    /// A worker ended, by itself or by somebody else; `duringJob`: it took a job with it. The exit is nil where it had
    /// only closed its socket and was killed for it.
    case crashed(pid: Int32, Child.Exit?, duringJob: Bool)
    /// A worker tried a system call that its sandbox forbids, by its number on this architecture where that is known, and
    /// ended by it. Either it was taken over by a picture, or honest work needs the call: neither must be.
    case trapped(pid: Int32, call: Int?, duringJob: Bool)
    /// A worker had not answered at its job's deadline and was killed.
    case killedAtDeadline(pid: Int32)
    /// A worker was still at its job when the time of grace of `stop` was over.
    case killedAtStop(pid: Int32)
    /// A worker was at a long job whose client had gone, and was killed.
    case killedAsAbandoned(pid: Int32)
    /// A worker broke the protocol and was killed.
    case misbehaved(pid: Int32, how: String)
    /// A worker was replaced after enough jobs or with too much memory in its hands.
    case recycled(pid: Int32, jobs: Int, residentBytes: Int?)
}
