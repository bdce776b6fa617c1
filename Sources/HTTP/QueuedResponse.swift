import CMicroHTTPD
import Posix

/// Owns an MHD_Response: a response in the form that libmicrohttpd sends.
///
/// Sendable, for it has one owner at a time, and libmicrohttpd lets a response be made on one thread, be queued on
/// another and be released on any: its counter of references has a lock of its own.
struct QueuedResponse: ~Copyable, @unchecked Sendable {
    let status: Int
    /// Of the body.
    let count: Int
    let note: (any Sendable)?
    private let raw: OpaquePointer

    private init(adopting raw: OpaquePointer, of response: Response) {
        self.raw = raw
        status = response.status
        count = response.body.count
        note = response.note
    }

    /// Drops our reference; libmicrohttpd holds its own while it sends.
    deinit { MHD_destroy_response(raw) }

    /// Nil where no descriptor or memory is left for it.
    ///
    /// - Parameter response: well-formed, else nil too.
    static func make(_ response: Response) -> QueuedResponse? {
        guard let raw = body(response.body) else { return nil }
        let queued = QueuedResponse(adopting: raw, of: response)
        for field in response.headers {
            guard MHD_add_response_header(raw, field.name, field.value) == .YES else { return nil }
        }
        return queued
    }

    /// - Returns: whether libmicrohttpd took it.
    borrowing func queue(on connection: OpaquePointer) -> Bool {
        MHD_queue_response(connection, UInt32(status), raw) == .YES
    }

    private static func body(_ body: Response.Body) -> OpaquePointer? {
        switch body {
        case .file(let file) where file.count > 0:
            guard let descriptor = try? file.duplicate() else { return nil }
            let raw = descriptor.release()
            let response = MHD_create_response_from_fd64(UInt64(file.count), raw)
            // On success it is libmicrohttpd that closes the descriptor.
            if response == nil { _ = Descriptor(adopting: raw) }
            return response
        case .bytes(var bytes):
            // Copied at once, so the array may go; the parameter is mutable for historical reasons only.
            return MHD_create_response_from_buffer(bytes.count, &bytes, .RESPMEM_MUST_COPY)
        case .empty, .file:
            return MHD_create_response_from_buffer(0, nil, .RESPMEM_PERSISTENT)
        }
    }
}
