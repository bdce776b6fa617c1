import Glibc
import HTTP
import Posix
import Support
import Testing

@Suite struct SlowPeerTests {
    private func hurry(_ configuration: inout Configuration) {
        configuration.headMs = 200
        configuration.paceWindowMs = 200
        configuration.keepAliveMs = 400
        // 3200 bytes in each window.
        configuration.bytesPerSecondMin = 16_000
    }

    @Test func aConnectionThatSaysNothingIsClosed() throws {
        try withServer(configure: hurry) { server throws in
            let startMs = Clock.monotonicMs()
            #expect(try RawSocket(port: server.port).isClosedByServer())
            #expect(Clock.monotonicMs() - startMs >= 190)
        }
    }

    @Test func aHeadThatDripsIsEnded() throws {
        try withServer(configure: hurry) { server throws in
            let socket = try RawSocket(port: server.port)
            let startMs = Clock.monotonicMs()
            for byte in Array("GET /hello HTTP/1.1\r\nHost: a\r\nX-Long-Name: and so on".utf8) {
                if socket.sendAsMuchAsGoes([byte]) == 0 { break }
                usleep(10_000)
            }
            #expect(try socket.readResponse().status == 408)
            #expect(socket.isClosedByServer())
            #expect(Clock.monotonicMs() - startMs >= 190)
        }
    }

    @Test func theSecondHeadHasNoMoreTimeThanTheFirst() throws {
        try withServer(configure: {
            hurry(&$0); $0.keepAliveMs = 60_000
        }) { server throws in
            let socket = try RawSocket(port: server.port)
            try socket.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try socket.readResponse()
            usleep(300_000)
            try socket.send("GET /hel")
            #expect(try socket.readResponse().status == 408)
        }
    }

    @Test func anIdleConnectionIsClosedInTheEnd() throws {
        try withServer(configure: hurry) { server throws in
            let socket = try RawSocket(port: server.port)
            try socket.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try socket.readResponse()
            let startMs = Clock.monotonicMs()
            #expect(socket.isClosedByServer())
            #expect(Clock.monotonicMs() - startMs >= 350)
        }
    }

    @Test(arguments: [true, false]) func aBodyThatDripsIsEnded(isFastAtFirst: Bool) throws {
        let handler = TestHandler()
        try withServer(handler, configure: hurry) { server throws in
            let socket = try RawSocket(port: server.port)
            try socket.send("POST /count HTTP/1.1\r\nHost: a\r\nContent-Length: 500000\r\n\r\n")
            if isFastAtFirst { try socket.send([UInt8](repeating: 1, count: 300_000)) }
            let startMs = Clock.monotonicMs()
            while Clock.monotonicMs() - startMs < 2000 {
                if socket.sendAsMuchAsGoes([1]) == 0 { break }
                usleep(10_000)
            }
            #expect(Clock.monotonicMs() - startMs >= 180)
            #expect(eventually { server.connectionCount == 0 })
            #expect(handler.handledCount == 0)
            #expect(handler.records.map(\.status) == [408])
        }
    }

    @Test func aBodyThatStallsIsTold() throws {
        try withServer(configure: hurry) { server throws in
            let response = try ask(server, "POST /count HTTP/1.1\r\nHost: a\r\nContent-Length: 500\r\n\r\nsome")
            #expect(response.status == 408)
            #expect(response.text == "uploadTimeout(headMs: 200, bytesPerSecondMin: 16000, bodyMs: 900000)")
        }
    }

    /// 2000 bytes in each second, a tenth of what a peer moves that is fast enough.
    private func hurryLess(_ configuration: inout Configuration) {
        configuration.paceWindowMs = 1000
        configuration.bytesPerSecondMin = 2000
    }

    @Test func aBodyThatIsFastEnoughMayTakeLong() throws {
        try withServer(configure: hurryLess) { server throws in
            let socket = try RawSocket(port: server.port)
            try socket.send("POST /count HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n")
            for _ in 0..<60 {
                try socket.send([UInt8](repeating: 1, count: 1000))
                usleep(40_000)
            }
            #expect(try socket.readResponse().text == "60000")
        }
    }

    /// Begins a body of `length` bytes with so many of them.
    private func upload(_ server: Server, length: Int, begun: Int) throws -> RawSocket {
        let socket = try RawSocket(port: server.port)
        try socket.send("POST /count HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\r\n")
        try socket.send([UInt8](repeating: 1, count: begun))
        return socket
    }

