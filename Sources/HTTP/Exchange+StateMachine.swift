extension Exchange {
    /// What goes on on one connection, and what is to be done about it: events in, actions out. No socket, no lock, no
    /// clock, no library.
    ///
    /// The rules of libmicrohttpd that it keeps:
    /// - a response may be queued in the first call of a request (which closes the connection afterwards) or in a final
    ///   call, never in the middle of a body;
    /// - a connection may be suspended only from within a call, and each suspension is ended by exactly one resumption;
    /// - a suspension in the turn that read the last of the request makes it read again on resumption, and a
    ///   half-closed client would then be dropped unanswered: so one idle turn goes between.
    struct StateMachine {
        enum Waiting: Equatable {
            /// The handler is being called.
            case calling
            /// The handler has returned, libmicrohttpd takes its idle turn.
            case idling
            /// libmicrohttpd has put the connection aside.
            case suspended
        }

        enum Phase {
            /// Between two requests.
            case idle
            /// A head is coming; at first also nothing yet.
            case head
            case body(bytesMax: Int)
            /// The answer went over the socket in mid-body; what still comes is thrown away.
            case draining(fromBytes: Int)
            case handling(Waiting)
            /// The answer is there; the next final call takes it.
            case answered
            /// libmicrohttpd is sending. The first look at the time takes up the reader's pace.
            case replying(isPaced: Bool)
            /// The socket has been shut down; libmicrohttpd is about to notice.
            case ending
            case closed
        }

        private(set) var phase = Phase.head
        /// Counts the requests, so that a late reply finds its own only.
        private(set) var serial = 0
        /// Bytes of the present request's body so far.
        private(set) var bytesIn = 0
        /// Whether the client takes an interim answer.
        private var takesInterim = false
        private var isStopping = false
        /// No request may reach the handler any more.
        private var isStopped = false
        private let times: Configuration
        private var sinceMs: Int
        private var pace: Pace
        private var receivedBefore = 0
        /// Of the answer, at the last look.
        private var acknowledged = 0
        /// Since when the present phase has been known to get no more bytes.
        private var closedSinceMs: Int?

        init(_ times: Configuration, nowMs: Int) {
            self.times = times
            sinceMs = nowMs
            pace = Pace(
                windowMs: times.paceWindowMs, bytesPerSecondMin: times.bytesPerSecondMin, nowMs: nowMs, bytes: 0)
        }

        private mutating func enter(_ phase: Phase, nowMs: Int) {
            self.phase = phase
            sinceMs = nowMs
            closedSinceMs = nil
        }

        /// libmicrohttpd may miss that the client closes where that comes together with its last bytes.
        private mutating func hasMissedTheEnd(nowMs: Int, _ progress: Progress) -> Bool {
            guard progress.peerHasClosed else { return false }
            guard let since = closedSinceMs else {
                closedSinceMs = nowMs
                return false
            }
            return nowMs - since >= times.missedEndMs
        }

        private mutating func startPace(nowMs: Int, bytes: Int) {
            pace = Pace(
                windowMs: times.paceWindowMs, bytesPerSecondMin: times.bytesPerSecondMin, nowMs: nowMs, bytes: bytes)
        }
    }
}

// What libmicrohttpd tells.
extension Exchange.StateMachine {
    enum Judgement {
        case accept(bodyBytesMax: Int)
        /// The request's own framing holds, so what follows its head can be read past.
        case refuse(BodyFraming, expectsContinue: Bool)
        /// Where this request ends nobody knows: nothing behind its head may be read.
        case refuseUnframed
    }

    enum HeadAction: Equatable { case goOn, drop, queue, answerOverSocket }
    enum PieceAction: Equatable { case keep, swallow, drop, overLimit(Int) }
    enum FinalAction: Equatable { case handle, goOn, suspend, queue, drop }

    /// The first line of a request has come.
    mutating func requestLineCame(nowMs: Int) {
        serial += 1
        bytesIn = 0
        if case .idle = phase { enter(.head, nowMs: nowMs) }
    }

    mutating func headCame(_ judgement: Judgement, isHTTP11: Bool = true, nowMs: Int) -> HeadAction {
        guard case .head = phase else { return .drop }
        takesInterim = isHTTP11
        switch judgement {
        case .accept(let bytesMax):
            enter(.body(bytesMax: bytesMax), nowMs: nowMs)
            startPace(nowMs: nowMs, bytes: 0)
            return .goOn
        case .refuse(let framing, _) where !framing.hasBody:
            // Queued in the first call it would cost the client its connection.
            enter(.answered, nowMs: nowMs)
            return .goOn
        case .refuse(_, expectsContinue: false):
            return .answerOverSocket
        case .refuse(_, expectsContinue: true), .refuseUnframed:
            enter(.replying(isPaced: false), nowMs: nowMs)
            return .queue
        }
    }

    mutating func pieceCame(_ count: Int) -> PieceAction {
        bytesIn += count
        switch phase {
        case .body(let bytesMax): return bytesIn <= bytesMax ? .keep : .overLimit(bytesMax)
        case .draining(let from) where bytesIn - from <= times.drainBytesMax: return .swallow
        default: return .drop
        }
    }

    /// An answer has gone over the socket, before or amid the body.
    mutating func answeredOverSocket(nowMs: Int) { enter(.draining(fromBytes: bytesIn), nowMs: nowMs) }

    /// The socket has been shut down.
    mutating func shutDown() { phase = .ending }

