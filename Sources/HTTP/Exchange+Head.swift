import CMicroHTTPD
import Posix

/// What libmicrohttpd has parsed of a request's head; good for the length of a call.
struct RawHead {
    let method: String
    /// HTTP/1.1 or a later HTTP/1.
    let isHTTP11: Bool
    /// From the target's first byte to the version's: one more than the target's length, unless a NUL hides in there.
    let targetSpan: Int
    let connection: OpaquePointer
}

// What is made of a head.
extension Exchange {
    struct Judged {
        let judgement: StateMachine.Judgement
        let id: String
        let head: RequestHead?
        /// The answer, where the judgement refuses.
        let refusal: Response?
        /// Where the body may come: room for it, as far as its length is known, and the handler's permit.
        var hold: BodyBudget.Hold?
        var permit: (any Sendable)?
    }

    /// Applies the rules of HTTP, then asks the handler.
    func judge(_ raw: RawHead, target: [UInt8]) -> Judged {
        let headers: HeaderFields
        let framing: BodyFraming
        do throws(HTTPProblem) {
            headers = try Self.fields(of: raw.connection)
            framing = try BodyFraming(
                headers, transferEncodingAsSeen: Self.transferEncoding(of: raw.connection), isHTTP11: raw.isHTTP11)
        } catch {
            let id = RequestHead.newID()
            return Judged(
                judgement: .refuseUnframed, id: id, head: nil, refusal: hub.handler.problem(error, id: id, head: nil))
        }

        let id = RequestHead.requestID(headers)
        let asks = Asks(framing: framing, expectsContinue: RequestHead.expectsContinue(headers, isHTTP11: raw.isHTTP11))
        let head: RequestHead
        do throws(HTTPProblem) {
            head = try Self.head(raw, target: target, headers, framing, id: id)
        } catch {
            return refused(hub.handler.problem(error, id: id, head: nil), id: id, head: nil, asks)
        }
        return admit(head, asks)
    }

    /// What holds of a request whatever becomes of it.
    private struct Asks {
        let framing: BodyFraming
        let expectsContinue: Bool
    }

    /// The rules of the request line and of `Host`.
    private static func head(
        _ raw: RawHead, target: [UInt8], _ headers: HeaderFields, _ framing: BodyFraming, id: String
    ) throws(HTTPProblem) -> RequestHead {
        try RequestHead.checkHost(headers, isHTTP11: raw.isHTTP11)
        guard !raw.method.isEmpty, raw.method.utf8.allSatisfy(isTokenByte) else {
            throw .badRequest(reason: "the method holds a character that is not allowed there")
        }
        guard raw.targetSpan == target.count + 1 else {
            throw .badRequest(reason: "the request line holds a NUL or blanks too many")
        }
        let method = Method(raw.method)
        return RequestHead(
            method: method, target: try RequestTarget(target, method: method), headers: headers, framing: framing,
            id: id)
    }

    /// Asks the handler, and finds room for the body.
    private func admit(_ head: RequestHead, _ asks: Asks) -> Judged {
        func refused(_ problem: HTTPProblem) -> Judged {
            self.refused(hub.handler.problem(problem, id: head.id, head: head), id: head.id, head: head, asks)
        }
        if hub.isStopping { return refused(.stopping) }
        switch hub.handler.begin(head) {
        case .refuse(let response): return self.refused(response, id: head.id, head: head, asks)
        case .accept(let limit, let permit):
            if let declared = head.contentLength, declared > limit {
                return refused(.bodyTooLarge(limit: limit, declared: declared))
            }
            let nowMs = Clock.monotonicMs()
            guard !asks.framing.hasBody || hub.makeRoomForBody(nowMs: nowMs) else { return refused(.receivingFull) }
            guard let hold = hub.holdBody(head.contentLength ?? 0, nowMs: nowMs) else { return refused(.bodiesFull) }
            return Judged(
                judgement: .accept(bodyBytesMax: limit), id: head.id, head: head, refusal: nil, hold: hold,
                permit: permit)
        }
    }

    private func refused(_ response: Response, id: String, head: RequestHead?, _ asks: Asks) -> Judged {
        precondition(response.body.isInMemory, "an early answer has its body in memory")
        return Judged(
            judgement: .refuse(asks.framing, expectsContinue: asks.expectsContinue), id: id, head: head,
            refusal: response)
    }

    private static func fields(of connection: OpaquePointer) throws(HTTPProblem) -> HeaderFields {
        struct Collected {
            var headers = HeaderFields()
            var problem: HTTPProblem?
        }
        var collected = Collected()
        withUnsafeMutablePointer(to: &collected) { collected in
            _ = MHD_get_connection_values_n(
                connection, .HEADER_KIND,
                { context, _, name, nameCount, value, valueCount in
                    guard let collected = context?.assumingMemoryBound(to: Collected.self) else { return .NO }
                    do throws(HTTPProblem) {
                        try collected.pointee.headers.append(
                            name: UnsafeRawBufferPointer(start: name, count: name == nil ? 0 : nameCount),
                            value: UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : valueCount))
                        return .YES
                    } catch {
                        collected.pointee.problem = error
                        return .NO
                    }
                }, collected)
        }
        if let problem = collected.problem { throw problem }
        return collected.headers
    }

    private static func transferEncoding(of connection: OpaquePointer) -> String? {
        MHD_lookup_connection_value(connection, .HEADER_KIND, "Transfer-Encoding").map { String(cString: $0) }
    }
}
