import Core
import Foundation
import HTTP
import Posix
import Storage
import Support
import Testing

@testable import Service

/// A store that hangs costs its own requests, and nobody else's.
@Suite struct StoreCallsTests {
    @Test func answersForWhatDoesNotComeBack() {
        var machine = StoreCalls.StateMachine(threadCount: 1)
        let (a, b) = (machine.submit(untilMs: 10) ?? 0, machine.submit(untilMs: 10) ?? 0)
        #expect(a > 0 && b > a)
        #expect(machine.begin(a) == true)
        #expect(machine.expire(nowMs: 9) == [])
        let late = machine.expire(nowMs: 10)
        #expect(Set(late) == [a, b])
        #expect(machine.expire(nowMs: 11) == [])
        #expect(machine.hangingCount == 1, "the other had no thread yet")
        #expect(machine.submit(untilMs: 20) == nil)
        #expect(machine.begin(b) == false)
        #expect(machine.finish(b) == false)
        #expect(machine.finish(a) == false)
        #expect(machine.hangingCount == 0)
        let c = machine.submit(untilMs: 30) ?? 0
        #expect(machine.begin(c) == true)
        #expect(machine.finish(c) == true)
        #expect(machine.finish(c) == false)
        #expect(machine.expire(nowMs: 99) == [])
    }

    @Test(arguments: Transport.allCases) func aFaultyStoreIsAwayAndComesBack(transport: Transport) throws {
        let world = try World(transport, storeMs: 200)
        let url = try world.upload()
        world.faulty.hang()
        defer { world.faulty.comeBack() }
        // Two threads: the first two wait for their deadline, what follows is told at once.
        for _ in 0..<4 {
            let answer = try world.send("POST", "/v1/images", body: world.jpeg)
            #expect(answer.status == 503)
            #expect(try answer.problemCode() == "storage_unavailable")
            #expect(answer["Retry-After"] == "10")
        }
        #expect(try world.send("GET", url).status == 503)
        #expect(try world.send("GET", "/readyz").status == 503)
        #expect(try world.send("POST", "/v1/convert", body: world.jpeg).status == 200)
        #expect(try world.send("GET", "/healthz").status == 200)
        #expect(world.log.contains(#""message":"store does not answer""#))
        #expect(world.log.contains(#""store.hanging":2"#))
        world.faulty.comeBack()
        for _ in 0..<1000 where try world.send("GET", "/readyz").status != 200 { usleep(5000) }
        // What came back too late was taken back: nobody knows its name.
        for _ in 0..<1000 where world.store.keys.count > 1 { usleep(5000) }
        #expect(world.store.keys.count == 1)
        #expect(try world.send("GET", url).status == 200)
    }

    /// More uploads than there are threads for them are being stored, slowly.
    @Test func nothingWaitsBehindUploads() throws {
        let world = try World(.live)
        let url = try world.upload()
        world.faulty.hangInPuts()
        defer { world.faulty.comeBack() }
        let before = world.faulty.putCount
        let uploads = try (0..<4).map { _ in
            let socket = try RawSocket(port: world.port)
            try socket.send("POST /v1/images HTTP/1.1\r\nHost: a\r\nContent-Length: \(world.jpeg.count)\r\n\r\n")
            try socket.send(world.jpeg)
            return socket
        }
        for _ in 0..<1000 where world.faulty.putCount < before + 2 { usleep(5000) }
        #expect(world.faulty.putCount == before + 2)
        #expect(try world.send("GET", url).status == 200)
        #expect(try world.send("GET", "/readyz").status == 200)
        world.faulty.comeBack()
        for socket in uploads { #expect(try socket.readResponse().status == 201) }
    }

    @Test func theEndDoesNotWaitForAStoreThatHangs() throws {
        let calls = try StoreCalls.start(
            name: "test", threadCount: 1, queueLengthMax: 1, deadlineMs: 100, log: Log { _ in })
        let store = FaultyStore(MemoryStore())
        store.hang()
        let isAnswered = DispatchSemaphore(value: 0)
        calls.run({ () throws(Failure) in try? store.probe() }) { _ in isAnswered.signal() }
        #expect(isAnswered.wait(timeout: .now() + 20) == .success)
        #expect(!calls.stop(graceMs: 50))
        store.comeBack()
        #expect(calls.stop(graceMs: 20_000))
    }

    /// The client goes while a worker is at its photo: the job is given up, and nothing is stored.
    @Test func aPhotoThatNobodyWaitsForIsNotStored() throws {
        let world = try World(.live)
        world.runner.behave(.hold)
        let socket = try RawSocket(port: world.port)
        try socket.send("POST /v1/images HTTP/1.1\r\nHost: a\r\nContent-Length: \(world.jpeg.count)\r\n\r\n")
        try socket.send(world.jpeg)
        for _ in 0..<1000 where world.runner.jobs.isEmpty { usleep(5000) }
        socket.close()
        for _ in 0..<1000 where world.runner.cancelled.isEmpty { usleep(5000) }
        #expect(world.runner.cancelled.count == 1)
        let line = try #require(try world.logged(1).first)
        #expect(line["http.cut_short"] as? Bool == true)
        #expect(line["http.status"] == nil)
        #expect(world.store.keys.isEmpty)
    }
}
