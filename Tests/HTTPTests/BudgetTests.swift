import Glibc
import Posix
import Support
import Synchronization
import Testing

@testable import HTTP

/// The bytes of bodies: never more than the bound, and all of them given back, on every way that a request can go.
@Suite struct BudgetTests {
    @Test func holdsAndGivesBack() throws {
        let budget = BodyBudget(bytesMax: 100)
        var first = budget.hold(60)
        #expect(first != nil)
        #expect(budget.hold(41) == nil)
        let second = try #require(budget.hold(0))
        #expect(second.grow(to: 40))
        #expect(!second.grow(to: 41))
        #expect(budget.heldBytes == 100)
        second.shrink(to: 50)
        second.shrink(to: 10)
        #expect(budget.heldBytes == 70)
        first = nil
        #expect(budget.heldBytes == 10)
        #expect(second.grow(to: 100))
        #expect(budget.heldBytes == 100)
    }

    @Test func whatIsLargerThanAllMayHaveItAlone() throws {
        let budget = BodyBudget(bytesMax: 100)
        #expect(budget.hold(101) == nil)
        let large = budget.hold(101, mayBeAlone: true)
        #expect(large != nil && budget.heldBytes == 101)
        #expect(budget.hold(1, mayBeAlone: true) == nil)
        // What needs no room gets it.
        #expect(budget.hold(0) != nil)
    }

    /// Any sequence of events: the sum of what the holds were last granted is what the budget says, and 0 at the end.
    @Test(arguments: 0..<20) func addsUp(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        func random(_ below: Int) -> Int { Int.random(in: 0..<below, using: &generator) }
        let budget = BodyBudget(bytesMax: 1000)
        var holds: [(hold: BodyBudget.Hold, count: Int)] = []
        for _ in 0..<2000 {
            switch random(4) {
            case 0:
                let count = random(400)
                let isRoom = holds.reduce(0) { $0 + $1.count } + count <= 1000
                let hold = budget.hold(count)
                #expect((hold != nil) == isRoom)
                if let hold { holds.append((hold, count)) }
            case 1 where !holds.isEmpty: holds.remove(at: random(holds.count))
            case 2 where !holds.isEmpty:
                let index = random(holds.count)
                let total = random(500)
                if holds[index].hold.grow(to: total) { holds[index].count = max(holds[index].count, total) }
            case 3 where !holds.isEmpty:
                let index = random(holds.count)
                let total = random(500)
                holds[index].hold.shrink(to: total)
                holds[index].count = min(holds[index].count, total)
            default: break
            }
            let sum = holds.reduce(0) { $0 + $1.count }
            #expect(budget.heldBytes == sum && sum <= 1000)
        }
        holds = []
        #expect(budget.heldBytes == 0)
    }

    @Test func aBodyForWhichThereIsNoRoomIsRefusedAtItsHead() throws {
        let handler = TestHandler()
        try withServer(handler, configure: { $0.bodiesBytesMax = 1000 }) { server throws in
            let first = try RawSocket(port: server.port)
            try first.send("POST /count HTTP/1.1\r\nHost: a\r\nContent-Length: 600\r\n\r\nx")
            #expect(eventually { server.bodyBytes == 600 })
            let second = try RawSocket(port: server.port)
            try second.send("POST /count HTTP/1.1\r\nHost: a\r\nContent-Length: 401\r\nExpect: 100-continue\r\n\r\n")
            let refusal = try second.readResponse()
            #expect(refusal.status == 503)
            #expect(refusal.text == "bodiesFull")
            // What needs no room is not concerned.
            #expect(try ask(server, "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n").status == 200)
            try first.send([UInt8](repeating: 1, count: 599))
            #expect(try first.readResponse().text == "600")
            #expect(eventually { server.bodyBytes == 0 })
            let third = "POST /count HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n"
            #expect(try ask(server, third + String(repeating: "x", count: 1000)).text == "1000")
        }
    }

