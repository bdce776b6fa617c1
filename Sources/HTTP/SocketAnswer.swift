import CMicroHTTPD
import Core

/// An answer that goes to the socket past libmicrohttpd, which can queue none while a head or body is coming.
///
/// It is sound because libmicrohttpd writes nothing then: all earlier answers have left it, and what it could still
/// write, a late `100 Continue`, fails on the side that is shut afterwards.
struct SocketAnswer {
    let bytes: [UInt8]

    /// An interim answer, which says nothing: every client reads past any number of them (RFC 9110, section 15.2).
    static let interim = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    /// Nil where the response's body is a file.
    init?(_ response: Response, method: Method?, nowMs: Int64) {
        var head = "HTTP/1.1 \(response.status) \(Self.reason(response.status))\r\n"
        head += "Date: \(UTCTime(milliseconds: nowMs).httpDate)\r\nConnection: close\r\n"
        head += "Content-Length: \(response.body.count)\r\n"
        for field in response.headers where !["connection", "content-length"].contains(field.name.lowercased()) {
            head += "\(field.name): \(field.value)\r\n"
        }
        let sendsBody = Response.sendsBody(status: response.status, to: method)
        switch response.body {
        case .bytes(let body) where sendsBody: bytes = Array((head + "\r\n").utf8) + body
        case .bytes, .empty: bytes = Array((head + "\r\n").utf8)
        case .file: return nil
        }
    }

    /// Sends all of it without waiting, and shuts our side.
    ///
    /// - Returns: whether all of it went; a socket whose buffer has no room for this little belongs to a peer that does
    ///   not read.
    func send(on socket: Int32) -> Bool {
        let isSent = SocketCalls.sendAtOnce(bytes, on: socket)
        SocketCalls.shutSending(socket)
        return isSent
    }

    private static func reason(_ status: Int) -> String {
        String(cString: MHD_get_reason_phrase_for(UInt32(status)))
    }
}
