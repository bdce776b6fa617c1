/// How a request's body ends (RFC 9112, section 6). A request about which two readers could differ is refused.
package enum BodyFraming: Sendable, Equatable {
    case none
    case length(Int)
    case chunked

    var hasBody: Bool {
        switch self {
        case .none, .length(0): false
        case .length, .chunked: true
        }
    }

    /// - Parameter transferEncodingAsSeen: the value libmicrohttpd itself goes by, blanks and all.
    /// - Throws: `.badRequest` for a Content-Length that is given twice, even equal, or is no number; for
    ///   Content-Length beside Transfer-Encoding; for any Transfer-Encoding but `chunked`, and for it in HTTP/1.0.
    init(_ headers: HeaderFields, transferEncodingAsSeen: String?, isHTTP11: Bool) throws(HTTPProblem) {
        let lengths = headers.values("content-length")
        let encodings = headers.values("transfer-encoding")
        guard lengths.count <= 1, encodings.count <= 1, lengths.isEmpty || encodings.isEmpty else {
            throw .badRequest(reason: "the length of the body is given more than once")
        }
        if let encoding = transferEncodingAsSeen {
            guard encoding.lowercased() == "chunked" else {
                throw .badRequest(reason: "the only Transfer-Encoding understood here is chunked")
            }
            guard isHTTP11 else { throw .badRequest(reason: "HTTP/1.0 has no Transfer-Encoding") }
            self = .chunked
        } else if let length = lengths.first {
            guard !length.isEmpty, length.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let count = Int(length) else {
                throw .badRequest(reason: "the Content-Length is not a number")
            }
            self = .length(count)
        } else {
            self = .none
        }
    }
}
