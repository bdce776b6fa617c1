import Container
package import Core
package import Posix
package import Storage
package import WorkerPool

/// Whoever turns pictures: the pool of workers, or a test's stand-in.
package protocol JobRunner: Sendable {
    /// Whether a job would start now.
    var isReady: Bool { get }

    var load: WorkerPool.Load { get }

    /// Queues a job. `completion` is called exactly once, on a thread of the runner's.
    ///
    /// - Throws: `busy` where the queue is full, and then `completion` is never called.
    func submit(
        _ job: Job, input: SealedFile, expectedMs: Int,
        completion: @escaping @Sendable (WorkerPool.Outcome) -> Void
    ) throws(Failure) -> WorkerPool.Ticket

    /// Gives up a job whose outcome nobody waits for.
    func cancel(_ ticket: WorkerPool.Ticket)
}

extension WorkerPool: JobRunner {}

/// A photo as it was sent.
package struct SentPhoto: Sendable {
    package let count: Int
    package let sha256: SHA256Digest

    init(_ input: SealedFile) {
        count = input.count
        sha256 = SHA256.digest(of: input)
    }
}

/// A picture that may be handed out: turned by a worker, and proved by this process to hold nothing private.
package struct Prepared: Sendable {
    package let report: Report
    package let jpeg: SealedFile
    package let sha256: SHA256Digest
    package let source: SentPhoto
    /// Microseconds of the wait for a worker.
    package let queueUs: Int
    /// Microseconds that workers took.
    package let workerUs: Int
}

/// What a worker told of a photo.
package struct Inspected: Sendable {
    package let report: Report
    package let source: SentPhoto
    /// As with `Prepared`.
    package let queueUs: Int
    package let workerUs: Int
}

/// The way of a picture from raw bytes to a proved JPEG, the same for the service and the command line:
/// sniff → worker → check → digests.
package struct Preparer: Sendable {
    private let runner: any JobRunner
    private let limits: Limits
    /// Where what follows the worker's part runs, so that a worker's thread is free for the next job at once.
    private let threads: WorkThreads
    private let forecast = Forecast()

    package init(runner: any JobRunner, limits: Limits, threads: WorkThreads) {
        self.runner = runner
        self.limits = limits
        self.threads = threads
    }

    /// Prepares `input`. `completion` is called exactly once: on the calling thread where the answer is known at once,
    /// else on one of `threads`.
    ///
    /// - Returns: what the worker's part is cancelled by; nil where it does not come to one.
    @discardableResult
    package func prepare(
        _ input: SealedFile, options: Options, completion: @escaping @Sendable (Result<Prepared, Failure>) -> Void
    ) -> WorkerPool.Ticket? {
        submit(.prepare, input, options, completion: completion) { output throws(Failure) in
            let report = try prove(output, policy: options.metadata)
            return Prepared(
                report: report, jpeg: output.jpeg, sha256: SHA256.digest(of: output.jpeg),
                source: SentPhoto(input), queueUs: output.queueUs, workerUs: output.workUs)
        }
    }

    /// Inspects `input`; `completion` and what is returned as with `prepare`.
    @discardableResult
    package func inspect(
        _ input: SealedFile, options: Options, completion: @escaping @Sendable (Result<Inspected, Failure>) -> Void
    ) -> WorkerPool.Ticket? {
        submit(.inspect, input, options, completion: completion) { output in
            Inspected(
                report: output.report.limited(by: options.metadata), source: SentPhoto(input),
                queueUs: output.queueUs, workerUs: output.workUs)
        }
    }

    /// - Parameter finish: makes the answer of what a worker made.
    private func submit<Answer>(
        _ kind: Job.Kind, _ input: SealedFile, _ options: Options,
        completion: @escaping @Sendable (Result<Answer, Failure>) -> Void,
        finish: @escaping @Sendable (WorkerPool.Output) throws(Failure) -> Answer
    ) -> WorkerPool.Ticket? {
        do {
            let format = try Preparer.sniff(input)
            // An inspection looks at no pixel.
            let expectedMs = kind == .inspect ? 1 : forecast.milliseconds(format, bytes: input.count)
            return try runner.submit(
                Job(kind, options: options, limits: limits), input: input, expectedMs: expectedMs
            ) { result in
                if kind == .prepare, case .success(let output) = result {
                    forecast.learn(format, bytes: input.count, tookUs: output.workUs)
                }
                let isTaken = threads.submit {
                    completion(Result { () throws(Failure) in try finish(try result.get()) })
                }
                if !isTaken { completion(.failure(Failure(.busy, "too much is waiting to be checked; try again"))) }
            }
        } catch {
            completion(.failure(error))
            return nil
        }
    }

    /// Refuses what no worker would take: the first bytes decide, never a name or a header.
    private static func sniff(_ input: SealedFile) throws(Failure) -> SourceFormat {
        guard input.count > 0 else { throw .emptyBody }
        let sniffed = input.withBytes { bytes in
            Sniffer.sniff(bytes.bindMemory(to: UInt8.self).span.extracting(first: Sniffer.prefixLength))
        }
        switch sniffed {
        case .accepted(let format): return format
        case .refused(let mediaType):
            throw Failure(.unsupportedMedia, "this is \(mediaType); accepted are HEIC (HEIF coded as HEVC) and JPEG")
        case .unknown: throw .unknownKind
        }
    }

    /// What a worker wrote is not believed: it read foreign bytes with C libraries and may be somebody else's by now.
    ///
    /// - Returns: what the worker told, as far as the policy lets it be passed on.
    private func prove(_ output: WorkerPool.Output, policy: MetadataPolicy) throws(Failure) -> Report {
        let report = output.report
        // A picture never grows on its way, so one over the limit would be a bomb for whoever reads it next.
        guard let pixels = report.size.pixels, pixels <= limits.pixelsMax else {
            throw Failure(.selfCheckFailed, "the finished picture failed its check: \(report.size) pixels")
        }
        try output.jpeg.withBytes { bytes throws(Failure) in
            try OutputCheck.verify(
                bytes.bindMemory(to: UInt8.self).span, size: report.size, kept: report.kept, policy: policy)
        }
        return report.limited(by: policy)
    }
}

extension Report {
    /// Without what the policy does not let into an answer, whatever the worker told.
    fileprivate func limited(by policy: MetadataPolicy) -> Report {
        var report = self
        report.disclosure = disclosure.limited(by: policy)
        report.kept = kept.filter(policy.kept.contains)
        return report
    }
}
