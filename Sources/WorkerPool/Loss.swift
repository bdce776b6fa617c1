import Posix

/// Why a worker cannot go on with its job, nor with any other.
enum Loss: Error, Equatable {
    /// It ended; nil where it closed its socket but lives on.
    case exited(Child.Exit?)
    /// The wall-clock deadline passed.
    case timedOut
    /// The pool is being stopped, and the time of grace is over.
    case stopped
    /// Its client has gone, and the job had long to go.
    case abandoned
    /// It leaves its messages unread.
    case unreachable(PosixError)
    /// Its system calls are not filtered, as this kernel cannot, and the configuration does not allow that.
    case unfiltered
    /// It tried a system call that it may not make; the call's number on this architecture, nil where it could not
    /// tell.
    case trapped(call: Int?)
    /// It sent something before it was given a job, or a second reply.
    case spokeUnasked
    /// Its reply is no reply, or not one that a worker may give.
    case replyMalformed
    /// It could not do its part, and says why.
    case gaveUp(String)
    /// It said done, and wrote nothing.
    case outputMissing
    case outputTooLarge(limit: Int)
    /// The output cannot be sealed: the worker could change it later.
    case outputHeld(PosixError)
}

extension Loss: CustomStringConvertible {
    var description: String {
        switch self {
        case .exited(.some(let exit)): "the worker ended with \(exit)"
        case .exited(nil): "the worker closed its socket"
        case .timedOut: "the worker was killed at the deadline"
        case .stopped: "the worker was killed at the end of the service"
        case .abandoned: "the worker was killed since nobody waits for its job"
        case .unreachable(let error): "the worker takes no job: \(error)"
        case .unfiltered: "the worker is not sandboxed: the kernel has no seccomp"
        case .trapped(let call): "the worker tried a forbidden system call" + (call.map { ": \($0)" } ?? "")
        case .spokeUnasked: "the worker spoke before it was given a job"
        case .replyMalformed: "the worker's reply was malformed"
        case .gaveUp(let reason): "the worker gave up: \(reason)"
        case .outputMissing: "the worker wrote no output"
        case .outputTooLarge(let limit): "the worker wrote more than \(limit) bytes"
        case .outputHeld(let error): "the worker's output could not be sealed: \(error)"
        }
    }
}
