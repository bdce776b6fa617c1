import CSeccomp
import Glibc
import Posix

/// Owns one seccomp filter while it is put together (libseccomp). Once loaded, the kernel has a copy that stays.
struct Filter: ~Copyable {
    private let raw: scmp_filter_ctx

    /// A filter that stops every call: SIGSYS instead of it. Of another architecture's calls (32-bit, x32) the whole
    /// process is killed at once, since their numbers mean nothing here.
    init() throws(PosixError) {
        guard let raw = seccomp_init(SCMP_ACT_TRAP) else { throw PosixError(call: "seccomp_init", errno: ENOMEM) }
        self.raw = raw
    }

    deinit { seccomp_release(raw) }

    borrowing func killOtherArchitectures() throws(PosixError) {
        try check("badarch", seccomp_attr_set(raw, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS))
    }

    borrowing func allow(_ call: SystemCall) throws(PosixError) { try add(SCMP_ACT_ALLOW, call) }

    borrowing func refuse(_ call: SystemCall, with error: Int32) throws(PosixError) {
        try add(cseccomp_fail_with(UInt16(error)), call)
    }

    /// From now on it holds for every thread of the process, with `no_new_privs`.
    borrowing func load() throws(PosixError) {
        try check("tsync", seccomp_attr_set(raw, SCMP_FLTATR_CTL_TSYNC, 1))
        try check("seccomp_load", seccomp_load(raw))
    }

    private borrowing func add(_ action: UInt32, _ call: SystemCall) throws(PosixError) {
        let number = seccomp_syscall_resolve_name(call.name)
        // A call that only other architectures have is no error, and gets no rule.
        guard number != __NR_SCMP_ERROR else { throw PosixError(call: "seccomp: \(call.name)", errno: ENOSYS) }
        let arguments = call.rules.map {
            scmp_arg_cmp(arg: $0.index, op: SCMP_CMP_MASKED_EQ, datum_a: $0.mask, datum_b: $0.value)
        }
        try check(
            "seccomp: \(call.name)", seccomp_rule_add_array(raw, action, number, UInt32(arguments.count), arguments))
    }

    /// libseccomp returns its errors instead of setting errno.
    private borrowing func check(_ call: String, _ code: Int32) throws(PosixError) {
        if code != 0 { throw PosixError(call: call, errno: -code) }
    }
}
