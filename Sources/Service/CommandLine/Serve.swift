import Core
import Glibc
import HTTP
import Posix
import Storage
import WorkerPool

/// `safelight serve`: from the settings to the exit code.
enum Serve {
    /// What one process runs, in the order in which it is stopped.
    private struct Parts {
        let server: Server
        let pool: WorkerPool
        let threads: WorkThreads
        let stores: [StoreCalls]
    }

    static func run(_ arguments: [String], environment: [String: String]) -> Int32 {
        // First of all: threads made before it would take the signals that this one waits for.
        Signals.prepare()
        let settings: Settings
        do { settings = try Settings(arguments: arguments, environment: environment) } catch {
            for sentence in error.sentences { Console.complain(sentence) }
            return ExitCode.usage
        }
        let log = Log.standardError
        do {
            let parts = try start(settings, log)
            log(
                .info, "listening",
                [
                    "http.host": .text(settings.listen.host), "http.port": .number(Int(parts.server.port)),
                    "version": .text(Version.text),
                ])
            let signal = Signals.waitForStop()
            let names = [SIGTERM: "SIGTERM", SIGINT: "SIGINT", SIGHUP: "SIGHUP"]
            log(.info, "stopping", ["signal": .text(names[signal] ?? "\(signal)")])
            return stop(parts, settings, log)
        } catch {
            log(.error, "cannot start", ["error.diagnosis": .text("\(error)")])
            return ExitCode.failed
        }
    }

    private static func start(_ settings: Settings, _ log: Log) throws -> Parts {
        let isSandboxed = try WorkerProgram.checkSandbox(allowsUnsandboxed: settings.allowsUnsandboxed)
        if !isSandboxed { log(.warning, "workers run without their sandbox: the kernel has no seccomp") }
        let store = try Trouble.telling("cannot open the store \(settings.store)") {
            try FileStore.opening(settings.store)
        }
        // No reason not to start: it may be mended, and /v1/convert needs no store.
        do { try store.probe() } catch {
            log(.warning, "the store cannot be written to", ["error.diagnosis": .text("\(settings.store): \(error)")])
        }
        let workerPath = try WorkerProgram.path(settings.worker)
        var configuration =
            settings.workers.map { WorkerPool.Configuration(workerPath: workerPath, workers: $0) }
            ?? WorkerPool.Configuration(workerPath: workerPath)
        configuration.allowsUnsandboxed = settings.allowsUnsandboxed
        let queueLengthMax = settings.queueLengthMax ?? configuration.queueLengthMax
        // Bodies that were let in while there was room find a place, even if they come all at once.
        configuration.queueLengthMax = 2 * queueLengthMax
        configuration.waitMs = settings.waitMs
        configuration.log = { log.worker($0) }
        let pool = try Trouble.telling("cannot start a worker") { try WorkerPool.start(configuration) }
        // As many as can come out of the pool.
        let most = configuration.workers + configuration.queueLengthMax
        let threads = try WorkThreads.start(name: "house", threadCount: 2, queueLengthMax: most)
        let puts = try StoreCalls.start(
            name: "put", threadCount: 8, queueLengthMax: most, deadlineMs: settings.storeMs, log: log)
        let calls = try StoreCalls.start(
            name: "store", threadCount: 4, queueLengthMax: 256, deadlineMs: settings.storeMs, log: log)
        let service = ImageService(
            runner: pool, store: store, threads: threads, puts: puts, calls: calls,
            queueLengthMax: queueLengthMax, limits: settings.limits, log: log)
        var http = HTTP.Configuration(listen: settings.listen)
        http.bodyMs = settings.bodyMs
        http.bodiesBytesMax = settings.bodiesBytesMax ?? max(http.bodiesBytesMax, settings.limits.bodyBytesMax)
        let server = try Trouble.telling("cannot listen on \(settings.listen)") {
            try Server.starting(http, handler: service)
        }
        return Parts(server: server, pool: pool, threads: threads, stores: [puts, calls])
    }

    /// Takes no more, lets what runs come to its end, and tells by the exit code whether it did.
    private static func stop(_ parts: Parts, _ settings: Settings, _ log: Log) -> Int32 {
        var isClean = parts.server.stop(graceMs: settings.graceMs)
        parts.pool.stop(graceMs: 0)
        parts.threads.stop()
        // What hangs in a store for longer is left there: the process ends without it.
        for store in parts.stores { isClean = store.stop(graceMs: min(settings.storeMs, 1000)) && isClean }
        log(.info, "stopped", ["clean": .flag(isClean)])
        return isClean ? ExitCode.ok : ExitCode.failed
    }
}
