import CLinux
import Glibc
package import Posix

/// Takes from a process everything that decoding needs no more.
package enum Sandbox {
    /// Gives up, for good and for all threads: files, sockets, programs, processes, signals, privileges, devices. What is
    /// left is `SystemCall.allowed`, the descriptors 0 to 2, which are /dev/null, and `socket`.
    ///
    /// Before, everything must be warm that opens a file at its first use; see `MemoryLimit.limitHeaps` for glibc's own.
    ///
    /// A call that is not allowed is not done. It ends the process by SIGSYS, after a message on `socket`: `mark`, and the
    /// call's number in four bytes. That it is a signal (SECCOMP_RET_TRAP) and not a kill by the kernel costs nothing, as
    /// no call is left that could change its handler, and tells the front what happened.
    ///
    /// - Parameter fileBytesMax: how long it may make a file. Pages of the output count for no process, so those who end
    ///   processes when memory runs out would not find whose they are.
    /// - Returns: whether calls are filtered: false where the kernel cannot (no seccomp); the rest is done all the same.
    /// - Throws: where any of it fails. The process must not go on then.
    package static func enter(socket: borrowing Socket, mark: UInt8, fileBytesMax: Int) throws(PosixError) -> Bool {
        let line = socket.descriptor.raw
        try syscall("close_range") { clinux_close_from(line + 1) }
        try limit(fileBytesMax: fileBytesMax)
        // Before the filter, which needs it. What is executed could bring no privileges back.
        try syscall("prctl(PR_SET_NO_NEW_PRIVS)") { clinux_forgo_privileges() }
        try syscall("capset") { clinux_drop_capabilities() }
        // Nobody of the same user can look into it or write to its memory.
        try syscall("prctl(PR_SET_DUMPABLE)") { clinux_hide_memory() }
        // No earlier: whoever starts a service is to read why its workers cannot be sandboxed.
        try silence()
        guard SystemCallFilters.areSupported else { return false }
        try syscall("sigaction(SIGSYS)") { clinux_tell_trapped_calls(line, mark) }
        try filter(line)
        return true
    }

    /// From here on libraries see foreign bytes, and what they print may be made of them: it must not come to the log.
    private static func silence() throws(PosixError) {
        let nowhere = try Descriptor.open("/dev/null", O_RDWR)
        for number in STDIN_FILENO...STDERR_FILENO { try syscall("dup2") { dup2(nowhere.raw, number) } }
    }

    /// The number of processes stays unlimited: the kernel counts a user's, not ours (and refuses threads past it).
    private static func limit(fileBytesMax: Int) throws(PosixError) {
        let limits = [
            (RLIMIT_CORE, 0), (RLIMIT_NOFILE, descriptorsMax), (RLIMIT_FSIZE, rlim_t(fileBytesMax)),
        ]
        for (resource, value) in limits {
            let resource = __rlimit_resource_t(resource.rawValue)
            var limit = rlimit()
            try syscall("getrlimit") { getrlimit(resource, &limit) }
            // Never more than was inherited, which a plain user may not ask for.
            limit.rlim_max = min(value, limit.rlim_max)
            limit.rlim_cur = limit.rlim_max
            try syscall("setrlimit") { setrlimit(resource, &limit) }
        }
    }

    /// 0 to 2, the socket, a job's two, and some to spare.
    private static let descriptorsMax: rlim_t = 16

    private static func filter(_ socket: Int32) throws(PosixError) {
        let filter = try Filter()
        try filter.killOtherArchitectures()
        for call in SystemCall.allowed(socket: socket, process: getpid()) { try filter.allow(call) }
        for (call, error) in SystemCall.refused { try filter.refuse(call, with: error) }
        try filter.load()
    }
}
