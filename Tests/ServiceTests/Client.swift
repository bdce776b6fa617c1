import Core
import Foundation
import Posix
import Service
import Support
import Synchronization
import Testing

@testable import HTTP

/// How a test reaches the service: by its handler alone, or by a socket with curl at the other end.
enum Transport: CaseIterable, Sendable {
    case direct, live
}

/// What came back.
struct Answer: Sendable {
    let status: Int
    let headers: [(name: String, value: String)]
    let body: [UInt8]

    subscript(name: String) -> String? { headers.first { $0.name.lowercased() == name.lowercased() }?.value }

    var text: String { String(decoding: body, as: UTF8.self) }

    func json() throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any])
    }

    /// The code of a problem, after a look at its other members.
    func problemCode() throws -> String? {
        let problem = try json()
        #expect(self["Content-Type"] == "application/problem+json")
        #expect(Set(problem.keys) == ["type", "title", "status", "code", "detail", "request_id"])
        #expect(problem["status"] as? Int == status)
        #expect((problem["detail"] as? String)?.isEmpty == false)
        #expect(problem["request_id"] as? String == self["X-Request-Id"])
        return problem["code"] as? String
    }
}

protocol Client: Sendable {
    func send(_ method: String, _ target: String, headers: [(String, String)], body: [UInt8]?) throws -> Answer
    func close()
}

/// Calls the handler as the server does.
struct DirectClient: Client {
    let service: ImageService

    func send(_ method: String, _ target: String, headers: [(String, String)], body: [UInt8]?) throws -> Answer {
        let method = Method(method)
        var fields = HeaderFields()
        for (name, value) in headers { try fields.append(name: name.utf8, value: value.utf8) }
        let head = RequestHead(
            method: method, target: try RequestTarget(Array(target.utf8), method: method), headers: fields,
            framing: body.map { .length($0.count) } ?? .none, id: RequestHead.requestID(fields))
        let response: Response
        switch service.begin(head) {
        case .refuse(let refusal): response = refusal
        case .accept(let bytesMax, let permit):
            if let body, body.count > bytesMax {
                response = service.problem(
                    .bodyTooLarge(limit: bytesMax, declared: body.count), id: head.id, head: head)
            } else {
                response = try handle(head, body, permit)
            }
        }
        service.finished(
            AccessRecord(
                id: head.id, head: head, status: response.status, isComplete: true, bytesIn: body?.count ?? 0,
                bytesOut: response.body.count, uploadUs: 500, durationUs: 1000, note: response.note))
        return Answer(
            status: response.status,
            headers: response.addingIfMissing("X-Request-Id", head.id)
                .addingIfMissing("Content-Length", String(response.body.count)).headers.map { ($0.name, $0.value) },
            body: Response.sendsBody(status: response.status, to: method) ? try bytes(of: response.body) : [])
    }

    func close() {}

    private func handle(_ head: RequestHead, _ body: [UInt8]?, _ permit: (any Sendable)?) throws -> Response {
        let file = try body.flatMap { $0.isEmpty ? nil : try SealedFile.holding($0, name: "body") }
        let answer = Mutex<Response?>(nil)
        let isThere = DispatchSemaphore(value: 0)
        service.handle(Request(head: head, body: file, permit: permit)) { response in
            answer.withLock { $0 = response }
            isThere.signal()
        }
        #expect(isThere.wait(timeout: .now() + 20) == .success)
        return try #require(answer.withLock { $0 })
    }

    private func bytes(of body: Response.Body) throws -> [UInt8] {
        switch body {
        case .empty: return []
        case .bytes(let bytes): return bytes
        case .file(let file):
            let descriptor = try file.duplicate()
            var bytes = [UInt8](repeating: 0, count: file.count)
            let got = pread(descriptor.raw, &bytes, bytes.count, 0)
            try #require(got == file.count)
            return bytes
        }
    }
}

/// Serves on a port of the system's choice and asks with curl.
struct LiveClient: Client {
    private let server: Server

    var port: UInt16 { server.port }

    init(service: ImageService) throws {
        let address = try #require(ListenAddress("127.0.0.1:0"))
        server = try Server.starting(HTTP.Configuration(listen: address), handler: service)
    }

    func send(_ method: String, _ target: String, headers: [(String, String)], body: [UInt8]?) throws -> Answer {
        let folder = try ScratchFolder()
        var arguments = [
            "curl", "--silent", "--show-error", "--http1.1", "--path-as-is", "--max-time", "20", "--noproxy", "*",
            "--dump-header", folder.path + "/head", "--output", folder.path + "/body", "--header", "Accept:",
        ]
        arguments += method == "HEAD" ? ["--head"] : ["--request", method]
        // Without a type of its own curl says application/x-www-form-urlencoded: any will do.
        if body != nil { arguments += ["--data-binary", "@-"] }
        for (name, value) in headers { arguments += ["--header", "\(name): \(value)"] }
        arguments.append("http://127.0.0.1:\(server.port)\(target)")
        let outcome = try Tool.run(arguments, input: body ?? [])
        #expect(outcome.status == 0, "\(outcome.complaint)")
        let lines =
            String(decoding: try folder.read("head"), as: UTF8.self)
            .components(separatedBy: "\r\n\r\n").last { !$0.isEmpty }?.components(separatedBy: "\r\n") ?? []
        let status = try #require(lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) })
        let fields = lines.dropFirst().compactMap { line in
            line.range(of: ": ").map { (String(line[..<$0.lowerBound]), String(line[$0.upperBound...])) }
        }
        // curl makes no file where there is no body; for HEAD it writes the header there.
        let content = method == "HEAD" ? [] : (try? folder.read("body")) ?? []
        return Answer(status: status, headers: fields.map { (name: $0.0, value: $0.1) }, body: content)
    }

    func close() { _ = server.stop(graceMs: 1000) }
}
