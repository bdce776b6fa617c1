import CLinux
import CMicroHTTPD
import Posix
import Synchronization

/// One connection, and on it one request after the other: does what the state machine decides.
///
/// libmicrohttpd calls for one connection from one thread at a time. Replies, the watch and the stop come from other
/// threads, so all that changes lies behind one lock. The handler is never called under it. Connections are suspended and
/// resumed under it, so that the two cannot cross, and none is under way once `stopNow` has passed; neither calls back.
final class Exchange: Sendable {
    struct State: ~Copyable {
        let connection: ConnectionReference
        var machine: StateMachine
        var request = RequestRecord()
        var spool: MemoryFile?
        /// The spool's room in the budget of all bodies.
        var hold: BodyBudget.Hold?
        /// The answer that the machine says is there.
        var answer: QueuedResponse?
        /// The answer's room in the budget of all answers, until it is sent.
        var answerHold: BodyBudget.Hold?
    }

    /// What is known of the present request.
    struct RequestRecord {
        var target: [UInt8] = []
        var id = ""
        var head: RequestHead?
        var startedUs = 0
        /// When the body was whole.
        var wholeUs: Int?
        var permit: (any Sendable)?
        let client = Requester()
        var status: Int?
        var bytesOut = 0
        var note: (any Sendable)?
        /// The answer has gone over the socket: libmicrohttpd knows nothing of it and will call the request broken off.
        var isAnsweredOverSocket = false
    }

    /// libmicrohttpd's connection and its socket, both alive until `closed`.
    ///
    /// Sendable, for an exchange uses it under its lock only, and not after `closed`.
    struct ConnectionReference: @unchecked Sendable {
        let raw: OpaquePointer
        let socket: Int32
    }

    let hub: Hub
    let state: Mutex<State>

    init(connection: OpaquePointer, hub: Hub) {
        self.hub = hub
        let reference = ConnectionReference(raw: connection, socket: cmicrohttpd_socket(connection))
        let machine = StateMachine(hub.configuration, nowMs: Clock.monotonicMs())
        state = Mutex(State(connection: reference, machine: machine))
    }
}

// Called by libmicrohttpd.
extension Exchange {
    func requestLineCame(target: [UInt8]) {
        state.withLock { state in
            state.machine.requestLineCame(nowMs: Clock.monotonicMs())
            state.request = RequestRecord()
            state.request.target = target
            state.request.startedUs = Clock.monotonicUs()
        }
    }

    /// Whether the next call is a request's first.
    var awaitsHead: Bool {
        state.withLock { if case .head = $0.machine.phase { true } else { false } }
    }

    /// The first call: the head is there, nothing of the body.
    func headCame(_ raw: RawHead) -> MHD_Result {
        let judged = judge(raw, target: state.withLock { $0.request.target })
        let refusal = judged.refusal.map { completed($0, id: judged.id, head: judged.head) }
        var queued = refusal.map { prepare($0, id: judged.id, head: judged.head) }
        return state.withLock { state in
            state.request.id = judged.id
            state.request.head = judged.head
            let nowMs = Clock.monotonicMs()
            switch state.machine.headCame(judged.judgement, isHTTP11: raw.isHTTP11, nowMs: nowMs) {
            case .goOn:
                state.hold = judged.hold
                state.request.permit = judged.permit
                state.answer = queued.take()
                return .YES
            case .queue:
                state.answer = queued.take()
                return Self.queueAnswer(&state)
            case .answerOverSocket:
                guard let refusal else { return .NO }
                return Self.answerOverSocket(refusal, &state) ? .YES : .NO
            case .drop: return .NO
            }
        }
    }

    /// A call with a piece of the body; all of it is taken.
    func pieceCame(_ piece: UnsafeRawBufferPointer) -> MHD_Result {
        enum Next {
            case done(MHD_Result)
            case refuse(HTTPProblem)
        }
        let next: Next = state.withLock { state in
            switch state.machine.pieceCame(piece.count) {
            case .keep:
                // In a body's declared length this takes nothing.
                guard state.hold?.grow(to: state.machine.bytesIn) == true else { return .refuse(.bodiesFull) }
                return Self.append(piece, to: &state.spool) ? .done(.YES) : .refuse(.noMemory)
            case .overLimit(let limit):
                return .refuse(.bodyTooLarge(limit: limit, declared: state.request.head?.contentLength))
            case .swallow: return .done(.YES)
            case .drop: return .done(.NO)
            }
        }
        switch next {
        case .done(let result): return result
        case .refuse(let problem): return answerAmid(problem) ? .YES : .NO
        }
    }

    private static func append(_ piece: UnsafeRawBufferPointer, to spool: inout MemoryFile?) -> Bool {
        do throws(PosixError) {
            if spool == nil { spool = try MemoryFile(name: "body") }
            try spool?.append(piece)
            return true
        } catch { return false }
    }