    @Test func aBodyInChunksIsRefusedWhereTheRoomEnds() throws {
        try withServer(TestHandler(), configure: { $0.bodiesBytesMax = 1000 }) { server throws in
            let socket = try RawSocket(port: server.port)
            try socket.send("POST /count HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
            try socket.send("3e8\r\n" + String(repeating: "x", count: 1000) + "\r\n")
            #expect(eventually { server.bodyBytes == 1000 })
            try socket.send("1\r\nx\r\n")
            #expect(try socket.readResponse().status == 503)
            #expect(eventually { server.bodyBytes == 0 })
        }
    }

    /// The handler has the body for as long as it likes, and the room is its own until then.
    @Test func aBodyKeepsItsRoomUntilTheHandlerLetsGo() throws {
        let handler = TestHandler()
        try withServer(handler) { server throws in
            let socket = try RawSocket(port: server.port)
            try socket.send("POST /keep HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabcde")
            #expect(try socket.readResponse().status == 200)
            socket.close()
            #expect(eventually { server.connectionCount == 0 })
            #expect(server.bodyBytes == 5)
            handler.forget()
            #expect(server.bodyBytes == 0)
        }
    }

    /// Readers of answers may be as slow as senders of bodies; what they make the server hold is bounded too.
    @Test func anAnswerForWhichThereIsNoRoomIsNotSent() throws {
        // More than the kernel takes of an answer that nobody reads.
        let count = 8 << 20
        let handler = TestHandler(bodyBytesMax: count)
        try withServer(handler, configure: { $0.bodiesBytesMax = count + 1000 }) { server throws in
            let echo = Array("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: \(count)\r\n\r\n".utf8)
            let body = [UInt8](repeating: 1, count: count)
            let slow = try RawSocket(port: server.port)
            try slow.send(echo + body)
            #expect(eventually { server.answerBytes == count && server.bodyBytes == 0 })
            let second = try RawSocket(port: server.port)
            try second.send(echo + body)
            let refusal = try second.readResponse()
            #expect(refusal.status == 503)
            #expect(refusal.text == "answersFull")
            // What is no file in memory is not concerned.
            #expect(try ask(server, "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n").status == 200)
            #expect(try ask(server, "GET /zeros?count=2000 HTTP/1.1\r\nHost: a\r\n\r\n").body.count == 2000)
            slow.close()
            #expect(eventually { server.answerBytes == 0 })
            try second.send(echo + body)
            #expect(try second.readResponse().body.count == count)
            #expect(eventually { server.answerBytes == 0 })
        }
    }

    /// Who does not take an answer that others need the room of loses it.
    @Test func anAnswerThatNobodyTakesGivesItsRoom() throws {
        let count = 8 << 20
        let handler = TestHandler(bodyBytesMax: count)
        try withServer(
            handler,
            configure: {
                $0.bodiesBytesMax = count + 1000
                $0.crowdedTransferMs = 100
            }
        ) { server throws in
            let echo = Array("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: \(count)\r\n\r\n".utf8)
            let body = [UInt8](repeating: 1, count: count)
            let slow = try RawSocket(port: server.port)
            try slow.send(echo + body)
            #expect(eventually { server.answerBytes == count && server.bodyBytes == 0 })
            #expect(
                eventually {
                    guard let socket = try? RawSocket(port: server.port), (try? socket.send(echo + body)) != nil else {
                        return false
                    }
                    return (try? socket.readResponse())?.body.count == count
                })
            #expect(eventually { handler.records.contains { $0.status == 200 && !$0.isComplete } })
        }
    }

    @Test func aSlowBodyKeepsOnlyWhatItHasSent() throws {
        try withServer(
            TestHandler(),
            configure: {
                $0.bodiesBytesMax = 1000
                $0.paceWindowMs = 200
                $0.bytesPerSecondMin = 0
            }
        ) { server throws in
            let slow = try RawSocket(port: server.port)
            try slow.send("POST /count HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nx")
            #expect(eventually { server.bodyBytes == 1000 })
            #expect(eventually { server.bodyBytes == 1 })
            try slow.send([UInt8](repeating: 1, count: 999))
            #expect(try slow.readResponse().text == "1000")
        }
    }

    /// Bodies that come whole, break off, are too long, are refused: nothing of any is left, neither room nor permit.
    @Test func nothingIsLeftOnAnyWay() throws {
        let handler = TestHandler(bodyBytesMax: 5000)
        try withServer(handler) { server throws in
            for round in 0..<30 {
                let socket = try RawSocket(port: server.port)
                switch round % 6 {
                case 0: try socket.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
                case 1: try socket.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3000\r\n\r\nabc")
                case 2: try socket.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 6000\r\n\r\nabc")
                case 3: try socket.send("POST /hold HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
                case 4:
                    try socket.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
                    try socket.send("1f40\r\n" + String(repeating: "x", count: 8000))
                default: try socket.send("POST /refuse HTTP/1.1\r\nHost: a\r\nContent-Length: 3000\r\n\r\nabc")
                }
                if round.isMultiple(of: 2) { usleep(5000) }
                if round.isMultiple(of: 3) { socket.reset() }
            }
            #expect(eventually { handler.records.count >= 25 || server.connectionCount <= 5 })
            handler.release()
            #expect(eventually { server.bodyBytes == 0 })
            #expect(eventually { server.connectionCount == 0 })
            #expect(handler.permitCount == 0)
        }
    }
}
