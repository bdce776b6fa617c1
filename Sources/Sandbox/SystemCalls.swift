import CLinux
import Glibc

/// A condition on one argument of a system call: of the bits in `mask`, it has `value`.
///
/// Arguments that are pointers cannot be looked behind. Those that are int in C count in their lower half alone.
struct ArgumentRule {
    let index: UInt32
    let mask: UInt64
    let value: UInt64

    private init(_ index: UInt32, mask: UInt64, _ value: some BinaryInteger) {
        self.index = index
        self.mask = mask
        self.value = UInt64(truncatingIfNeeded: value) & mask
    }

    static func int(_ index: UInt32, is value: Int32) -> ArgumentRule {
        ArgumentRule(index, mask: 0xFFFF_FFFF, value)
    }

    static func long(_ index: UInt32, is value: UInt64) -> ArgumentRule {
        ArgumentRule(index, mask: .max, value)
    }

    static func without(_ bits: Int32, _ index: UInt32) -> ArgumentRule {
        ArgumentRule(index, mask: UInt64(bits), 0)
    }

    /// `operation` of futex(2), with or without its flags FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME.
    static func futex(_ operation: Int32) -> ArgumentRule {
        ArgumentRule(1, mask: 0xFFFF_FFFF & ~0x180, operation)
    }
}

/// One row of the worker's allow-list, and what it stands there for.
struct SystemCall {
    let name: String
    /// All must hold. Several rows of one call: one of them.
    let rules: [ArgumentRule]

    init(_ name: String, _ rules: ArgumentRule...) {
        self.name = name
        self.rules = rules
    }
}

extension SystemCall {
    /// What a worker may do once it is warm; whatever is not here ends it.
    ///
    /// Found by `strace -f` over the corpus of real and hostile photos with every option, on Debian 12 (glibc 2.36) and
    /// 13 (2.41), and by reading what glibc calls where a photo did not lead.
    ///
    /// - Parameters:
    ///   - socket: the descriptor of the line to the front.
    ///   - process: this process.
    static func allowed(socket: Int32, process: Int32) -> [SystemCall] {
        // The line to the front, and no other socket: a worker whose memory is somebody else's still cannot talk to
        // one.
        [
            SystemCall("recvmsg", .int(0, is: socket)),
            SystemCall("sendmsg", .int(0, is: socket)),
        ]
            // The input, sealed: its size and its seals are asked, and it is mapped; read(2) is not needed.
            + [
                SystemCall("fstat"),
                SystemCall("fcntl", .int(1, is: clinux_get_seals())),
            ]
            // The output, and nothing else that is worth a write: 0 to 2 are /dev/null.
            + [
                SystemCall("write"),
                SystemCall("writev"),
                SystemCall("lseek"),
                SystemCall("ftruncate"),
                SystemCall("close"),
            ]
            // Memory, but none that can be run: what a decoder is made to write stays data.
            + [
                SystemCall("brk"),
                // Of a file, or of the process's own: what is neither counts in no limit.
                SystemCall("mmap", .without(PROT_EXEC, 2), .without(MAP_ANONYMOUS, 3)),
                SystemCall("mmap", .without(PROT_EXEC, 2), .without(MAP_SHARED, 3)),
                SystemCall("mprotect", .without(PROT_EXEC, 2)),
                SystemCall("mremap"),
                SystemCall("munmap"),
            ]
            // Hints that give memory back, or guard the stacks of threads (102, 103: glibc 2.42). Root could harm the
            // machine with others.
            + [MADV_DONTNEED, MADV_FREE, 102, 103].map { SystemCall("madvise", .int(2, is: $0)) }
            // Threads, without which libde265 waits for ever: exactly as glibc makes them, so that no process and no
            // namespace can come of it.
            + [
                SystemCall("clone", .long(0, is: clinux_thread_flags())),
                SystemCall("set_robust_list"),
                SystemCall("rseq"),
                SystemCall("rt_sigprocmask"),
                SystemCall("prctl", .int(0, is: clinux_set_name())),
                SystemCall("sched_getaffinity"),
                SystemCall("sched_yield"),
            ]
            // Threads wait for each other: FUTEX_WAIT, WAKE, LOCK_PI, UNLOCK_PI, TRYLOCK_PI (Swift's Mutex),
            // WAIT_BITSET, WAKE_BITSET. Requeueing has a history of holes in the kernel, and glibc stopped using it.
            + [0, 1, 6, 7, 8, 9, 10].map { SystemCall("futex", .futex($0)) }
            // The time, where the kernel's page for it (vDSO) does not tell it, and chance for hash tables.
            + [
                SystemCall("clock_gettime"),
                SystemCall("gettimeofday"),
                SystemCall("time"),
                SystemCall("getrandom"),
            ]
            // What `MemoryLimit` sets for each job; qsort of glibc 2.36 asks how much memory there is.
            + [
                SystemCall("prlimit64", .int(0, is: 0), .int(1, is: Int32(RLIMIT_DATA.rawValue))),
                SystemCall("sysinfo"),
            ]
            // Going on after SIGSTOP and SIGCONT, and the end: by exit, or by abort(3), which signals its own thread.
            + [
                SystemCall("restart_syscall"),
                SystemCall("exit"),
                SystemCall("exit_group"),
                SystemCall("getpid"),
                SystemCall("gettid"),
                SystemCall("tgkill", .int(0, is: process), .int(2, is: SIGABRT)),
            ]
    }

    /// What libraries ask for and live well without: it is not done, they are told that it cannot be had, and no worker
    /// is lost over it.
    static let refused: [(call: SystemCall, error: Int32)] = [
        // Its flags stand in memory, where no filter can look. glibc then makes its thread by clone.
        (SystemCall("clone3"), ENOSYS),
        // stdio asks whether it writes to a terminal.
        (SystemCall("ioctl"), ENOTTY),
        // stdio of glibc before 2.39 asks for the status of an open file so; it could be asked of any path.
        (SystemCall("newfstatat"), ENOSYS),
    ]
}