    /// The whole request is there, or the connection goes on after a suspension or an idle turn.
    mutating func finalCall(nowMs: Int) -> FinalAction {
        switch phase {
        case .body where !isStopped:
            enter(.handling(.calling), nowMs: nowMs)
            return .handle
        case .handling(.idling):
            phase = .handling(.suspended)
            return .suspend
        case .answered:
            enter(.replying(isPaced: false), nowMs: nowMs)
            return .queue
        default: return .drop
        }
    }

    mutating func handlerReturned(nowMs: Int) -> FinalAction {
        guard case .handling(.calling) = phase else { return finalCall(nowMs: nowMs) }
        phase = .handling(.idling)
        return .goOn
    }

    /// The request is over: answered or broken off.
    mutating func requestEnded(nowMs: Int, received: Int) {
        if case .ending = phase { return }
        enter(.idle, nowMs: nowMs)
        receivedBefore = received
    }

    mutating func closed() { phase = .closed }
}

// What others tell.
extension Exchange.StateMachine {
    enum ReplyAction: Equatable { case ignore, leave, resume }
    enum StopAction { case leave, shutDown, answer }
    enum TickAction: Equatable { case leave, shutDown, abort, timeOut, settle(bytes: Int), probe, abandon }

    /// What the kernel knows of the connection.
    struct Progress {
        /// 0 where it does not tell.
        var received = 0
        var acknowledged = 0
        /// The client will send no more. It may still read.
        var peerHasClosed = false
        /// The client has told that it does not read any more either.
        var isReset = false
    }

    /// Whether the reply to request `serial` has not come yet, and somebody is there to get it.
    func awaitsReply(serial: Int) -> Bool {
        if serial == self.serial, case .handling = phase { true } else { false }
    }

    /// The handler's reply to request `serial`, from whatever thread.
    mutating func replyCame(serial: Int) -> ReplyAction {
        guard serial == self.serial, case .handling(let waiting) = phase else { return .ignore }
        phase = .answered
        return waiting == .suspended ? .resume : .leave
    }

    /// Whether an answer may go over the socket: libmicrohttpd writes nothing while it reads a head or a body.
    var isReceiving: Bool {
        switch phase {
        case .head, .body: true
        case .idle, .draining, .handling, .answered, .replying, .ending, .closed: false
        }
    }

    /// Whether a request is being received, handled or answered.
    var isBusy: Bool {
        switch phase {
        case .idle, .head, .ending, .closed: false
        case .body, .draining, .handling, .answered, .replying: true
        }
    }

    /// Since when the client has had the time to send a request, or the rest of its head; nil where a head is there.
    var waitingSinceMs: Int? {
        switch phase {
        case .idle, .head: sinceMs
        case .body, .draining, .handling, .answered, .replying, .ending, .closed: nil
        }
    }

    enum Transfer { case body, answer }

    /// What is on its way at length.
    var transfer: Transfer? {
        switch phase {
        case .body: .body
        case .replying(isPaced: true): .answer
        case .idle, .head, .draining, .handling, .answered, .replying, .ending, .closed: nil
        }
    }

    /// How fast that was of late; nil where it is too early to tell.
    func bytesPerSecond(nowMs: Int) -> Int? {
        guard let transfer else { return nil }
        return pace.bytesPerSecond(
            nowMs: nowMs, bytes: transfer == .body ? bytesIn : acknowledged, atLeastMs: times.crowdedTransferMs)
    }

    /// The server stops: an upload in the middle is told so, what is whole may go on.
    mutating func stop() -> StopAction {
        isStopping = true
        return switch phase {
        case .idle: .shutDown
        case .body: .answer
        case .head, .draining, .handling, .answered, .replying, .ending, .closed: .leave
        }
    }

    /// The grace is over: from now on no request is handled, and so no connection suspended.
    mutating func stopNow() { isStopped = true }

    /// Looks at the time.
    mutating func tick(nowMs: Int, _ progress: Progress) -> TickAction {
        let elapsedMs = nowMs - sinceMs
        switch phase {
        case .idle:
            if isStopping || elapsedMs >= times.keepAliveMs || hasMissedTheEnd(nowMs: nowMs, progress) {
                return .shutDown
            }
            if progress.received > receivedBefore { enter(.head, nowMs: nowMs) }
        case .head where elapsedMs >= times.headMs:
            // A connection that was only opened, as browsers do in advance, gets no answer to nothing.
            return progress.received > receivedBefore ? .timeOut : .shutDown
        case .body where elapsedMs >= times.bodyMs || pace.isTooSlow(nowMs: nowMs, bytes: bytesIn): return .timeOut
        case .head, .body:
            if hasMissedTheEnd(nowMs: nowMs, progress) { return .shutDown }
            if case .body = phase, elapsedMs >= times.paceWindowMs { return .settle(bytes: bytesIn) }
        case .handling(.suspended):
            if progress.isReset {
                phase = .ending
                return .abandon
            }
            if progress.peerHasClosed, takesInterim {
                takesInterim = false
                return .probe
            }
        case .draining where elapsedMs >= times.drainMs: return .shutDown
        case .replying(isPaced: false):
            acknowledged = progress.acknowledged
            startPace(nowMs: nowMs, bytes: acknowledged)
            phase = .replying(isPaced: true)
        // A client that has sent its request and takes not a byte of the answer has a pace, too.
        case .replying(isPaced: true) where progress.received > 0:
            acknowledged = progress.acknowledged
            if pace.isTooSlow(nowMs: nowMs, bytes: acknowledged) { return .abort }
        case .draining, .handling, .answered, .replying, .ending, .closed: break
        }
        return .leave
    }
}