    /// A call after the whole request, and again after each suspension or idle turn.
    func finalCall() -> MHD_Result {
        let (action, serial) = state.withLock { state in
            let action = state.machine.finalCall(nowMs: Clock.monotonicMs())
            return (action == .handle ? nil : Self.perform(action, &state), state.machine.serial)
        }
        if let result = action { return result }
        if let request = wholeRequest() {
            hub.handler.handle(request) { [self] in reply($0, serial: serial) }
        } else {
            reply(problem(.noMemory), serial: serial)
        }
        return state.withLock { Self.perform($0.machine.handlerReturned(nowMs: Clock.monotonicMs()), &$0) }
    }

    /// The request is over, whether answered or broken off.
    func requestEnded(isWhole: Bool) {
        let client = state.withLock { $0.request.client }
        let record = state.withLock { state in
            let request = state.request
            let status = request.status ?? Int(cmicrohttpd_status(state.connection.raw))
            let isComplete = (isWhole && status != 0) || request.isAnsweredOverSocket
            let record = AccessRecord(
                id: request.id.isEmpty ? RequestHead.newID() : request.id, head: request.head,
                status: status == 0 ? nil : status, isComplete: isComplete,
                bytesIn: state.machine.bytesIn, bytesOut: isComplete ? request.bytesOut : 0,
                uploadUs: request.wholeUs.map { $0 - request.startedUs },
                durationUs: Clock.monotonicUs() - request.startedUs, note: request.note)
            state.spool = nil
            state.hold = nil
            state.answer = nil
            state.answerHold = nil
            state.request = RequestRecord()
            let progress = Self.progress(state.connection)
            state.machine.requestEnded(nowMs: Clock.monotonicMs(), received: progress.received)
            return record
        }
        // libmicrohttpd may see it first, in the turn before it puts the connection aside.
        if !isWhole { client.leave() }
        hub.handler.finished(record)
    }

    /// libmicrohttpd is about to close the socket and to free the connection.
    func closed() { state.withLock { $0.machine.closed() } }

    /// The request with its body sealed; nil where the kernel has no room for that.
    private func wholeRequest() -> Request? {
        state.withLock { state in
            guard let head = state.request.head else { preconditionFailure("a request is handled after its head") }
            state.request.wholeUs = Clock.monotonicUs()
            let hold = state.hold.take()
            do throws(PosixError) {
                let body = try state.spool.take()?.seal(keeping: hold)
                return Request(head: head, body: body, permit: state.request.permit, client: state.request.client)
            } catch {
                return nil
            }
        }
    }

    private static func perform(_ action: StateMachine.FinalAction, _ state: inout State) -> MHD_Result {
        switch action {
        case .handle: preconditionFailure("handled by the caller")
        case .goOn: return .YES
        case .suspend:
            MHD_suspend_connection(state.connection.raw)
            return .YES
        case .queue: return queueAnswer(&state)
        case .drop: return .NO
        }
    }

    private static func queueAnswer(_ state: inout State) -> MHD_Result {
        guard let answer = state.answer.take(), answer.queue(on: state.connection.raw) else { return .NO }
        state.request.status = answer.status
        state.request.note = answer.note
        let sendsBody = Response.sendsBody(status: answer.status, to: state.request.head?.method)
        state.request.bytesOut = sendsBody ? answer.count : 0
        return .YES
    }
}

// Called by others.
extension Exchange {
    /// The handler's reply to the request `serial`, from any thread.
    func reply(_ response: Response, serial: Int) {
        let request = state.withLock { $0.machine.awaitsReply(serial: serial) ? $0.request : nil }
        guard let request else { return }
        let hold = hub.answers.hold(response.body.heldBytes, mayBeAlone: true)
        let answer = hold == nil ? problem(.answersFull) : response
        var queued: QueuedResponse? = prepare(answer, id: request.id, head: request.head)
        state.withLock { state in
            let action = state.machine.replyCame(serial: serial)
            if action == .ignore { return }
            state.answer = queued.take()
            state.answerHold = hold
            if action == .resume { MHD_resume_connection(state.connection.raw) }
        }
    }

    /// The watch's look at the time.
    func tick(nowMs: Int) {
        let (action, client) = state.withLock { state in
            if case .closed = state.machine.phase { return (StateMachine.TickAction.leave, state.request.client) }
            let action = state.machine.tick(nowMs: nowMs, Self.progress(state.connection))
            switch action {
            case .leave, .timeOut: break
            case .shutDown: Self.shutDown(&state)
            // A slow sender keeps no more of the budget to itself than it has used.
            case .settle(let bytes): state.hold?.shrink(to: bytes)
            // One that has only ended its sending reads past this, or must by RFC 9110, section 15.2; of one that has gone
            // the kernel says so now.
            case .probe: _ = SocketCalls.sendAtOnce(SocketAnswer.interim, on: state.connection.socket)
            case .abandon: MHD_resume_connection(state.connection.raw)
            case .abort:
                // What the reader has not taken is not to sit in the kernel after the end.
                SocketCalls.discardUnsentOnClose(state.connection.socket)
                Self.shutDown(&state)
            }
            return (action, state.request.client)
        }
        if action == .abandon { client.leave() }
        guard action == .timeOut else { return }
        let times = hub.configuration
        answerAmid(
            .uploadTimeout(headMs: times.headMs, bytesPerSecondMin: times.bytesPerSecondMin, bodyMs: times.bodyMs))
        state.withLock { if case .draining = $0.machine.phase { Self.shutDown(&$0) } }
    }

