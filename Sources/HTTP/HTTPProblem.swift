/// What the server itself refuses, or fails at, before or without the handler. `Handler.problem` gives it words.
package enum HTTPProblem: Error, Sendable, Equatable {
    /// 400: the request breaks a rule of HTTP; the reason names the rule, for people.
    case badRequest(reason: String)
    /// 413: the body is longer than the handler's limit.
    /// - declared: the Content-Length, nil where the body came in chunks.
    case bodyTooLarge(limit: Int, declared: Int?)
    /// 408: the head took longer, or the body came more slowly or took longer than this.
    case uploadTimeout(headMs: Int, bytesPerSecondMin: Int, bodyMs: Int)
    /// 503: the server is stopping.
    case stopping
    /// 503: no memory to keep the body in, or no descriptor to send the answer from.
    case noMemory
    /// 503: other bodies hold all the memory that there is for them.
    case bodiesFull
    /// 503: other bodies hold all the connections that there are for them, or this one was slow, and others needed its
    /// connection or its memory.
    case receivingFull
    /// 503: answers that others are reading hold all the memory that there is for them.
    case answersFull
    /// 500: the handler's response cannot be sent as it is.
    case internalError
}
