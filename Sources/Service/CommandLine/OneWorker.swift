import Core
import Glibc
import Posix
import Synchronization
import WorkerPool

/// A worker for one photo, through the same checks as an upload.
enum OneWorker {
    /// Reads the photo, starts a worker, and waits for what `start` has it do.
    ///
    /// - Parameter start: begins the work; must call its last argument once with the result.
    static func run<Answer: Sendable>(
        _ arguments: PhotoArguments,
        _ start: (
            Preparer, SealedFile, @escaping @Sendable (Result<Answer, Failure>) -> Void
        ) -> Void
    ) throws -> Answer {
        // A parent that ignores it would have ours lose sight of the worker's end.
        signal(SIGCHLD, SIG_DFL)
        Signals.outliveFileSizeLimit()
        let settings = arguments.settings
        if try !WorkerProgram.checkSandbox(allowsUnsandboxed: settings.allowsUnsandboxed) {
            Console.complain("warning: the worker runs without its sandbox: the kernel has no seccomp")
        }
        let limits = settings.limits
        let input = try read(arguments.input, bytesMax: limits.bodyBytesMax)
        let outcome = Mutex<Result<Answer, Failure>?>(nil)
        let done = try EventCounter.make()
        @Sendable func end(with result: Result<Answer, Failure>) {
            outcome.withLock { $0 = $0 ?? result }
            done.signal()
        }
        var configuration = WorkerPool.Configuration(workerPath: try WorkerProgram.path(settings.worker), workers: 1)
        configuration.allowsUnsandboxed = settings.allowsUnsandboxed
        configuration.log = { event in
            // A service tries again until it is mended; here somebody waits.
            guard case .startFailed(let reason, _) = event else { return }
            end(with: .failure(Failure(.internalError, "the worker does not start: \(reason)")))
        }
        let pool = try Trouble.telling("cannot start a worker") { try WorkerPool.start(configuration) }
        defer { pool.stop(graceMs: 0) }
        let threads = try WorkThreads.start(name: "house", threadCount: 1, queueLengthMax: 1)
        defer { threads.stop() }
        start(Preparer(runner: pool, limits: limits, threads: threads), input, end)
        done.wait()
        guard let result = outcome.withLock({ $0 }) else { preconditionFailure("signalled after it was set") }
        return try result.get()
    }

    private static func read(_ path: String, bytesMax: Int) throws -> SealedFile {
        let source = path == "-" ? try StandardStreams.duplicate(STDIN_FILENO) : try Descriptor.open(path, O_RDONLY)
        let file = try MemoryFile(name: "safelight-input")
        var buffer = [UInt8](repeating: 0, count: 256 * 1024)
        var total = 0
        while true {
            let got = try buffer.withUnsafeMutableBytes { try source.read(into: $0) }
            if got == 0 { break }
            total += got
            guard total <= bytesMax else {
                throw Failure(.bodyTooLarge, "the file has more than the \(bytesMax) bytes that are taken")
            }
            try buffer.withUnsafeBytes { try file.append(UnsafeRawBufferPointer(rebasing: $0.prefix(got))) }
        }
        return try file.seal()
    }
}
