import Core
import Glibc
import Posix
import Synchronization
import WorkerPool

/// `safelight convert`: one photo, through the same worker and the same checks as an upload.
enum Convert {
    struct Request: Equatable {
        var input: String
        var output: String
        var options: Options
        var worker: String?
        /// Where the kernel has no seccomp.
        var allowsUnsandboxed = false
    }

    static func run(_ arguments: [String], environment: [String: String]) -> Int32 {
        if arguments.contains("--help") {
            Console.print(Help.text(for: "convert"))
            return ExitCode.ok
        }
        // A parent that ignores it would have ours lose sight of the worker's end.
        signal(SIGCHLD, SIG_DFL)
        Signals.outliveFileSizeLimit()
        let request: Request
        do {
            request = try parse(arguments, environment: environment)
            try OutputFile.check(request.output, against: request.input)
        } catch {
            Console.complain(error.sentence)
            return ExitCode.usage
        }
        do {
            let prepared = try prepare(request)
            try OutputFile.write(prepared.jpeg, to: request.output)
            for warning in prepared.report.warnings {
                Console.complain("\(request.input): warning: \(warning.rawValue)")
            }
            return ExitCode.ok
        } catch let failure as Failure {
            Console.complain("\(request.input): \(failure.code.rawValue): \(failure.detail)")
        } catch {
            Console.complain("\(request.input): \(error)")
        }
        return ExitCode.failed
    }

    /// Why a command line makes no sense.
    struct Misuse: Error, Equatable {
        let sentence: String
    }

    static func parse(_ arguments: [String], environment: [String: String]) throws(Misuse) -> Request {
        var inputs: [String] = []
        var output: String?
        var worker = environment["SAFELIGHT_WORKER"] ?? ""
        var allowsUnsandboxed = environment["SAFELIGHT_ALLOW_UNSANDBOXED"] == "true"
        var pairs: [(name: String, value: String)] = []
        var words = Flags(arguments)
        while let word = words.next() {
            switch word {
            case .operand(let text): inputs.append(text)
            case .letter("o"), .flag("output", _):
                guard output == nil else { throw Misuse(sentence: "-o is given more than once") }
                output = try value(of: word, &words)
            case .flag("allow-unsandboxed", nil): allowsUnsandboxed = true
            case .flag("worker", _): worker = try value(of: word, &words)
            case .flag(let name, _):
                guard let option = OptionDescriptor.all.first(where: { $0.flag == name }) else { fallthrough }
                pairs.append((option.name, try value(of: word, &words)))
            case .letter:
                let known = (["output", "worker", "allow-unsandboxed"] + OptionDescriptor.all.map(\.flag)).map {
                    "--" + $0
                }
                throw Misuse(
                    sentence: "unknown flag '\(word.text.clipped)'; known are: -o, \(known.joined(separator: ", "))")
            }
        }
        guard inputs.count == 1, let output else {
            throw Misuse(sentence: "give one input and one output: safelight convert FILE|- -o FILE|-")
        }
        do {
            return Request(
                input: inputs[0], output: output, options: try Options(parsing: pairs),
                worker: ["", "auto"].contains(worker) ? nil : worker, allowsUnsandboxed: allowsUnsandboxed)
        } catch {
            throw Misuse(sentence: error.detail)
        }
    }

    private static func value(of word: Flags.Word, _ words: inout Flags) throws(Misuse) -> String {
        if case .flag(_, let value?) = word { return value }
        guard let value = words.takeValue() else { throw Misuse(sentence: "\(word.text) needs a value") }
        return value
    }

    private static func prepare(_ request: Request) throws -> Prepared {
        if try !WorkerProgram.checkSandbox(allowsUnsandboxed: request.allowsUnsandboxed) {
            Console.complain("warning: the worker runs without its sandbox: the kernel has no seccomp")
        }
        let limits = Limits()
        let input = try read(request.input, bytesMax: limits.bodyBytesMax)
        let outcome = Mutex<Result<Prepared, Failure>?>(nil)
        let done = try EventCounter.make()
        @Sendable func end(with result: Result<Prepared, Failure>) {
            outcome.withLock { $0 = $0 ?? result }
            done.signal()
        }
        var configuration = WorkerPool.Configuration(workerPath: try WorkerProgram.path(request.worker), workers: 1)
        configuration.allowsUnsandboxed = request.allowsUnsandboxed
        configuration.log = { event in
            // A service tries again until it is mended; here somebody waits.
            guard case .startFailed(let reason, _) = event else { return }
            end(with: .failure(Failure(.internalError, "the worker does not start: \(reason)")))
        }
        let pool = try WorkerPool.start(configuration)
        defer { pool.stop(graceMs: 0) }
        let threads = try WorkThreads.start(name: "house", threadCount: 1, queueLengthMax: 1)
        defer { threads.stop() }
        Preparer(runner: pool, limits: limits, threads: threads)
            .prepare(input, options: request.options, completion: end)
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
