package import Posix

/// An answer. The server itself adds Date, Content-Length, Connection and, where it is missing, X-Request-Id.
package struct Response: Sendable {
    /// Where the bytes are.
    package enum Body: Sendable {
        case empty
        case bytes([UInt8])
        case file(FileBody)

        var isInMemory: Bool { if case .file = self { false } else { true } }

        /// What it holds in memory beyond this process's own.
        var heldBytes: Int { if case .file(let file) = self { file.heldBytes } else { 0 } }

        /// How many bytes it has.
        package var count: Int {
            switch self {
            case .empty: 0
            case .bytes(let bytes): bytes.count
            case .file(let file): file.count
            }
        }
    }

    /// A header field.
    package struct Field: Sendable, Equatable {
        package let name: String
        package let value: String
    }

    package var status: Int
    package var headers: [Field]
    package var body: Body
    /// What the handler wants to find again in the request's `AccessRecord`; nothing of it is sent.
    package var note: (any Sendable)?

    /// Called, on the thread that replies, where nobody gets this answer: the client has gone, or was given another one
    /// in the meantime. What was done for it can be undone.
    package var whenUnsent: (@Sendable () -> Void)?

    /// - Parameter body: answers GET and HEAD alike; for HEAD, and with 304, its length is told and its bytes stay here.
    package init(status: Int, headers: [(String, String)] = [], body: Body = .empty) {
        precondition((200...599).contains(status), "a final status of HTTP")
        self.status = status
        self.headers = headers.map { Field(name: $0.0, value: $0.1) }
        self.body = body
    }

    /// Whether the bytes of a body go over the wire (RFC 9112, section 6.3).
    static func sendsBody(status: Int, to method: Method?) -> Bool { method != .head && status != 304 }

    /// Whether each header field is one line with a token before the colon and something behind it (libmicrohttpd sends
    /// no empty value, and no tab in one).
    var isWellFormed: Bool {
        headers.allSatisfy { field in
            !field.name.isEmpty && field.name.utf8.allSatisfy(isTokenByte)
                && !field.value.isEmpty && field.value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        }
    }

    /// This response with a header field more, unless it already has one of that name.
    func addingIfMissing(_ name: String, _ value: String) -> Response {
        if headers.contains(where: { $0.name.lowercased() == name.lowercased() }) { return self }
        var result = self
        result.headers.append(Field(name: name, value: value))
        return result
    }
}

/// A file as a response's body; the kernel copies it to the socket.
package final class FileBody: Sendable {
    private enum Source: ~Copyable, Sendable {
        case owned(Descriptor)
        case sealed(SealedFile)
    }

    private let source: Source
    package let count: Int

    /// For a file that is at hand, so that no thread waits for a disk while it is sent, or one of which only the length is
    /// told.
    ///
    /// - Parameter count: the file must have as many bytes, else the connection breaks off in the middle.
    package init(adopting descriptor: consuming Descriptor, count: Int) {
        precondition(count >= 0)
        source = .owned(descriptor)
        self.count = count
    }

    package init(_ file: SealedFile) {
        source = .sealed(file)
        count = file.count
    }

    /// What it holds in memory as long as it is there: all of a sealed file, nothing of one on a disk.
    var heldBytes: Int {
        switch source {
        case .owned: 0
        case .sealed(let file): file.count
        }
    }

    /// A descriptor of the file for one sending.
    func duplicate() throws(PosixError) -> Descriptor {
        switch source {
        case .owned(let descriptor): try descriptor.duplicate()
        case .sealed(let file): try file.descriptor.duplicate()
        }
    }
}
