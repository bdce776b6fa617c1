import Foundation
import Glibc
import HTTP
import Support
import Testing

@Suite struct BodyTests {
    /// Bytes that repeat nowhere near, so that a lost or doubled piece shows.
    private static func noise(_ count: Int) -> [UInt8] {
        var random = SplitMix64(seed: 1)
        return (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    }

    @Test func tenMegabytesGoThereAndBack() throws {
        try withServer(TestHandler(bodyBytesMax: 10_000_000)) { server throws in
            let body = Self.noise(10_000_000)
            let socket = try RawSocket(port: server.port)
            try socket.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.count)\r\n\r\n")
            try socket.send(body)
            let response = try socket.readResponse()
            #expect(response.status == 200)
            #expect(response.body == body)
        }
    }

    @Test func chunksGoThereAndBack() throws {
        try withServer { server throws in
            let body = Self.noise(300_000)
            let socket = try RawSocket(port: server.port)
            try socket.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
            for size in [1, 99_999, 200_000] {
                let start = size == 1 ? 0 : size == 99_999 ? 1 : 100_000
                try socket.send("\(String(size, radix: 16))\r\n")
                try socket.send(Array(body[start..<(start + size)]))
                try socket.send("\r\n")
            }
            try socket.send("0\r\nX-Trailer: ignored\r\n\r\n")
            #expect(try socket.readResponse().body == body)
        }
    }

    @Test func anEmptyBodyIsNone() throws {
        try withServer { server throws in
            for framing in ["Content-Length: 0\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "\r\n"] {
                let response = try ask(server, "POST /count HTTP/1.1\r\nHost: a\r\n\(framing)")
                #expect(response.text == "0")
            }
        }
    }

    @Test func exactlyTheLimitIsAllowed() throws {
        try withServer(TestHandler(bodyBytesMax: 1000)) { server throws in
            let body = String(repeating: "x", count: 1000)
            let whole = try ask(server, "POST /count HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n\(body)")
            #expect(whole.text == "1000")
            let chunked = try ask(
                server,
                "POST /count HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n\(body)\r\n0\r\n\r\n")
            #expect(chunked.text == "1000")
        }
    }

    @Test func tooLongIsRefusedBeforeItComes() throws {
        try withServer(TestHandler(bodyBytesMax: 1000)) { server throws in
            for expect in ["", "Expect: 100-continue\r\n"] {
                let response = try ask(
                    server, "POST /echo HTTP/1.1\r\nHost: a\r\n\(expect)Content-Length: 1001\r\n\r\n")
                #expect(response.status == 413)
                #expect(response.text == "bodyTooLarge(limit: 1000, declared: Optional(1001))")
                #expect(response["connection"] == "close")
                #expect(response["date"]?.hasSuffix(" GMT") == true)
                #expect(response["x-request-id"]?.utf8.count == 32)
            }
        }
    }

