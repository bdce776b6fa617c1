/// A request without its body: what the handler decides by whether the body may come.
package struct RequestHead: Sendable {
    package let method: Method
    /// The path and the query, decoded.
    package let target: RequestTarget
    /// In the order in which they came.
    package let headers: HeaderFields
    /// Where the body ends.
    package let framing: BodyFraming
    /// Names the request in answers and logs: the client's X-Request-Id where that is sane, else 128 random bits in
    /// hex.
    package let id: String

    package var path: [String] { target.path }
    package var query: [RequestTarget.Parameter] { target.query }

    /// The body's length where it was declared; nil for a body in chunks, and without a body.
    package var contentLength: Int? {
        if case .length(let count) = framing { count } else { nil }
    }

    /// Whether the client waits for `100 Continue` before it sends the body (RFC 9110, section 10.1.1).
    static func expectsContinue(_ headers: HeaderFields, isHTTP11: Bool) -> Bool {
        isHTTP11 && headers["expect"]?.lowercased() == "100-continue"
    }

    /// RFC 9112, section 3.2: HTTP/1.1 has exactly one Host, and nothing in it but a host and a port.
    static func checkHost(_ headers: HeaderFields, isHTTP11: Bool) throws(HTTPProblem) {
        let hosts = headers.values("host")
        guard hosts.count <= 1 else { throw .badRequest(reason: "there is more than one Host header") }
        guard let host = hosts.first else {
            if isHTTP11 { throw .badRequest(reason: "the Host header is missing") }
            return
        }
        guard host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !",/?#@\\".utf8.contains($0) }) else {
            throw .badRequest(reason: "the Host header is not a host and a port")
        }
    }

    /// The client's X-Request-Id where it is 1 to 128 of `A-Z a-z 0-9 . _ -`, else a new one.
    static func requestID(_ headers: HeaderFields) -> String {
        let given = headers.values("x-request-id")
        if given.count == 1, isSaneID(given[0]) { return given[0] }
        return newID()
    }

    /// 128 random bits as 32 hex digits.
    static func newID() -> String {
        var generator = SystemRandomNumberGenerator()
        return [generator.next(), generator.next()].map { (bits: UInt64) in
            let digits = String(bits, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    private static func isSaneID(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
