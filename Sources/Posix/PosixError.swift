import Glibc

/// A system call that failed: which, and why.
package struct PosixError: Error, Equatable, Sendable {
    package let call: String
    package let errno: Int32

    package init(call: String, errno: Int32) {
        self.call = call
        self.errno = errno
    }
}

extension PosixError: CustomStringConvertible {
    package var description: String { "\(call): \(String(cString: strerror(errno)))" }
}

/// Runs a system call, again when a signal interrupts it.
///
/// EBADF and EFAULT are faults of ours, never of a peer: they trap.
@discardableResult
package func syscall<Value: SignedInteger>(_ call: String, _ body: () -> Value) throws(PosixError) -> Value {
    while true {
        let value = body()
        if value != -1 { return value }
        let code = errno
        precondition(code != EBADF && code != EFAULT, "\(call) was given a dead descriptor or pointer")
        if code != EINTR { throw PosixError(call: call, errno: code) }
    }
}