    @Test func continueIsSaidToWhatMayCome() throws {
        try withServer { server throws in
            let socket = try RawSocket(port: server.port)
            try socket.send("POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
            #expect(try socket.readResponse().status == 100)
            try socket.send("abc")
            #expect(try socket.readResponse().text == "abc")
        }
    }

    /// The usual client writes its whole body before it reads: the answer must reach it, no reset.
    @Test(arguments: [true, false]) func aClientThatWritesAllFirstReadsItsRefusal(isChunked: Bool) throws {
        let handler = TestHandler(bodyBytesMax: 100_000)
        try withServer(handler) { server throws in
            let body = [UInt8](repeating: 120, count: 4_000_000)
            let socket = try RawSocket(port: server.port)
            let framing = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(body.count)"
            try socket.send("POST /echo HTTP/1.1\r\nHost: a\r\n\(framing)\r\n\r\n")
            if isChunked { try socket.send("\(String(body.count, radix: 16))\r\n") }
            try socket.send(body)
            if isChunked { try socket.send("\r\n0\r\n\r\n") }
            let response = try socket.readResponse()
            #expect(response.status == 413)
            #expect(socket.isClosedByServer())
            #expect(eventually { server.connectionCount == 0 })
            #expect(handler.handledCount == 0)
            #expect(handler.records.map(\.status) == [413])
            #expect(handler.records.map(\.isComplete) == [true])
        }
    }

    @Test func theHandlersRefusalComesWhileTheBodyIsStillSent() throws {
        try withServer { server throws in
            let socket = try RawSocket(port: server.port)
            try socket.send("POST /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nsome")
            #expect(try socket.readResponse().status == 401)
        }
    }

    @Test func chunksOverTheLimitAreRefusedAtOnceAndTheRestIsBounded() throws {
        try withServer(TestHandler(bodyBytesMax: 1000), configure: { $0.drainBytesMax = 1_000_000 }) { server throws in
            let socket = try RawSocket(port: server.port)
            try socket.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n7fffffff\r\n")
            try socket.send([UInt8](repeating: 120, count: 2000))
            let response = try socket.readResponse()
            #expect(response.status == 413)
            #expect(response.text == "bodyTooLarge(limit: 1000, declared: nil)")
            let sent = socket.sendAsMuchAsGoes([UInt8](repeating: 120, count: 50_000_000))
            // What lies in both kernels' buffers when the server hangs up counts as sent.
            #expect(sent < 30_000_000)
            #expect(eventually { server.connectionCount == 0 })
        }
    }

    @Test func aRefusedClientThatJustWaitsIsCutOff() throws {
        try withServer(TestHandler(bodyBytesMax: 10), configure: { $0.drainMs = 100 }) { server throws in
            let socket = try RawSocket(port: server.port)
            try socket.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n")
            #expect(try socket.readResponse().status == 413)
            #expect(eventually { server.connectionCount == 0 })
        }
    }

    @Test func aHalfClosedClientIsAnswered() throws {
        try withServer { server throws in
            for path in ["/count", "/later?ms=50", "/echo"] {
                let socket = try RawSocket(port: server.port)
                try socket.send("POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
                socket.halfClose()
                #expect(try socket.readFinalResponse().status == 200)
                #expect(socket.isClosedByServer())
            }
            #expect(eventually { server.connectionCount == 0 })
        }
    }

    @Test func aHalfClosedClientWithLateFinIsAnswered() throws {
        let handler = TestHandler()
        try withServer(handler) { server throws in
            let socket = try RawSocket(port: server.port)
            try socket.send("POST /hold HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
            #expect(eventually { handler.heldCount == 1 })
            socket.halfClose()
            usleep(50_000)
            handler.release()
            #expect(try socket.readFinalResponse().text == "released")
            #expect(socket.isClosedByServer())
        }
    }

    @Test func aClientThatLeavesInMidBodyLeavesNothing() throws {
        let handler = TestHandler()
        try withServer(handler) { server throws in
            for round in 0..<20 {
                let socket = try RawSocket(port: server.port)
                try socket.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\npart")
                // A reset takes with it what the server has not read yet.
                #expect(eventually { server.requestCount == 1 })
                if round.isMultiple(of: 2) { socket.reset() } else { socket.close() }
                #expect(eventually { server.connectionCount == 0 })
            }
            #expect(handler.records.count == 20)
            #expect(handler.records.allSatisfy { $0.status == nil && !$0.isComplete })
            #expect(handler.handledCount == 0)
        }
    }

    @Test func aClientThatLeavesWhileTheHandlerWorksLeavesNothing() throws {
        let handler = TestHandler()
        try withServer(handler) { server throws in
            for round in 0..<10 {
                let socket = try RawSocket(port: server.port)
                try socket.send("POST /hold HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
                #expect(eventually { handler.heldCount == round + 1 })
                socket.reset()
            }
            handler.release()
            #expect(eventually { server.connectionCount == 0 && server.requestCount == 0 })
            #expect(handler.records.count == 10)
        }
    }

    @Test func aFileIsSentWholeAndALeavingReaderKillsNobody() throws {
        try withServer { server throws in
            let socket = try RawSocket(port: server.port)
            try socket.send("GET /zeros?count=20000000 HTTP/1.1\r\nHost: a\r\n\r\n")
            let response = try socket.readResponse()
            #expect(response.body.count == 20_000_000)
            #expect(response.body.allSatisfy { $0 == 0 })
            for _ in 0..<5 {
                let leaver = try RawSocket(port: server.port)
                try leaver.send("GET /zeros?count=20000000 HTTP/1.1\r\nHost: a\r\n\r\n")
                _ = leaver.readSome(1000)
                leaver.close()
            }
            try socket.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try socket.readResponse().text == "hello")
            #expect(eventually { server.connectionCount == 1 })
        }
    }
}
