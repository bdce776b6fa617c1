import CLinux
import Glibc

/// Owns one child process; kills and reaps it at the end of its life, so that no zombie can stay.
///
/// Nothing but this value may wait for the process: its number stays its own until then.
package struct Child: ~Copyable, Sendable {
    /// How a process ended.
    package enum Exit: Sendable, Equatable {
        case code(Int32)
        case signal(Int32)
    }

    /// The process's number, its own until it is reaped.
    package let pid: Int32
    /// Polls as readable once the process has ended.
    package let ending: Descriptor
    private var exit: Exit?

    private init(pid: pid_t, ending: consuming Descriptor) {
        self.pid = pid
        self.ending = ending
    }

    deinit { if exit == nil { _ = Self.killAndReap(pid) } }

    /// Starts `path` with nothing of this process but `socket` as descriptor 3 and an open standard error.
    ///
    /// Standard input and output are /dev/null, all other descriptors are closed, the environment is empty but for
    /// Swift's backtraces being off (they take seconds and print pages), no signal is blocked or ignored, and the
    /// session is its own: a Ctrl-C at the front's terminal does not reach it, and it cannot reach the terminal.
    ///
    /// A child that calls `Signals.dieWithParent` dies when the calling *thread* ends.
    package static func spawn(_ path: String, socket: borrowing Socket) throws(PosixError) -> Child {
        // Out of the way of the numbers that the child's own are put at.
        let socketNumber = socket.descriptor.raw
        let socketCopy = Descriptor(
            adopting: try syscall("fcntl") { fcntl(socketNumber, F_DUPFD_CLOEXEC, 4) })

        var actions = posix_spawn_file_actions_t()
        try check("posix_spawn_file_actions_init", posix_spawn_file_actions_init(&actions))
        defer { posix_spawn_file_actions_destroy(&actions) }
        try setDescriptors(socket: socketCopy.raw, &actions)

        var attributes = posix_spawnattr_t()
        try check("posix_spawnattr_init", posix_spawnattr_init(&attributes))
        defer { posix_spawnattr_destroy(&attributes) }
        try setSignalsAndSession(&attributes)

        var pid: pid_t = 0
        let code = path.withCString { path in
            "SWIFT_BACKTRACE=enable=no".withCString { backtrace in
                let arguments = [UnsafeMutablePointer(mutating: path), nil]
                let environment = [UnsafeMutablePointer(mutating: backtrace), nil]
                return posix_spawn(&pid, path, &actions, &attributes, arguments, environment)
            }
        }
        try check("posix_spawn \(path)", code)
        do {
            let pid = pid
            let ending = try syscall("pidfd_open") { clinux_pidfd_open(pid) }
            return Child(pid: pid, ending: Descriptor(adopting: ending))
        } catch {
            _ = killAndReap(pid)
            throw error
        }
    }

    /// Sends a signal; without effect once the process was seen to have ended.
    package borrowing func kill(_ signal: Int32) {
        if exit == nil { Glibc.kill(pid, signal) }
    }

    /// Waits until the process has ended; nil where it has not at the moment `untilMs` of `Clock.monotonicMs`.
    package mutating func wait(untilMs: Int) -> Exit? {
        if exit == nil, waitReadable([ending.raw], untilMs: untilMs)[0] { exit = Self.killAndReap(pid) }
        return exit
    }

    /// Lets the process end within `graceMs`, then kills it; returns once it is reaped.
    @discardableResult
    package consuming func end(graceMs: Int = 0) -> Exit {
        if let exit = wait(untilMs: Clock.monotonicMs() + graceMs) { return exit }
        let exit = Self.killAndReap(pid)
        self.exit = exit
        return exit
    }

    /// The memory that the process holds, in bytes; nil where the system does not say.
    package borrowing func residentBytes() -> Int? {
        guard let file = try? Descriptor.open("/proc/\(pid)/statm", O_RDONLY) else { return nil }
        let text = withUnsafeTemporaryAllocation(byteCount: 128, alignment: 1) { buffer in
            let count = (try? file.read(into: buffer)) ?? 0
            return String(decoding: buffer[..<count], as: UTF8.self)
        }
        // proc(5): size resident shared text lib data dt, in pages.
        let fields = text.split(separator: " ")
        guard fields.count > 1, let pages = Int(fields[1]) else { return nil }
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }

    /// Makes the process the one to go when memory runs out, where the system allows it.
    package borrowing func offerToOutOfMemoryKiller() {
        guard let file = try? Descriptor.open("/proc/\(pid)/oom_score_adj", O_WRONLY) else { return }
        try? file.writeAll(Array("800".utf8))
    }

    /// Ends the process and all of its session's group that it may have started, and takes its status.
    private static func killAndReap(_ pid: pid_t) -> Exit {
        Glibc.kill(-pid, SIGKILL)
        Glibc.kill(pid, SIGKILL)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) != pid {
            precondition(errno == EINTR, "a child was reaped by somebody else")
        }
        return clinux_exited(status) != 0 ? .code(clinux_exit_code(status)) : .signal(clinux_term_signal(status))
    }

    private static func setDescriptors(
        socket: Int32, _ actions: inout posix_spawn_file_actions_t
    ) throws(PosixError) {
        try open("/dev/null", O_RDONLY, as: 0, &actions)
        try open("/dev/null", O_WRONLY, as: 1, &actions)
        if fcntl(STDERR_FILENO, F_GETFD) == -1 { try open("/dev/null", O_WRONLY, as: 2, &actions) }
        try check("adddup2", posix_spawn_file_actions_adddup2(&actions, socket, 3))
        try check("addclosefrom", clinux_spawn_closefrom(&actions, 4))
    }

    private static func setSignalsAndSession(_ attributes: inout posix_spawnattr_t) throws(PosixError) {
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        let flags = Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF) | clinux_spawn_setsid()
        try check("setsigmask", posix_spawnattr_setsigmask(&attributes, &none))
        try check("setsigdefault", posix_spawnattr_setsigdefault(&attributes, &all))
        try check("setflags", posix_spawnattr_setflags(&attributes, Int16(flags)))
    }

    private static func open(
        _ path: String, _ flags: Int32, as number: Int32, _ actions: inout posix_spawn_file_actions_t
    ) throws(PosixError) {
        try check("addopen", posix_spawn_file_actions_addopen(&actions, number, path, flags, 0))
    }

    /// The posix_spawn family returns its error instead of setting errno.
    private static func check(_ call: String, _ code: Int32) throws(PosixError) {
        if code != 0 { throw PosixError(call: call, errno: code) }
    }
}

extension Child.Exit: CustomStringConvertible {
    package var description: String {
        switch self {
        case .code(let code): "exit code \(code)"
        case .signal(let signal): "signal \(signal) (\(String(cString: strsignal(signal))))"
        }
    }
}