    /// As many bodies are coming as may; the next one is refused while they have their time, and takes the slowest one's
    /// place afterwards. What has no body is served all along.
    @Test func bodiesThatCrawlLeaveRoom() throws {
        let handler = TestHandler()
        try withServer(
            handler,
            configure: {
                $0.receivingMax = 3
            }
        ) { server throws in
            let startMs = Clock.monotonicMs()
            let crawling = try (1...3).map { try upload(server, length: 500, begun: 10 * $0) }
            #expect(eventually { handler.permitCount == 3 })
            let early = try upload(server, length: 2, begun: 2).readResponse()
            // A machine that stood still for so long has given them their time.
            if Clock.monotonicMs() - startMs < 2000 { #expect(early.text == "receivingFull") }
            #expect(try ask(server, "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n").status == 200)
            usleep(2_100_000)
            #expect(try upload(server, length: 2, begun: 2).readResponse().text == "2")
            #expect(try crawling[0].readResponse().text == "receivingFull")
            #expect(crawling[0].isClosedByServer())
            for (socket, count) in zip(crawling.dropFirst(), [20, 30]) {
                try socket.send([UInt8](repeating: 1, count: 500 - count))
                #expect(try socket.readResponse().text == "500")
            }
        }
    }

    @Test func aReaderThatStallsIsEnded() throws {
        let handler = TestHandler()
        try withServer(handler, configure: hurry) { server throws in
            let socket = try RawSocket(port: server.port, receiveBufferBytes: 4096)
            try socket.send("GET /zeros?count=50000000 HTTP/1.1\r\nHost: a\r\n\r\n")
            let startMs = Clock.monotonicMs()
            #expect(eventually { !handler.records.isEmpty })
            #expect(Clock.monotonicMs() - startMs >= 190)
            #expect(handler.records.map(\.isComplete) == [false])
            #expect(eventually { server.connectionCount == 0 })
        }
    }

    @Test func aReaderThatIsFastEnoughMayTakeLong() throws {
        let handler = TestHandler()
        try withServer(handler, configure: hurryLess) { server throws in
            let socket = try RawSocket(port: server.port, receiveBufferBytes: 16384)
            try socket.send("GET /zeros?count=8000000 HTTP/1.1\r\nHost: a\r\n\r\n")
            let startMs = Clock.monotonicMs()
            while Clock.monotonicMs() - startMs < 2400 {
                #expect(socket.readSome(2000) > 0)
                usleep(10_000)
            }
            #expect(socket.readToEnd().count > 4_000_000)
            #expect(eventually { handler.records.map(\.isComplete) == [true] })
        }
    }

    @Test func timeInTheHandlerDoesNotCount() throws {
        try withServer(configure: hurry) { server throws in
            let response = try ask(
                server, "POST /later?ms=700 HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx")
            #expect(response.text == "later")
        }
    }

    @Test func connectionsAreBounded() throws {
        let handler = TestHandler()
        try withServer(
            handler,
            configure: {
                $0.threadCount = 1
                $0.connectionsMax = 2
            }
        ) { server throws in
            let two = try (0..<2).map { _ in
                let socket = try RawSocket(port: server.port)
                try socket.send("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n")
                return socket
            }
            #expect(eventually { handler.heldCount == 2 })
            let third = try RawSocket(port: server.port)
            try third.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
            usleep(100_000)
            #expect(server.connectionCount == 2)
            handler.release()
            for socket in two { #expect(try socket.readResponse().text == "released") }
            two[0].close()
            #expect(try third.readResponse().status == 200)
        }
    }

    /// Each reads next to nothing, and none of them is due to be ended soon.
    @Test func slowReadersGiveWay() throws {
        let handler = TestHandler()
        try withServer(
            handler,
            configure: {
                $0.connectionsMax = 16
                $0.crowdedTransferMs = 50
                $0.watchIntervalMs = 10
            }
        ) { server throws in
            let readers = try (0..<32).map { _ in
                let socket = try RawSocket(port: server.port, receiveBufferBytes: 4096)
                try socket.send("GET /zeros?count=50000000 HTTP/1.1\r\nHost: a\r\n\r\n")
                return socket
            }
            for _ in 0..<3 { #expect(try ask(server, "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n").status == 200) }
            #expect(eventually { handler.records.contains { !$0.isComplete } })
            withExtendedLifetime(readers) {}
        }
    }

    /// A few large bodies that crawl do not keep all memory to themselves.
    @Test func aLargeBodyThatCrawlsGivesItsMemory() throws {
        let handler = TestHandler()
        try withServer(
            handler,
            configure: {
                $0.bodiesBytesMax = 1000
                $0.crowdedTransferMs = 1000
            }
        ) { server throws in
            let startMs = Clock.monotonicMs()
            let crawling = try [400, 500].map { try upload(server, length: $0, begun: 1) }
            #expect(eventually { handler.permitCount == 2 })
            let early = try upload(server, length: 200, begun: 200).readResponse()
            // A machine that stood still for so long has given them their time.
            if Clock.monotonicMs() - startMs < 1000 { #expect(early.text == "bodiesFull") }
            usleep(1_100_000)
            #expect(try upload(server, length: 200, begun: 200).readResponse().text == "200")
            #expect(try crawling[1].readResponse().text == "receivingFull")
            try crawling[0].send([UInt8](repeating: 1, count: 399))
            #expect(try crawling[0].readResponse().text == "400")
        }
    }

    /// Half of the clients keep a used connection, half have said part of a head. None of them is due to be ended soon,
    /// and still each newcomer is served; a request under way keeps its place.
    @Test func connectionsThatWaitGiveWay() throws {
        let handler = TestHandler()
        try withServer(
            handler,
            configure: {
                $0.connectionsMax = 16
                $0.crowdedWaitMs = 20
                $0.watchIntervalMs = 10
            }
        ) { server throws in
            let held = try RawSocket(port: server.port)
            try held.send("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(eventually { handler.heldCount == 1 })
            var crowd: [RawSocket] = []
            for number in 0..<64 {
                let socket = try RawSocket(port: server.port)
                try socket.send("GET /hello HTTP/1.1\r\nHost: a\r\n" + (number.isMultiple(of: 2) ? "\r\n" : ""))
                if number.isMultiple(of: 2) { #expect(try socket.readResponse().status == 200) }
                crowd.append(socket)
            }
            #expect(server.connectionCount <= 16)
            handler.release()
            #expect(try held.readResponse().text == "released")
            withExtendedLifetime(crowd) {}
        }
    }
}
