import Glibc
import Posix
import Testing

@Suite struct StreamTests {
    /// In a process of its own, which closes what it was started with.
    @Test func missingStreamsAreFilled() async {
        await #expect(processExitsWith: .exitCode(42)) {
            close(STDIN_FILENO)
            close(STDERR_FILENO)
            StandardStreams.prepare()
            for number in [STDIN_FILENO, STDERR_FILENO] {
                var target = [CChar](repeating: 0, count: 64)
                #expect(readlink("/proc/self/fd/\(number)", &target, 63) == 9 && strcmp(target, "/dev/null") == 0)
                #expect(throws: PosixError(call: "standard input or output", errno: EBADF)) {
                    _ = try StandardStreams.duplicate(number)
                }
            }
            let output = try StandardStreams.duplicate(STDOUT_FILENO)
            #expect(output.raw > STDERR_FILENO)
            exit(42)
        }
    }
}
