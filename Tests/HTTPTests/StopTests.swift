import Foundation
import Glibc
import HTTP
import Posix
import Support
import Synchronization
import Testing

@Suite struct StopTests {
    /// Starts `stop` beside the test; its result when it is there.
    private final class Stopping: Sendable {
        private let result = Mutex<Bool?>(nil)

        init(_ server: Server, graceMs: Int) {
            Thread.detachNewThread { [self] in
                let isClean = server.stop(graceMs: graceMs)
                result.withLock { $0 = isClean }
            }
        }

        var isClean: Bool? { result.withLock { $0 } }
    }

    @Test func whatIsWholeIsFinished() throws {
        let handler = TestHandler()
        try withServer(handler) { server throws in
            let working = try RawSocket(port: server.port)
            try working.send("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n")
            let idle = try RawSocket(port: server.port)
            try idle.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try idle.readResponse()
            #expect(eventually { handler.heldCount == 1 })

            let stopping = Stopping(server, graceMs: 5000)
            #expect(idle.isClosedByServer())
            #expect(eventually { (try? RawSocket(port: server.port)) == nil })
            #expect(stopping.isClean == nil)
            handler.release()
            let response = try working.readResponse()
            #expect(response.text == "released")
            #expect(response["connection"] == "close")
            #expect(eventually { stopping.isClean == true })
            #expect(server.connectionCount == 0)
        }
    }

    @Test func anUploadInTheMiddleIsTold() throws {
        try withServer { server throws in
            let socket = try RawSocket(port: server.port)
            try socket.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nsome")
            #expect(eventually { server.requestCount == 1 })
            let stopping = Stopping(server, graceMs: 5000)
            let response = try socket.readResponse()
            #expect(response.status == 503)
            #expect(response["connection"] == "close")
            socket.close()
            #expect(eventually { stopping.isClean == true })
        }
    }

    @Test func pastTheGraceWhatIsHeldIsAnswered() throws {
        let handler = TestHandler()
        try withServer(handler) { server throws in
            let sockets = try (0..<3).map { _ in try RawSocket(port: server.port) }
            for socket in sockets { try socket.send("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n") }
            #expect(eventually { handler.heldCount == 3 })
            #expect(!server.stop(graceMs: 50))
            for socket in sockets { #expect(try socket.readResponse().status == 503) }
            #expect(handler.records.map(\.status) == [503, 503, 503])
            // Too late, and to nobody.
            handler.release()
        }
    }

    @Test func aReaderThatStallsDoesNotHoldTheStop() throws {
        try withServer { server throws in
            let socket = try RawSocket(port: server.port, receiveBufferBytes: 4096)
            try socket.send("GET /zeros?count=50000000 HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(eventually { server.requestCount == 1 })
            let startMs = Clock.monotonicMs()
            #expect(!server.stop(graceMs: 50))
            #expect(Clock.monotonicMs() - startMs < 2500)
        }
    }

    @Test func stoppingTwiceIsHarmlessAndThePortIsFree() throws {
        try withServer { server throws in
            let port = server.port
            #expect(server.stop(graceMs: 0))
            #expect(server.stop(graceMs: 0))
            let address = try #require(ListenAddress("127.0.0.1:\(port)"))
            let next = try Server.starting(Configuration(listen: address), handler: TestHandler())
            #expect(next.port == port)
            #expect(throws: ListenError.system(call: "bind", errno: EADDRINUSE)) {
                try Server.starting(Configuration(listen: address), handler: TestHandler())
            }
            _ = next.stop(graceMs: 0)
        }
    }

    @Test func stoppingUnderLoadAnswersOrCloses() throws {
        for _ in 0..<5 {
            try withServer { server throws in
                let answered = Atomic(0)
                let group = DispatchGroup()
                for _ in 0..<8 {
                    let port = server.port
                    group.enter()
                    Thread.detachNewThread {
                        defer { group.leave() }
                        guard let socket = try? RawSocket(port: port) else { return }
                        while (try? socket.send("GET /later?ms=1 HTTP/1.1\r\nHost: a\r\n\r\n")) != nil,
                            let response = try? socket.readResponse()
                        {
                            #expect([200, 503].contains(response.status))
                            answered.add(1, ordering: .relaxed)
                        }
                    }
                }
                #expect(eventually { answered.load(ordering: .relaxed) > 100 })
                _ = server.stop(graceMs: 0)
                #expect(server.connectionCount == 0)
                group.wait()
            }
        }
    }
}
