import Glibc

/// The signals that a service lives with: two that end it, and one that it does not want.
package enum Signals {
    /// Holds back SIGTERM and SIGINT for `waitForStop`, ignores SIGPIPE, and makes sure that children can be waited
    /// for, whatever was inherited.
    ///
    /// To be called first of all: every later thread inherits what is held back.
    package static func prepare() {
        var stop = stopSignals
        pthread_sigmask(SIG_BLOCK, &stop, nil)
        signal(SIGPIPE, SIG_IGN)
        signal(SIGCHLD, SIG_DFL)
    }

    /// Waits for SIGTERM or SIGINT; which one came.
    package static func waitForStop() -> Int32 {
        var stop = stopSignals
        var received: Int32 = 0
        while sigwait(&stop, &received) != 0 {}
        return received
    }

    private static var stopSignals: sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        sigaddset(&signals, SIGINT)
        return signals
    }
}
