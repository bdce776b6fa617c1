import Core
import Foundation
import Storage
import Support
import Testing

@testable import HTTP
@testable import Service

@Suite struct OperationsTests {
    @Test(arguments: Transport.allCases) func lives(transport: Transport) throws {
        let world = try World(transport)
        let answer = try world.send("GET", "/healthz?verbose=1")
        #expect(answer.status == 200)
        #expect(answer.text == #"{"status":"ok"}"#)
        #expect(try world.send("HEAD", "/healthz").status == 200)
    }

    @Test(arguments: Transport.allCases) func isReadyWhileUploadsCanBeServed(transport: Transport) throws {
        let world = try World(transport, bytesMax: 10)
        let ready = try world.send("GET", "/readyz")
        #expect(ready.status == 200)
        #expect(ready.text == #"{"status":"ready"}"#)

        for fault in [StoreError.full(diagnosis: "df"), .unavailable(diagnosis: "ro")] {
            world.faulty.breakDown(fault)
            let answer = try world.send("GET", "/readyz")
            #expect(answer.status == 503)
            #expect(try answer.problemCode() == "storage_unavailable")
        }
        world.faulty.breakDown(nil)
        #expect(try world.send("GET", "/readyz").status == 200)

        world.runner.becomeUnready()
        let cold = try world.send("GET", "/readyz")
        #expect(cold.status == 503)
        #expect(try cold.problemCode() == "busy")
    }

    @Test(arguments: Transport.allCases) func showsItsContract(transport: Transport) throws {
        let world = try World(transport)
        let answer = try world.send("GET", "/openapi.yaml")
        #expect(answer.status == 200)
        #expect(answer["Content-Type"] == "application/yaml")
        #expect(answer.body == Array(try Data(contentsOf: Repository.file("openapi.yaml"))))
        let front = try world.send("GET", "/")
        #expect(front.status == 200)
        #expect(front.text == #"{"contract":"/openapi.yaml","service":"safelight","version":"0.1.0"}"#)
    }

    @Test(
        arguments: Transport.allCases,
        [
            ("GET", "/v1/images", "POST"), ("PUT", "/v1/images", "POST"), ("GET", "/v1/convert", "POST"),
            ("POST", "/v1/images/20261130T172233123Z-00000000000000000000000011.jpg", "GET, HEAD, DELETE"),
            ("POST", "/v1/images/x", "GET, HEAD, DELETE"), ("DELETE", "/healthz", "GET, HEAD"),
            ("OPTIONS", "/", "GET, HEAD"), ("get", "/readyz", "GET, HEAD"),
        ]) func namesTheMethods(transport: Transport, expected: (method: String, target: String, allow: String)) throws
    {
        let world = try World(transport)
        let answer = try world.send(expected.method, expected.target)
        #expect(answer.status == 405)
        #expect(answer["Allow"] == expected.allow)
        #expect(try answer.problemCode() == "method_not_allowed")
    }

    @Test(arguments: Transport.allCases) func answersUnderTheCallersName(transport: Transport) throws {
        let world = try World(transport)
        let named = try world.send("GET", "/nothing", headers: [("X-Request-Id", "upload-41")])
        #expect(named["X-Request-Id"] == "upload-41")
        #expect(try named.problemCode() == "not_found")
        for path in ["/v1/images", "/v1/convert", "/healthz"] {
            #expect(try world.send("POST", path + "/").text.contains("did you mean \(path)?"))
        }
        let insane = try world.send("GET", "/nothing", headers: [("X-Request-Id", "a b")])
        #expect(insane["X-Request-Id"] != "a b")
        #expect(try insane.problemCode() == "not_found")
    }

    /// What the server refuses by itself has the same form, and the status of its kind.
    @Test(arguments: [
        (HTTPProblem.badRequest(reason: "two lengths"), 400, "bad_request", "two lengths"),
        (.bodyTooLarge(limit: 10, declared: nil), 413, "body_too_large", "the body is over the limit of 10 bytes"),
        (
            .uploadTimeout(headMs: 10_000, bytesPerSecondMin: 16_384, bodyMs: 900_000), 408, "upload_timeout",
            "the request came too slowly: its head must be there within 10000 ms, and its body come at 16384 bytes a "
                + "second or more and within 900 s"
        ),
        (.stopping, 503, "stopping", "the service is stopping"),
        (.bodiesFull, 503, "busy", "other uploads hold all the memory that there is for them"),
        (.answersFull, 503, "busy", "answers to others hold all the memory that there is for them"),
        (.noMemory, 503, "busy", "there is no room for this request now"),
        (.internalError, 500, "internal_error", "the answer could not be sent"),
    ]) func wordsTheServersProblems(problem: HTTPProblem, status: Int, code: String, detail: String) throws {
        let world = try World(.direct)
        let response = world.service.problem(problem, id: "7", head: nil)
        #expect(response.status == status)
        guard case .bytes(let body) = response.body else {
            Issue.record("its body is in memory")
            return
        }
        let members = try #require(try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any])
        #expect(members["code"] as? String == code)
        #expect(members["detail"] as? String == detail)
        #expect(members["request_id"] as? String == "7")
    }

    /// Golden by hand: one whole problem.
    @Test func writesAProblem() throws {
        let world = try World(.direct)
        let answer = try world.send(
            "POST", "/v1/images?quality=0", headers: [("X-Request-Id", "r1")], body: world.jpeg)
        #expect(
            answer.text == """
                {"code":"bad_parameter","detail":"quality='0' is not allowed; allowed is a whole number from 1 to 100",\
                "request_id":"r1","status":400,"title":"Bad Request","type":"about:blank"}
                """)
    }

    @Test func givesEveryFailureAStatusAndATitle() {
        for code in Failure.Code.allCases {
            let problem = Problem(Failure(code, "x"), requestID: "1")
            #expect((400...599).contains(problem.status))
            #expect((problem.title == "Internal Server Error") == (problem.status == 500), "\(code)")
            #expect((code.retryAfterSeconds != nil) == (problem.status == 503), "\(code)")
        }
    }
}
