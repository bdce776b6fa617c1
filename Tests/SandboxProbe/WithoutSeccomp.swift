import CSeccomp
import Glibc

/// Runs a program as if the kernel had no seccomp: to it and its children the system call does not exist.
func runWithoutSeccomp(_ command: [String]) -> Int32 {
    guard let filter = seccomp_init(SCMP_ACT_ALLOW) else { return 4 }
    let call = seccomp_syscall_resolve_name("seccomp")
    guard seccomp_rule_add_array(filter, cseccomp_fail_with(UInt16(ENOSYS)), call, 0, nil) == 0,
        seccomp_load(filter) == 0
    else { return 4 }
    var words: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
    execv(command[0], &words)
    return 4
}
