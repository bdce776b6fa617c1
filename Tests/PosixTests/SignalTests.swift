import Glibc
import Posix
import Testing

@Suite struct SignalTests {
    /// The signal waits where it would have ended the process, and writing to nobody, or too much, is an error and no
    /// death.
    @Test func holdsBackWhatWouldEndTheProcess() async {
        await #expect(processExitsWith: .exitCode(42)) {
            signal(SIGCHLD, SIG_IGN)
            Signals.prepare()
            raise(SIGTERM)
            #expect(Signals.waitForStop() == SIGTERM)
            raise(SIGINT)
            #expect(Signals.waitForStop() == SIGINT)
            raise(SIGHUP)
            #expect(Signals.waitForStop() == SIGHUP)

            var pipe: [Int32] = [-1, -1]
            #expect(Glibc.pipe(&pipe) == 0)
            close(pipe[0])
            #expect(write(pipe[1], "x", 1) == -1 && errno == EPIPE)

            var limit = rlimit(rlim_cur: 4, rlim_max: 4)
            #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
            #expect(throws: PosixError(call: "write", errno: EFBIG)) {
                try MemoryFile(name: "test").descriptor.writeAll([1, 2, 3, 4, 5])
            }

            let pair = try SocketPair.make()
            #expect(try Child.spawn("/bin/true", socket: pair.far).end(graceMs: 5000) == .code(0))
            exit(42)
        }
    }

    /// As nohup starts it.
    @Test func outlivesTheTerminalWhereItIsTold() async {
        await #expect(processExitsWith: .exitCode(42)) {
            signal(SIGHUP, SIG_IGN)
            Signals.prepare()
            raise(SIGHUP)
            raise(SIGTERM)
            #expect(Signals.waitForStop() == SIGTERM)
            exit(42)
        }
    }
}
