import Foundation
import HTTP
import Support
import Testing

@Suite struct RequestTests {
    @Test func answersWithTheUsualFields() throws {
        try withServer { server throws in
            let response = try ask(server, "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(response.status == 200)
            #expect(response.text == "hello")
            #expect(response["content-type"] == "text/plain")
            #expect(response["content-length"] == "5")
            #expect(response["date"]?.hasSuffix(" GMT") == true)
            #expect(response["server"] == nil)
            let id = try #require(response["x-request-id"])
            #expect(id.utf8.count == 32)
            #expect(try ask(server, "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")["x-request-id"] != id)
        }
    }

    @Test func takesOverSaneRequestIDsOnly() throws {
        try withServer { server throws in
            func id(_ given: String) throws -> String? {
                try ask(server, "GET /hello HTTP/1.1\r\nHost: a\r\nX-Request-Id: \(given)\r\n\r\n")["x-request-id"]
            }
            #expect(try id("a.B_9-z") == "a.B_9-z")
            let longest = String(repeating: "x", count: 128)
            #expect(try id(longest) == longest)
            for bad in ["", longest + "x", "a b", "a/b", "ä", "a\"b"] { #expect(try id(bad)?.utf8.count == 32) }
            #expect(try id("one\r\nX-Request-Id: two")?.utf8.count == 32)
        }
    }

    @Test func seesTargetAndHeadersAsTheyAre() throws {
        try withServer { server throws in
            let response = try ask(
                server,
                "GET /see/a%2fb/%C3%A4//?q=1&q=2&plus=a+b%2B&bare&e= HTTP/1.1\r\nHost: a:80\r\nX-Two:  one two \t\r\n\r\n"
            )
            let lines = response.text.split(separator: "\n").map(String.init)
            #expect(lines.contains(#"path ["see", "a/b", "ä", "", ""]"#))
            #expect(
                lines.filter { $0.hasPrefix("query") }
                    == ["query q=1", "query q=2", "query plus=a b+", "query bare=", "query e="])
            #expect(lines.contains("header x-two: one two"))
        }
    }

    @Test func takesAbsoluteForm() throws {
        try withServer { server throws in
            let response = try ask(server, "GET http://example.org:80/see?a=b HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(response.text.contains(#"path ["see"]"#))
            #expect(response.text.contains("query a=b"))
        }
    }

    @Test(arguments: [
        "GET /a%00b HTTP/1.1\r\nHost: a\r\n\r\n", "GET /a%zz HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /a% HTTP/1.1\r\nHost: a\r\n\r\n", "GET /a?x=%4 HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /a?x=%00 HTTP/1.1\r\nHost: a\r\n\r\n", "GET /%ff HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /h\u{e4}llo HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n", "GET hello HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET ftp://a/hello HTTP/1.1\r\nHost: a\r\n\r\n", "GET * HTTP/1.1\r\nHost: a\r\n\r\n",
        "G(T /hello HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /hello HTTP/1.1\r\n\r\n", "GET /hello HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
        "GET /hello HTTP/1.1\r\nHost: a b\r\n\r\n", "GET /hello HTTP/1.1\r\nHost: a,b\r\n\r\n",
        "GET /hello HTTP/1.1\r\nHost : a\r\n\r\n", "GET /hello HTTP/1.1\r\nHost: a\r\nX Y: b\r\n\r\n",
        "GET /hello HTTP/1.1\r\nHost: a\r\nX-\u{7f}: b\r\n\r\n",
        "GET /hello HTTP/1.1\r\nHost: a\r\nX-A: b\u{1}c\r\n\r\n", "GET /hello HTTP/1.1\r\nHost: a\r\nX-A: b\rc\r\n\r\n",
        "GET /hello HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nab",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2, 2\r\n\r\nab",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: +2\r\n\r\nab",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 0x2\r\n\r\nab",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length : 2\r\n\r\nab",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /echo HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ]) func refusesWithOne400(request: String) throws {
        let handler = TestHandler()
        try withServer(handler) { server throws in
            let socket = try RawSocket(port: server.port)
            try socket.send(request)
            #expect(try socket.readResponse().status == 400)
            #expect(handler.handledCount == 0)
        }
    }

    /// What ends in doubt must not go on: the next request on that connection could be a smuggled one.
    @Test(arguments: [
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nab",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length : 5\r\n\r\n",
    ]) func closesAfterDoubtfulFraming(request: String) throws {
        let handler = TestHandler()
        try withServer(handler) { server throws in
            let socket = try RawSocket(port: server.port)
            try socket.send(request + "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
            let all = String(decoding: socket.readToEnd(), as: UTF8.self)
            #expect(all.hasPrefix("HTTP/1.1 400 "))
            #expect(all.components(separatedBy: "HTTP/1.1 ").count == 2)
            #expect(handler.handledCount == 0)
        }
    }

    /// libmicrohttpd 1.0 hangs up without a word, 0.9.75 would serve `/hello`.
    @Test func aNULInTheTargetIsNotItsEnd() throws {
        let handler = TestHandler()
        try withServer(handler) { server throws in
            let socket = try RawSocket(port: server.port)
            try socket.send("GET /hello\0/../secret HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            let all = String(decoding: socket.readToEnd(), as: UTF8.self)
            #expect(all.isEmpty || all.hasPrefix("HTTP/1.1 400 "))
            #expect(handler.handledCount == 0)
        }
    }

    @Test func aQueryMayHaveThousandsOfParameters() throws {
        try withServer { server throws in
            let query = (0..<5000).map { "p\($0)=" }.joined(separator: "&")
            let response = try ask(server, "GET /see?\(query) HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(response.text.components(separatedBy: "\nquery p").count == 5001)
        }
    }

    /// RFC 9112, section 2.2 allows to take a bare LF; taking it must not make two requests of one.
    @Test func bareLineFeedsMakeOneRequest() throws {
        try withServer { server throws in
            let socket = try RawSocket(port: server.port)
            try socket.send("GET /hello HTTP/1.1\nHost: a\nConnection: close\n\n")
            let all = String(decoding: socket.readToEnd(), as: UTF8.self)
            #expect(all.hasPrefix("HTTP/1.1 200 ") || all.hasPrefix("HTTP/1.1 400 "))
            #expect(all.components(separatedBy: "HTTP/1.1 ").count == 2)
        }
    }

    @Test func tooLargeAHeadIsTheClientsFault() throws {
        try withServer { server throws in
            for fields in [
                "X-Filler: " + String(repeating: "x", count: 200_000),
                (0..<20_000).map { "a\($0): b" }.joined(separator: "\r\n"),
                "Cookie: " + String(repeating: "a;", count: 50_000),
            ] {
                let socket = try RawSocket(port: server.port)
                _ = socket.sendAsMuchAsGoes(Array("GET /hello HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n".utf8))
                #expect([413, 431].contains(try socket.readResponse().status), "\(fields.prefix(20))")
            }
        }
    }

    @Test func headTellsTheLengthAndSendsNothing() throws {
        try withServer { server throws in
            let socket = try RawSocket(port: server.port)
            for target in ["/hello", "/zeros?count=5"] {
                try socket.send("HEAD \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
                let response = try socket.readResponse(isToHead: true)
                #expect(response.status == 200)
                #expect(response["content-length"] == "5")
            }
            try socket.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try socket.readResponse().text == "hello")
        }
    }

    @Test func notModifiedTellsTheLengthAndSendsNothing() throws {
        let handler = TestHandler()
        try withServer(handler) { server throws in
            let socket = try RawSocket(port: server.port)
            try socket.send("GET /known?count=5 HTTP/1.1\r\nHost: a\r\n\r\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
            let response = try socket.readResponse()
            #expect(response.status == 304)
            #expect(response["content-length"] == "5")
            #expect(try socket.readResponse().text == "hello")
            #expect(eventually { handler.records.map(\.bytesOut) == [0, 5] })
        }
    }

    @Test func oneConnectionServesManyRequests() throws {
        try withServer { server throws in
            let socket = try RawSocket(port: server.port)
            for round in 0..<20 {
                let body = String(repeating: "x", count: round)
                try socket.send("POST /count HTTP/1.1\r\nHost: a\r\nContent-Length: \(round)\r\n\r\n\(body)")
                #expect(try socket.readResponse().text == "\(round)")
                try socket.send("GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try socket.readResponse().status == 404)
                // Refused without a body on its way: the connection stays.
                try socket.send("GET /refuse HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try socket.readResponse().status == 401)
                try socket.send("GET /%00 HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try socket.readResponse().status == 400)
                try socket.send("GET /later?ms=1 HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try socket.readResponse().text == "later")
            }
            #expect(server.connectionCount == 1)
        }
    }

    @Test func pipelinedRequestsAreAnsweredInOrder() throws {
        try withServer { server throws in
            let socket = try RawSocket(port: server.port)
            try socket.send(
                "GET /later?ms=50 HTTP/1.1\r\nHost: a\r\n\r\n"
                    + "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc"
                    + "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nde\r\n1\r\nf\r\n0\r\n\r\n"
                    + "GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(try socket.readResponse().text == "later")
            #expect(try socket.readResponse().text == "abc")
            #expect(try socket.readResponse().text == "def")
            let last = try socket.readResponse()
            #expect(last.text == "hello")
            #expect(last["connection"] == "close")
            #expect(socket.isClosedByServer())
        }
    }

    @Test func http10ClosesUnlessAsked() throws {
        try withServer { server throws in
            let socket = try RawSocket(port: server.port)
            try socket.send("GET /hello HTTP/1.0\r\n\r\n")
            #expect(try socket.readResponse().text == "hello")
            #expect(socket.isClosedByServer())
        }
    }

    @Test func onlyTheFirstReplyCounts() throws {
        try withServer { server throws in
            let socket = try RawSocket(port: server.port)
            try socket.send("GET /twice HTTP/1.1\r\nHost: a\r\n\r\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try socket.readResponse().text == "first")
            #expect(try socket.readResponse().text == "hello")
        }
    }

    @Test func aResponseThatCannotBeSentIsA500() throws {
        try withServer { server throws in
            for value in ["a%0d%0aX-Injected:+b", "a%0a", "%09", "%01", "%7f", ""] {
                for (request, length) in [("GET /broken", 0), ("POST /broken-refusal", 5)] {
                    let head = "\(request)?value=\(value) HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\r\n"
                    let response = try ask(server, head)
                    #expect(response.status == 500, "\(value)")
                    #expect(response.text == "internalError")
                    #expect(response["x-injected"] == nil)
                    #expect(response["x-request-id"]?.utf8.count == 32)
                }
            }
        }
    }

    /// In a process of its own, where no other test opens descriptors.
    @Test func anAnswerWithoutADescriptorForItsFileIsA503() async {
        await #expect(processExitsWith: .success) {
            try withServer { server throws in
                let response = try ask(server, "GET /starve HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(response.status == 503)
                #expect(response.text == "noMemory")
                #expect(response["x-request-id"]?.utf8.count == 32)
            }
        }
    }

    @Test func recordsWhatBecameOfEachRequest() throws {
        let handler = TestHandler()
        try withServer(handler) { server throws in
            let socket = try RawSocket(port: server.port)
            try socket.send("POST /echo HTTP/1.1\r\nHost: a\r\nX-Request-Id: r1\r\nContent-Length: 3\r\n\r\nabc")
            _ = try socket.readResponse()
            try socket.send("HEAD /hello HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try socket.readResponse(isToHead: true)
            try socket.send("GET /hello HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")
            _ = try socket.readResponse()
            try socket.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\na")
            // Its end comes together with its last byte, which libmicrohttpd may miss.
            socket.close()
            #expect(eventually { handler.records.count == 4 })
            let records = handler.records
            #expect(records[0].id == "r1")
            #expect(records[0].head?.path == ["echo"])
            #expect(records.map(\.status) == [200, 200, 400, nil])
            #expect(records.map(\.isComplete) == [true, true, true, false])
            #expect(records.map(\.bytesIn) == [3, 0, 0, 1])
            #expect(records.map(\.bytesOut).prefix(2) == [3, 0])
            #expect(records[2].head == nil)
        }
    }
}
