package import Core
package import HTTP
package import Posix
package import Storage
import WorkerPool

/// The service behind the server: finds the route, does the work on threads that may block, and answers.
package final class ImageService: Handler {
    private let runner: any JobRunner
    private let preparer: Preparer
    private let store: any ObjectStore
    private let puts: StoreCalls
    private let calls: StoreCalls
    private let admission: Admission
    private let limits: Limits
    private let log: Log

    /// - Parameters:
    ///   - threads: for the checks after a worker.
    ///   - puts: what uploads reach the store by.
    ///   - calls: what all else does, and so waits behind no upload.
    ///   - queueLengthMax: uploads that may wait for a worker before others are refused.
    package init(
        runner: any JobRunner, store: any ObjectStore, threads: WorkThreads, puts: StoreCalls, calls: StoreCalls,
        queueLengthMax: Int, limits: Limits, log: Log
    ) {
        self.runner = runner
        self.store = store
        self.puts = puts
        self.calls = calls
        self.limits = limits
        self.log = log
        admission = Admission(queueLengthMax: queueLengthMax)
        preparer = Preparer(runner: runner, limits: limits, threads: threads)
    }

    package func begin(_ head: RequestHead) -> Verdict {
        do {
            switch try Route(head) {
            case .upload, .convert, .inspect: return admit(head)
            case .fetch, .delete, .health, .readiness, .contract, .front: return .accept(bodyBytesMax: 0)
            }
        } catch {
            return .refuse(.refusal(error, id: head.id))
        }
    }

    /// Before the body has come: whether there will be a worker for it.
    private func admit(_ head: RequestHead) -> Verdict {
        guard let permit = admission.ask(runner.load) else {
            return .refuse(failed(Failure(.busy, "more uploads come than can be worked on; try again later"), head.id))
        }
        return .accept(bodyBytesMax: limits.bodyBytesMax, permit: permit)
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
            case .readiness: tellReadiness(head, reply)
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
        failed(Failure(problem), id)
    }

    package func finished(_ record: AccessRecord) { log.request(record) }

    // MARK: - The routes

    private func upload(_ request: Request, _ options: Options, _ reply: @escaping @Sendable (Response) -> Void) {
        let (head, client) = (request.head, request.client)
        take(request, reply) {
            preparer.prepare($0, options: options, completion: $1)
        } finish: { [self] (prepared: Prepared) in
            // What nobody would be told of is not stored.
            if client.hasLeft { return reply(failed(.abandoned, head.id)) }
            store(prepared, head, reply)
        }
    }

    private func store(
        _ prepared: Prepared, _ head: RequestHead, _ reply: @escaping @Sendable (Response) -> Void
    ) {
        let start = Clock.monotonicUs()
        puts.run({ [self] () throws(Failure) in try keep(prepared) }, undo: { [self] in discard($0) }) { kept in
            self.answer(head, reply) { () throws(Failure) in
                let record = try kept.get()
                var response = Response.created(record)
                response.whenUnsent = { self.discard(record) }
                var note = RequestNote(prepared)
                note.storeUs = Clock.monotonicUs() - start
                response.note = note
                return response
            }
        }
    }

    private func convert(_ request: Request, _ options: Options, _ reply: @escaping @Sendable (Response) -> Void) {
        take(request, reply) {
            preparer.prepare($0, options: options, completion: $1)
        } finish: { (prepared: Prepared) in
            var response = Response.converted(prepared)
            response.note = RequestNote(prepared)
            reply(response)
        }
    }

    private func inspect(_ request: Request, _ options: Options, _ reply: @escaping @Sendable (Response) -> Void) {
        take(request, reply) {
            preparer.inspect($0, options: options, completion: $1)
        } finish: { (inspected: Inspected) in
            var response = Response.json(200, InspectionRecord(inspected))
            response.note = RequestNote(inspected)
            reply(response)
        }
    }

    /// Takes the body for a photo, has `work` done on it, and goes on with `finish` or answers why not. The work is
    /// given up when the client goes.
    private func take<Made>(
        _ request: Request, _ reply: @escaping @Sendable (Response) -> Void,
        work: (SealedFile, @escaping @Sendable (Result<Made, Failure>) -> Void) -> WorkerPool.Ticket?,
        finish: @escaping @Sendable (Made) -> Void
    ) {
        let head = request.head
        (request.permit as? Admission.Permit)?.arrived(bytes: request.body?.count ?? 0)
        guard let body = request.body else {
            reply(.problem(.emptyBody, id: head.id))
            return
        }
        let ticket = work(body) { [self] (result: Result<Made, Failure>) in
            do throws(Failure) { finish(try result.get()) } catch { reply(failed(error.advising(head), head.id)) }
        }
        if let ticket { request.client.onLeaving { [runner] in runner.cancel(ticket) } }
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

    /// Takes back what was stored though nobody was told of it; what cannot be taken back now stays, under a name that
    /// nobody knows.
    private func discard(_ record: PictureRecord) {
        if let key = ObjectKey(record.key) { _ = try? store.delete(key) }
    }

    private func tellReadiness(_ head: RequestHead, _ reply: @escaping @Sendable (Response) -> Void) {
        guard runner.isReady else { return reply(.problem(Failure(.busy, "no worker is ready yet"), id: head.id)) }
        block(head, reply) { [store] () throws(Failure) in
            do throws(StoreError) { try store.probe() } catch {
                // A full store too is answered by 503: whoever asks here wants to know whether to send uploads.
                let failure = Failure(error)
                throw Failure(.storageUnavailable, failure.detail, diagnosis: failure.diagnosis)
            }
            return .json(200, ["status": "ready"])
        }
    }

    /// Answers with what a call to the store makes.
    private func block(
        _ head: RequestHead, _ reply: @escaping @Sendable (Response) -> Void,
        _ call: @escaping @Sendable () throws(Failure) -> Response
    ) {
        calls.run(call) { [self] result in answer(head, reply) { () throws(Failure) in try result.get() } }
    }

    private func answer(
        _ head: RequestHead, _ reply: (Response) -> Void, _ response: () throws(Failure) -> Response
    ) {
        do throws(Failure) { reply(try response()) } catch { reply(failed(error, head.id)) }
    }

    /// A failure's answer; one that a wait would mend says for how long.
    private func failed(_ failure: Failure, _ id: String) -> Response {
        let seconds = failure.code == .busy ? admission.retryAfterSeconds(runner.load) : nil
        return .problem(failure, id: id, retryAfterSeconds: seconds)
    }
}
