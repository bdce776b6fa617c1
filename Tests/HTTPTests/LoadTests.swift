import Foundation
import HTTP
import Posix
import Support
import Synchronization
import Testing

@Suite struct LoadTests {
    @Test func sixteenClientsAtOnce() throws {
        let handler = TestHandler()
        try withServer(handler) { server throws in
            let good = Atomic(0)
            let group = DispatchGroup()
            for client in 0..<16 {
                let port = server.port
                group.enter()
                Thread.detachNewThread {
                    defer { group.leave() }
                    guard let socket = try? RawSocket(port: port) else { return }
                    for round in 0..<20 {
                        let body = [UInt8](repeating: UInt8(client), count: 1000 * (round + 1))
                        let path = round.isMultiple(of: 3) ? "/later?ms=\(client % 4)" : "/echo"
                        let head = "POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.count)\r\n\r\n"
                        guard (try? socket.send(Array(head.utf8) + body)) != nil,
                            let response = try? socket.readResponse(), response.status == 200
                        else { return }
                        let expected = round.isMultiple(of: 3) ? Array("later".utf8) : body
                        if response.body == expected { good.add(1, ordering: .relaxed) }
                    }
                }
            }
            group.wait()
            #expect(good.load(ordering: .relaxed) == 320)
            #expect(eventually { server.connectionCount == 0 })
            #expect(handler.records.count == 320)
            #expect(handler.records.allSatisfy { $0.isComplete && $0.status == 200 })
        }
    }

    /// In a process of its own, where no other test opens descriptors.
    @Test func noDescriptorIsLeftBehind() async {
        await #expect(processExitsWith: .success) {
            func openCount() throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
            }
            func round() throws {
                try withServer { server throws in
                    for _ in 0..<20 {
                        let socket = try RawSocket(port: server.port)
                        try socket.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabcde")
                        #expect(try socket.readResponse().text == "abcde")
                        try socket.send("GET /zeros?count=100 HTTP/1.1\r\nHost: a\r\n\r\n")
                        #expect(try socket.readResponse().body.count == 100)
                        try socket.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab")
                    }
                }
            }
            try round()
            let before = try openCount()
            for _ in 0..<3 { try round() }
            #expect(try openCount() == before)
        }
    }
}
