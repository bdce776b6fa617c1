import CMicroHTTPD
import Posix
import Synchronization

// How an answer goes its way.
extension Exchange {
    static func queueAnswer(_ state: inout State) -> MHD_Result {
        guard let answer = state.answer.take(), answer.queue(on: state.connection.raw) else { return .NO }
        state.request.status = answer.status
        state.request.note = answer.note
        let sendsBody = Response.sendsBody(status: answer.status, to: state.request.head?.method)
        state.request.bytesOut = sendsBody ? answer.count : 0
        return .YES
    }

    /// Answers over the socket while a head or a body is coming.
    ///
    /// - Returns: whether the rest of the body is to be swallowed; false where the connection is of no use any more.
    @discardableResult
    func answerAmid(_ problem: HTTPProblem) -> Bool {
        let response = self.problem(problem)
        return state.withLock { $0.machine.isReceiving && Self.answerOverSocket(response, &$0) }
    }

    static func answerOverSocket(_ response: Response, _ state: inout State) -> Bool {
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
}

// The words of answers; the handler is asked without the lock.
extension Exchange {
    func problem(_ problem: HTTPProblem) -> Response {
        let (id, head) = state.withLock { state in
            // A head that never came whole has no id yet.
            if state.request.id.isEmpty { state.request.id = RequestHead.newID() }
            return (state.request.id, state.request.head)
        }
        return completed(hub.handler.problem(problem, id: id, head: head), id: id, head: head)
    }

    /// With the fields that every answer has; one that would break out of its lines becomes a 500.
    func completed(_ response: Response, id: String, head: RequestHead?) -> Response {
        var response = response
        if !response.isWellFormed { response = hub.handler.problem(.internalError, id: id, head: head) }
        if !response.isWellFormed { response = Response(status: 500) }
        response = response.addingIfMissing("X-Request-Id", id)
        return hub.isStopping ? response.addingIfMissing("Connection", "close") : response
    }

    /// In the form that libmicrohttpd sends.
    func prepare(_ response: Response, id: String, head: RequestHead?) -> QueuedResponse {
        if let queued = QueuedResponse.make(completed(response, id: id, head: head)) { return queued }
        // No descriptor was left for the file.
        let problem = hub.handler.problem(.noMemory, id: id, head: head)
        let queued = QueuedResponse.make(completed(problem, id: id, head: head))
        guard let queued else { fatalError("out of memory") }
        return queued
    }
}
