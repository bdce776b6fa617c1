/// What the handler says to a request's head.
package enum Verdict: Sendable {
    /// Let the body come, up to so many bytes; a longer one is answered by `problem(.bodyTooLarge)`. The permit comes
    /// back with the request, and is let go of when the request is over, in whatever way.
    case accept(bodyBytesMax: Int, permit: (any Sendable)? = nil)
    /// Answer before the body is read. Such an answer carries its body in memory, not in a file. Where a body is on its
    /// way the connection is closed afterwards, else it stays.
    case refuse(Response)
}

/// What the server asks of the service behind it. All but the reply runs on libmicrohttpd's few threads, or on the
/// watch's, and must not block.
package protocol Handler: Sendable {
    /// The head is whole, the body still to come.
    func begin(_ head: RequestHead) -> Verdict

    /// The request is whole.
    ///
    /// - Parameter reply: to be called exactly once, at once or later, from any thread; a second call does nothing.
    func handle(_ request: Request, reply: @escaping @Sendable (Response) -> Void)

    /// The answer to something that the server itself refuses or fails at.
    ///
    /// - Parameters:
    ///   - id: the request's id, also where its head is not to be had.
    ///   - head: nil where the head was broken or never whole.
    /// - Returns: a response with its body in memory.
    func problem(_ problem: HTTPProblem, id: String, head: RequestHead?) -> Response

    /// A request has ended, answered or not: once for each, after everything else.
    func finished(_ record: AccessRecord)
}

/// What became of one request.
package struct AccessRecord: Sendable {
    package let id: String
    /// Nil where the head was broken or never whole.
    package let head: RequestHead?
    /// Nil where no answer was begun.
    package let status: Int?
    /// Whether the whole answer was handed to the kernel; false where the client left or was too slow.
    package let isComplete: Bool
    /// Bytes of the body that came.
    package let bytesIn: Int
    /// Bytes of the answer's body, where it is complete and has one on the wire; else 0.
    package let bytesOut: Int
    /// From the request line to the end of the body; nil where that never came.
    package let uploadUs: Int?
    /// From the request line to the end.
    package let durationUs: Int
    /// The `note` of the answer that was begun.
    package let note: (any Sendable)?
}
