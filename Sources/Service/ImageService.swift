package import Core
package import HTTP
package import Posix
package import Storage

/// The service behind the server: finds the route, does the work on threads that may block, and answers.
package final class ImageService: Handler {
    private let runner: any JobRunner
    private let preparer: Preparer
    private let store: any ObjectStore
    private let threads: WorkThreads
    private let limits: Limits
    private let log: Log

    /// - Parameter threads: for all that blocks: the store, and the checks after a worker.
    package init(
        runner: any JobRunner, store: any ObjectStore, threads: WorkThreads, limits: Limits, log: Log
    ) {
        self.runner = runner
        self.store = store
        self.threads = threads
        self.limits = limits
        self.log = log
        preparer = Preparer(runner: runner, limits: limits, threads: threads)
    }

    package func begin(_ head: RequestHead) -> Verdict {
        do {
            switch try Route(head) {
            case .upload, .convert, .inspect: return .accept(bodyBytesMax: limits.bodyBytesMax)
            case .fetch, .delete, .health, .readiness, .contract, .front: return .accept(bodyBytesMax: 0)
            }
        } catch {
            return .refuse(.refusal(error, id: head.id))
        }
    }

    package func handle(_ request: Request, reply: @escaping @Sendable (Response) -> Void) {
        let head = request.head
        do {
            switch try Route(head) {
            case .upload(let options): upload(request, options, reply)
            case .convert(let options): convert(request, options, reply)
            case .inspect(let options): inspect(request, options, reply)
            case .fetch(let key): block(head, reply) { [self] () throws(Failure) in try fetch(key, head) }
            case .delete(let key): block(head, reply) { [self] () throws(Failure) in try delete(key) }
            case .readiness: block(head, reply) { [self] () throws(Failure) in try checkReadiness() }
            case .health: reply(.json(200, ["status": "ok"]))
            case .contract:
                reply(
                    Response(status: 200, headers: [("Content-Type", "application/yaml")], body: .bytes(Contract.text)))
            case .front:
                reply(.json(200, ["service": "safelight", "version": Version.text, "contract": "/openapi.yaml"]))
            }
        } catch {
            reply(.refusal(error, id: head.id))
        }
    }

    package func problem(_ problem: HTTPProblem, id: String, head: RequestHead?) -> Response {
        .problem(Failure(problem), id: id)
    }

    package func finished(_ record: AccessRecord) { log.request(record) }

    // MARK: - The routes

    private func upload(_ request: Request, _ options: Options, _ reply: @escaping @Sendable (Response) -> Void) {
        take(request, reply) { [self] photo, answer in
            preparer.prepare(photo, options: options) { result in
                answer { [self] () throws(Failure) in
                    let prepared = try result.get()
                    let start = Clock.monotonicUs()
                    var response = Response.created(try keep(prepared))
                    response.note = RequestNote(
                        report: prepared.report, workerUs: prepared.workerUs, storeUs: Clock.monotonicUs() - start)
                    return response
                }
            }
        }
    }

    private func convert(_ request: Request, _ options: Options, _ reply: @escaping @Sendable (Response) -> Void) {
        take(request, reply) { [self] photo, answer in
            preparer.prepare(photo, options: options) { result in
                answer { () throws(Failure) in
                    let prepared = try result.get()
                    var response = Response.converted(prepared)
                    response.note = RequestNote(report: prepared.report, workerUs: prepared.workerUs)
                    return response
                }
            }
        }
    }

    private func inspect(_ request: Request, _ options: Options, _ reply: @escaping @Sendable (Response) -> Void) {
        take(request, reply) { [self] photo, answer in
            preparer.inspect(photo, options: options) { result in
                answer { () throws(Failure) in
                    let inspected = try result.get()
                    var response = Response.json(200, InspectionRecord(inspected))
                    response.note = RequestNote(report: inspected.report, workerUs: inspected.workerUs)
                    return response
                }
            }
        }
    }

    private typealias Answering = @Sendable (() throws(Failure) -> Response) -> Void

    /// Takes the body for a photo, and answers with what the second argument of `work` is given.
    private func take(
        _ request: Request, _ reply: @escaping @Sendable (Response) -> Void,
        work: (SealedFile, @escaping Answering) -> Void
    ) {
        let head = request.head
        guard let body = request.body else {
            reply(.problem(.emptyBody, id: head.id))
            return
        }
        work(body) { make in
            do throws(Failure) { reply(try make()) } catch { reply(.problem(error.advising(head), id: head.id)) }
        }
    }

    /// Stores the JPEG under a new key. 128 random bits never meet twice; if they do, it is no chance but a fault.
    private func keep(_ prepared: Prepared) throws(Failure) -> PictureRecord {
        var generator = SystemRandomNumberGenerator()
        let now = UTCTime(milliseconds: Clock.unixMs())
        let key = ObjectKey(createdAt: now, random: (generator.next(), generator.next()))
        do { try store.put(key, prepared.jpeg, sha256: prepared.sha256) } catch { throw Failure(error) }
        return PictureRecord(prepared, key: key, url: Place.url(of: key), createdAt: now)
    }

    private func fetch(_ key: ObjectKey, _ head: RequestHead) throws(Failure) -> Response {
        let object: StoredObject?
        do { object = try store.get(key) } catch { throw Failure(error) }
        guard let object else { throw Failure(.notFound, "no picture has this key") }
        return try Response.picture(object, head)
    }

    private func delete(_ key: ObjectKey) throws(Failure) -> Response {
        let wasThere: Bool
        do { wasThere = try store.delete(key) } catch { throw Failure(error) }
        guard wasThere else { throw Failure(.notFound, "no picture has this key") }
        return Response(status: 204)
    }

    private func checkReadiness() throws(Failure) -> Response {
        guard runner.isReady else { throw Failure(.busy, "no worker is ready yet") }
        do { try store.probe() } catch {
            // A full store too is answered by 503: whoever asks here wants to know whether to send uploads.
            let failure = Failure(error)
            throw Failure(.storageUnavailable, failure.detail, diagnosis: failure.diagnosis)
        }
        return .json(200, ["status": "ready"])
    }

    /// Answers from a thread that may block.
    private func block(
        _ head: RequestHead, _ reply: @escaping @Sendable (Response) -> Void,
        _ work: @escaping @Sendable () throws(Failure) -> Response
    ) {
        let isTaken = threads.submit {
            do throws(Failure) { reply(try work()) } catch { reply(.problem(error, id: head.id)) }
        }
        if !isTaken { reply(.problem(Failure(.busy, "too much is waiting for the store"), id: head.id)) }
    }
}
