import CLinux

/// seccomp, as far as the kernel has it.
package enum SystemCallFilters {
    /// Whether a process here can give up system calls (CONFIG_SECCOMP_FILTER, Linux 4.14 or later, and nobody above us
    /// who forbids it).
    package static var areSupported: Bool { clinux_can_trap_calls() != 0 }
}
