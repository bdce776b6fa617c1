import Glibc
import Posix
import Testing

/// With programs of the system; the worker's own surroundings are looked at in `WorkerPoolTests`.
@Suite struct ChildTests {
    @Test func tellsTheExitCode() throws {
        var child = try spawn("/bin/false")
        #expect(child.wait(untilMs: Clock.monotonicMs() + 5000) == .code(1))
        #expect(child.wait(untilMs: 0) == .code(1))
        #expect(child.end() == .code(1))
    }

    /// `cat` without arguments would end at the end of /dev/null; `sleep` without arguments would complain and end.
    @Test func standardInputIsEmpty() throws {
        #expect(try spawn("/bin/cat").end(graceMs: 5000) == .code(0))
    }

    @Test func killsWhatDoesNotEnd() throws {
        var child = try spawn("/usr/bin/yes")
        #expect(child.wait(untilMs: Clock.monotonicMs() + 20) == nil)
        child.kill(SIGSTOP)
        #expect(child.end(graceMs: 20) == .signal(SIGKILL))
    }

    /// A blocked and an ignored signal would both be inherited, and the child could not be stopped.
    @Test func isBornWithoutBlockedOrIgnoredSignals() throws {
        var blocked = sigset_t()
        var before = sigset_t()
        sigemptyset(&blocked)
        sigaddset(&blocked, SIGTERM)
        pthread_sigmask(SIG_BLOCK, &blocked, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        var child = try spawn("/usr/bin/yes")
        let status = try text("/proc/\(child.pid)/status")
        #expect(status.contains("SigBlk:\t0000000000000000"))
        // glibc's posix_spawn ignores the two signals of its own (32 and 33).
        let ignored = try #require(status.firstMatch(of: /SigIgn:\t([0-9a-f]{16})/)?.output.1)
        #expect(UInt64(ignored, radix: 16).map { $0 & 0x7FFF_FFFF } == 0)
        child.kill(SIGTERM)
        #expect(child.wait(untilMs: Clock.monotonicMs() + 5000) == .signal(SIGTERM))
    }

    @Test func isKilledAndReapedAtTheEndOfItsLife() throws {
        let pid: Int32
        do {
            let child = try spawn("/usr/bin/yes")
            pid = child.pid
        }
        #expect(waitpid(pid, nil, WNOHANG) == -1 && errno == ECHILD)
    }

    @Test func tellsItsMemory() throws {
        let child = try spawn("/usr/bin/yes")
        let bytes = child.residentBytes() ?? 0
        #expect((4096..<100 << 20).contains(bytes) && bytes % 4096 == 0)
    }

    @Test func goesFirstWhenMemoryRunsOut() throws {
        let child = try spawn("/usr/bin/yes")
        child.offerToOutOfMemoryKiller()
        #expect(try text("/proc/\(child.pid)/oom_score_adj") == "800\n")
    }

    @Test func saysWhyItCannotBeStarted() throws {
        #expect(throws: PosixError(call: "posix_spawn /nowhere/program", errno: ENOENT)) {
            _ = try spawn("/nowhere/program")
        }
    }
}

private func spawn(_ path: String) throws -> Child {
    let pair = try SocketPair.make()
    return try Child.spawn(path, socket: pair.far)
}
