import Glibc
import Posix
import Support
import Synchronization
import Testing

@testable import HTTP

/// Clients that go while their request is worked on.
@Suite struct DepartureTests {
    private func hold(_ server: Server, _ handler: TestHandler, _ version: String = "1.1") throws -> RawSocket {
        let socket = try RawSocket(port: server.port)
        let before = handler.heldCount
        try socket.send("GET /hold HTTP/\(version)\r\nHost: a\r\n\r\n")
        #expect(eventually { handler.heldCount == before + 1 })
        return socket
    }

    /// However it goes: with a reset at once, or quietly, so that only a word to it shows that nobody listens.
    @Test(arguments: [true, false]) func aClientThatHasGoneIsNoticed(quietly: Bool) throws {
        let handler = TestHandler()
        try withServer(handler) { server throws in
            let socket = try hold(server, handler)
            usleep(100_000)
            #expect(!handler.clients[0].hasLeft)
            if quietly { socket.close() } else { socket.reset() }
            #expect(eventually { handler.clients[0].hasLeft })
            #expect(eventually { server.connectionCount == 0 })
            #expect(handler.records.count == 1)
            #expect(handler.records.first?.status == nil)
            // To nobody.
            handler.release()
        }
    }

    /// What was done for nobody can be undone.
    @Test(arguments: [true, false]) func aReplyThatNobodyGetsIsTold(hasLeft: Bool) throws {
        let handler = TestHandler()
        let unsent = Mutex(0)
        try withServer(handler) { server throws in
            let socket = try hold(server, handler)
            if hasLeft {
                socket.reset()
                #expect(eventually { handler.clients[0].hasLeft })
            }
            var response = Response(status: 200)
            response.whenUnsent = { unsent.withLock { $0 += 1 } }
            handler.release(response)
            if !hasLeft { #expect(try socket.readResponse().status == 200) }
        }
        let count = unsent.withLock { $0 }
        #expect(count == (hasLeft ? 1 : 0))
    }

    /// It has said that it sends no more, but listens: it is answered, after an interim answer or, if it knows none,
    /// without.
    @Test(arguments: ["1.1", "1.0"]) func aClientThatOnlyListensIsAnswered(version: String) throws {
        let handler = TestHandler()
        try withServer(handler) { server throws in
            let socket = try hold(server, handler, version)
            socket.halfClose()
            usleep(300_000)
            #expect(!handler.clients[0].hasLeft)
            handler.release()
            var response = try socket.readResponse()
            if version == "1.1" {
                #expect(response.status == 100)
                response = try socket.readResponse()
            }
            #expect(response.text == "released")
        }
    }

    /// In whatever turn it goes, so in the one before libmicrohttpd puts the connection aside.
    @Test func aClientThatGoesAtOnceIsNoticed() throws {
        let handler = TestHandler()
        try withServer(handler) { server throws in
            for _ in 0..<200 {
                let socket = try RawSocket(port: server.port)
                try socket.send("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n")
                socket.reset()
            }
            #expect(eventually { server.connectionCount == 0 })
            #expect(eventually { handler.clients.allSatisfy(\.hasLeft) })
            handler.release()
        }
    }

    /// The interim answer comes once.
    @Test func asksOnce() throws {
        var machine = Exchange.StateMachine(
            Configuration(listen: try #require(ListenAddress("127.0.0.1:0"))), nowMs: 0)
        machine.requestLineCame(nowMs: 0)
        #expect(machine.headCame(.accept(bodyBytesMax: 0), nowMs: 0) == .goOn)
        #expect(machine.finalCall(nowMs: 0) == .handle)
        let gone = Exchange.StateMachine.Progress(received: 9, peerHasClosed: true)
        #expect(machine.tick(nowMs: 1, gone) == .leave, "libmicrohttpd may still write")
        #expect(machine.handlerReturned(nowMs: 0) == .goOn)
        #expect(machine.finalCall(nowMs: 0) == .suspend)
        #expect(machine.tick(nowMs: 1, .init(received: 9)) == .leave)
        #expect(machine.tick(nowMs: 2, gone) == .probe)
        #expect(machine.tick(nowMs: 3, gone) == .leave)
        #expect(machine.tick(nowMs: 4, .init(received: 9, isReset: true)) == .abandon)
        #expect(machine.replyCame(serial: 1) == .ignore)
        #expect(machine.finalCall(nowMs: 5) == .drop)
    }

    @Test func aLateListenerHearsAtOnce() {
        let client = Requester()
        client.leave()
        let heard = Mutex(0)
        client.onLeaving { heard.withLock { $0 += 1 } }
        client.leave()
        let count = heard.withLock { $0 }
        #expect(count == 1)
    }

    @Test func aBodyHasItsWholeTime() throws {
        try withServer(TestHandler(), configure: { $0.bodyMs = 300 }) { server throws in
            let socket = try RawSocket(port: server.port)
            try socket.send("POST /count HTTP/1.1\r\nHost: a\r\nContent-Length: 10000\r\n\r\n")
            for _ in 0..<8 {
                usleep(20_000)
                // On a machine that stands still its time is over before.
                _ = socket.sendAsMuchAsGoes([UInt8](repeating: 1, count: 1000))
            }
            #expect(try socket.readResponse().status == 408)
        }
    }
}
