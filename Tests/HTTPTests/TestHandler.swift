import Foundation
import HTTP
import Posix
import Support
import Synchronization

/// A service for the tests. Paths:
/// - `/echo`: the body back; `/count`: its length as text
/// - `/hello`: `hello`; `/see`: what the server made of the head, one fact a line
/// - `/later?ms=N`: `later` from another thread; `/hold`: nothing until `release`; `/twice`: two replies
/// - `/known?count=N`: 304 instead of so many zeros
/// - `/keep`: 200, and the body is kept until `forget`
/// - `/zeros?count=N`: so many zeros from a file; `/starve`: likewise, and the process may open nothing more
/// - `/broken?value=V`: a header field that cannot be sent
/// - `/refuse`: 401 before the body; `/broken-refusal?value=V`: likewise, with such a field
final class TestHandler: Handler {
    private struct State {
        var held: [@Sendable (Response) -> Void] = []
        var records: [AccessRecord] = []
        var handledCount = 0
        var kept: [SealedFile?] = []
        var clients: [Requester] = []
    }

    /// Counts itself for as long as somebody has it.
    private final class Permit: Sendable {
        private let count: Counter

        init(_ count: Counter) {
            self.count = count
            count.value.add(1, ordering: .relaxed)
        }

        deinit { count.value.subtract(1, ordering: .relaxed) }
    }

    private final class Counter: Sendable {
        let value = Atomic(0)
    }

    private let permits = Counter()

    private let state = Mutex(State())
    let bodyBytesMax: Int

    init(bodyBytesMax: Int = 1 << 20) { self.bodyBytesMax = bodyBytesMax }

    var records: [AccessRecord] { state.withLock { $0.records } }
    var heldCount: Int { state.withLock { $0.held.count } }
    var handledCount: Int { state.withLock { $0.handledCount } }
    /// Requests that were accepted and are not over.
    var permitCount: Int { permits.value.load(ordering: .relaxed) }
    /// Those who have asked so far.
    var clients: [Requester] { state.withLock { $0.clients } }

    /// Lets go of the bodies that were kept.
    func forget() {
        let kept = state.withLock { state in
            defer { state.kept = [] }
            return state.kept
        }
        precondition(!kept.isEmpty)
    }

    /// Replies to all that were held.
    func release(_ response: Response = Response(status: 200, body: .bytes(Array("released".utf8)))) {
        let held = state.withLock { state in
            defer { state.held = [] }
            return state.held
        }
        for reply in held { reply(response) }
    }

    func begin(_ head: RequestHead) -> Verdict {
        switch head.path.first {
        case "refuse": .refuse(text("refused", 401))
        case "broken-refusal": .refuse(broken(head))
        default: .accept(bodyBytesMax: bodyBytesMax, permit: Permit(permits))
        }
    }

    func handle(_ request: Request, reply: @escaping @Sendable (Response) -> Void) {
        state.withLock { state in
            state.handledCount += 1
            state.clients.append(request.client)
        }
        let head = request.head
        func number(_ name: String) -> Int { head.query.first { $0.name == name }.flatMap { Int($0.value) } ?? 0 }
        switch head.path.first {
        case "hello": reply(text("hello"))
        case "see": reply(text(describe(head)))
        case "count": reply(text("\(request.body?.count ?? 0)"))
        case "echo": reply(Response(status: 200, body: request.body.map { .file(FileBody($0)) } ?? .empty))
        case "later":
            let ms = number("ms")
            Thread.detachNewThread {
                usleep(UInt32(ms * 1000))
                reply(Response(status: 200, body: .bytes(Array("later".utf8))))
            }
        case "hold": state.withLock { $0.held.append(reply) }
        case "keep":
            state.withLock { $0.kept.append(request.body) }
            reply(text("kept"))
        case "twice":
            reply(text("first"))
            reply(text("second"))
        case "zeros": reply(zeros(number("count")))
        case "known":
            var response = zeros(number("count"))
            response.status = 304
            reply(response)
        case "starve":
            let response = zeros(5)
            // Not a limit of none at all: poll(2) refuses to look at more descriptors than there may be.
            var few = rlimit(rlim_cur: 256, rlim_max: 256)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &few)
            while dup(STDIN_FILENO) >= 0 {}
            reply(response)
        case "broken": reply(broken(head))
        default: reply(text("nothing here", 404))
        }
    }

    func problem(_ problem: HTTPProblem, id: String, head: RequestHead?) -> Response {
        text("\(problem)", status(of: problem))
    }

    private func status(of problem: HTTPProblem) -> Int {
        switch problem {
        case .badRequest: 400
        case .bodyTooLarge: 413
        case .uploadTimeout: 408
        case .stopping, .noMemory, .bodiesFull, .receivingFull, .answersFull: 503
        case .internalError: 500
        }
    }

    func finished(_ record: AccessRecord) { state.withLock { $0.records.append(record) } }

    private func broken(_ head: RequestHead) -> Response {
        Response(status: 200, headers: [("X-Bad", head.query.first?.value ?? "")])
    }

    private func text(_ text: String, _ status: Int = 200) -> Response {
        Response(status: status, headers: [("Content-Type", "text/plain")], body: .bytes(Array(text.utf8)))
    }

    private func zeros(_ count: Int) -> Response {
        guard let file = try? Descriptor.open("/dev/shm", O_TMPFILE_RDWR, mode: 0o600), ftruncate(file.raw, count) == 0
        else { return text("no file", 500) }
        return Response(status: 200, body: .file(FileBody(adopting: file, count: count)))
    }

    private func describe(_ head: RequestHead) -> String {
        var lines = ["method \(head.method)", "path \(head.path)"]
        lines += head.query.map { "query \($0.name)=\($0.value)" }
        lines += head.headers.fields.map { "header \($0.name): \($0.value)" }
        lines += ["length \(head.contentLength.map(String.init) ?? "-")", "id \(head.id)"]
        return lines.joined(separator: "\n")
    }
}

/// O_TMPFILE | O_RDWR, a macro of several that Swift does not import.
private let O_TMPFILE_RDWR: Int32 = 0o20_200_000 | O_RDWR

/// A server on a port of its own, stopped at the end of `body`.
func withServer<Result>(
    _ handler: TestHandler = TestHandler(), configure: (inout Configuration) -> Void = { _ in },
    _ body: (Server) throws -> Result
) throws -> Result {
    guard let address = ListenAddress("127.0.0.1:0") else { preconditionFailure("a good address") }
    var configuration = Configuration(listen: address)
    configuration.watchIntervalMs = 20
    configuration.missedEndMs = 200
    configure(&configuration)
    let server = try Server.starting(configuration, handler: handler)
    defer { _ = server.stop(graceMs: 1000) }
    return try body(server)
}

/// One request on a connection of its own.
func ask(_ server: Server, _ request: String, isToHead: Bool = false) throws -> RawResponse {
    let socket = try RawSocket(port: server.port)
    try socket.send(request)
    return try socket.readResponse(isToHead: isToHead)
}

/// Waits up to five seconds.
func eventually(_ condition: () -> Bool) -> Bool {
    for _ in 0..<1000 {
        if condition() { return true }
        usleep(5000)
    }
    return condition()
}
