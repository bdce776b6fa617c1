import CLinux
import CMicroHTTPD
import Posix
import Synchronization

// Called by others than libmicrohttpd: the handler, the watch, the hub.
extension Exchange {
    /// The handler's reply to the request `serial`, from any thread.
    func reply(_ response: Response, serial: Int) {
        if !send(response, serial: serial) { response.whenUnsent?() }
    }

    /// - Returns: whether it is on its way: false where nobody waits for it, or another answer goes in its place.
    private func send(_ response: Response, serial: Int) -> Bool {
        let request = state.withLock { $0.machine.awaitsReply(serial: serial) ? $0.request : nil }
        guard let request else { return false }
        let hold = hub.holdAnswer(response.body.heldBytes, nowMs: Clock.monotonicMs())
        let answer = hold == nil ? problem(.answersFull) : response
        var queued: QueuedResponse? = prepare(answer, id: request.id, head: request.head)
        return state.withLock { state in
            let action = state.machine.replyCame(serial: serial)
            if action == .ignore { return false }
            state.answer = queued.take()
            state.answerHold = hold
            if action == .resume { MHD_resume_connection(state.connection.raw) }
            return hold != nil
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
                Self.abort(&state)
            }
            return (action, state.request.client)
        }
        if action == .abandon { client.leave() }
        guard action == .timeOut else { return }
        let times = hub.configuration
        end(.uploadTimeout(headMs: times.headMs, bytesPerSecondMin: times.bytesPerSecondMin, bodyMs: times.bodyMs))
    }

    /// Answers while a head or a body is coming, and reads nothing more of it.
    private func end(_ problem: HTTPProblem) {
        answerAmid(problem)
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

    var isReceivingBody: Bool { state.withLock { $0.machine.transfer == .body } }

    /// A body or an answer that is on its way.
    struct Transfer {
        let exchange: Exchange
        let serial: Int
        let kind: StateMachine.Transfer
        /// Of late.
        let bytesPerSecond: Int
        let heldBytes: Int
    }

    /// What is on its way here, where it can be told how fast.
    func transfer(nowMs: Int) -> Transfer? {
        state.withLock { state in
            guard let kind = state.machine.transfer, let pace = state.machine.bytesPerSecond(nowMs: nowMs) else {
                return nil
            }
            let hold = kind == .body ? state.hold : state.answerHold
            return Transfer(
                exchange: self, serial: state.machine.serial, kind: kind, bytesPerSecond: pace,
                heldBytes: hold?.bytes ?? 0)
        }
    }

    /// Others need the room of this body or answer: it ends, if it is still on its way.
    func giveWay(_ transfer: Transfer) {
        let isStill = state.withLock { state in
            guard state.machine.serial == transfer.serial, state.machine.transfer == transfer.kind else { return false }
            if transfer.kind == .answer { Self.abort(&state) }
            return true
        }
        if isStill, transfer.kind == .body { end(.receivingFull) }
    }

    /// Another connection needs its place: it ends, if it still waits for the same request.
    func giveWay(sinceMs: Int) { state.withLock { if $0.machine.waitingSinceMs == sinceMs { Self.shutDown(&$0) } } }

    /// Ends an answer: what the reader has not taken is not to sit in the kernel afterwards.
    private static func abort(_ state: inout State) {
        SocketCalls.discardUnsentOnClose(state.connection.socket)
        shutDown(&state)
    }

    private static func shutDown(_ state: inout State) {
        SocketCalls.shutDown(state.connection.socket)
        state.machine.shutDown()
    }

    static func progress(_ connection: ConnectionReference) -> StateMachine.Progress {
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
