import CLinux
import Glibc

/// The signals that a service and its workers live with.
package enum Signals {
    /// Holds back SIGTERM, SIGINT and SIGHUP for `waitForStop`, ignores SIGPIPE and SIGXFSZ, and makes sure that
    /// children can be waited for, whatever was inherited.
    ///
    /// To be called first of all: every later thread inherits what is held back.
    package static func prepare() {
        var stop = stopSignals
        pthread_sigmask(SIG_BLOCK, &stop, nil)
        signal(SIGPIPE, SIG_IGN)
        signal(SIGCHLD, SIG_DFL)
        outliveFileSizeLimit()
    }

    /// Has a write past RLIMIT_FSIZE, which holds for memory files too, fail with EFBIG instead of ending the process.
    package static func outliveFileSizeLimit() { signal(SIGXFSZ, SIG_IGN) }

    /// Waits for SIGTERM, SIGINT or SIGHUP; which one came.
    package static func waitForStop() -> Int32 {
        var stop = stopSignals
        var received: Int32 = 0
        while sigwait(&stop, &received) != 0 {}
        return received
    }

    /// Has the kernel kill this process when the *thread* that started it ends, even while it hangs.
    ///
    /// A parent that ended before this call is not noticed: the end of the socket to it tells.
    package static func dieWithParent() { clinux_set_parent_death_signal(SIGKILL) }

    private static var stopSignals: sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        sigaddset(&signals, SIGINT)
        // Whoever started this by nohup wants it to outlive the terminal.
        if clinux_is_ignored(SIGHUP) == 0 { sigaddset(&signals, SIGHUP) }
        return signals
    }
}
