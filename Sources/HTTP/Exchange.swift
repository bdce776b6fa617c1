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
                // Of a declared length all is held from the start, unless it came slowly and its hold was settled.
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
}