    /// The server begins to stop.
    func stop() {
        let action = state.withLock { state in
            let action = state.machine.stop()
            if action == .shutDown { Self.shutDown(&state) }
            return action
        }
        if action == .answer { answerAmid(.stopping) }
    }

    /// The grace is over. After this the connection is not suspended, nor will it be.
    func stopNow() {
        let (serial, client, isReceivingBody) = state.withLock { state in
            state.machine.stopNow()
            return (state.machine.serial, state.request.client, state.machine.stop() == .answer)
        }
        if isReceivingBody { answerAmid(.stopping) }
        let isAwaited = state.withLock { $0.machine.awaitsReply(serial: serial) }
        reply(problem(.stopping), serial: serial)
        if isAwaited { client.leave() }
    }

    var isBusy: Bool { state.withLock { $0.machine.isBusy } }

    /// Since when it has waited for a request to come whole; nil where there is one.
    var waitingSinceMs: Int? { state.withLock { $0.machine.waitingSinceMs } }

    /// Another connection needs its place: it ends, if it still waits for the same request.
    func giveWay(sinceMs: Int) { state.withLock { if $0.machine.waitingSinceMs == sinceMs { Self.shutDown(&$0) } } }

    /// Answers over the socket while a head or a body is coming.
    ///
    /// - Returns: whether the rest of the body is to be swallowed; false where the connection is of no use any more.
    @discardableResult
    private func answerAmid(_ problem: HTTPProblem) -> Bool {
        let response = self.problem(problem)
        return state.withLock { $0.machine.isReceiving && Self.answerOverSocket(response, &$0) }
    }

    private static func answerOverSocket(_ response: Response, _ state: inout State) -> Bool {
        let method = state.request.head?.method
        guard let answer = SocketAnswer(response, method: method, nowMs: Clock.unixMs()) else { return false }
        state.spool = nil
        state.hold = nil
        state.request.permit = nil
        state.machine.answeredOverSocket(nowMs: Clock.monotonicMs())
        guard answer.send(on: state.connection.socket) else { return false }
        state.request.isAnsweredOverSocket = true
        state.request.status = response.status
        state.request.note = response.note
        state.request.bytesOut = Response.sendsBody(status: response.status, to: method) ? response.body.count : 0
        return true
    }

    private static func shutDown(_ state: inout State) {
        SocketCalls.shutDown(state.connection.socket)
        state.machine.shutDown()
    }

    private static func progress(_ connection: ConnectionReference) -> StateMachine.Progress {
        var received: UInt64 = 0
        var acknowledged: UInt64 = 0
        var peerHasClosed: Int32 = 0
        var isReset: Int32 = 0
        guard clinux_tcp_progress(connection.socket, &received, &acknowledged, &peerHasClosed, &isReset) == 0 else {
            return StateMachine.Progress()
        }
        return StateMachine.Progress(
            received: Int(received), acknowledged: Int(acknowledged), peerHasClosed: peerHasClosed != 0,
            isReset: isReset != 0)
    }
}

// The words of answers; the handler is asked without the lock.
extension Exchange {
    private func problem(_ problem: HTTPProblem) -> Response {
        let (id, head) = state.withLock { state in
            // A head that never came whole has no id yet.
            if state.request.id.isEmpty { state.request.id = RequestHead.newID() }
            return (state.request.id, state.request.head)
        }
        return completed(hub.handler.problem(problem, id: id, head: head), id: id, head: head)
    }

    /// With the fields that every answer has; one that would break out of its lines becomes a 500.
    private func completed(_ response: Response, id: String, head: RequestHead?) -> Response {
        var response = response
        if !response.isWellFormed { response = hub.handler.problem(.internalError, id: id, head: head) }
        if !response.isWellFormed { response = Response(status: 500) }
        response = response.addingIfMissing("X-Request-Id", id)
        return hub.isStopping ? response.addingIfMissing("Connection", "close") : response
    }

    /// In the form that libmicrohttpd sends.
    private func prepare(_ response: Response, id: String, head: RequestHead?) -> QueuedResponse {
        if let queued = QueuedResponse.make(completed(response, id: id, head: head)) { return queued }
        // No descriptor was left for the file.
        let problem = hub.handler.problem(.noMemory, id: id, head: head)
        let queued = QueuedResponse.make(completed(problem, id: id, head: head))
        guard let queued else { fatalError("out of memory") }
        return queued
    }
}
