import Core
import Foundation
import Posix
import Support
import Testing

@testable import Service

@Suite struct LogTests {
    @Test(arguments: Transport.allCases) func writesOneLineForEachRequest(transport: Transport) throws {
        let world = try World(transport)
        _ = try world.send("POST", "/v1/images?quality=80", headers: [("X-Request-Id", "r1")], body: world.jpeg)
        let lines = try world.logged(1)
        #expect(lines.count == 1)
        let line = try #require(lines.first)
        #expect(line["message"] as? String == "request")
        #expect(line["level"] as? String == "info")
        #expect((line["time"] as? String)?.wholeMatch(of: /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z/) != nil)
        #expect(line["request.id"] as? String == "r1")
        #expect(line["http.method"] as? String == "POST")
        #expect(line["http.route"] as? String == "/v1/images")
        #expect(line["http.status"] as? Int == 201)
        #expect(line["bytes.in"] as? Int == world.jpeg.count)
        #expect(line["bytes.out"] as? Int ?? 0 > 0)
        #expect(line["image.kind"] as? String == "heic")
        #expect(line["image.path"] as? String == "reencode")
        #expect(line["image.pixels"] as? Int == 128)
        for time in ["time.total_ms", "time.upload_ms", "time.queue_ms", "time.worker_ms", "time.store_ms"] {
            #expect((0..<10_000).contains(line[time] as? Double ?? -1), "\(time)")
        }
        #expect(line["error.code"] == nil)
    }

    @Test(arguments: Transport.allCases) func tellsNoSecret(transport: Transport) throws {
        let world = try World(transport)
        let url = try world.upload()
        let secrets = [("Authorization", "Bearer 5ecret"), ("Cookie", "5ecret"), ("User-Agent", "5ecret")]
        _ = try world.send("GET", url, headers: secrets)
        _ = try world.send("DELETE", url, headers: secrets)
        _ = try world.send("POST", "/v1/images?5ecret=5ecret", headers: secrets, body: world.jpeg)
        _ = try world.send("GET", "/5ecret/5ecret.jpg?name=5ecret", headers: secrets)
        _ = try world.send("POST", "/v1/convert", headers: secrets, body: Array("5ecret".utf8))
        world.runner.behave(.fail(Failure(.corrupt, "5ecret detail", diagnosis: "the library's words")))
        _ = try world.send("POST", "/v1/images", body: world.jpeg)
        let lines = try world.logged(7)
        #expect(lines.count == 7)
        #expect(
            lines.map { $0["http.route"] as? String } == [
                "/v1/images", "/v1/images/{key}", "/v1/images/{key}", "/v1/images", "none", "/v1/convert", "/v1/images",
            ])
        #expect(!world.log.contains("5ecret"))
        let key = try #require(url.split(separator: "/").last)
        let chance = key.split(separator: "-")[1].prefix(26)
        #expect(chance.count == 26)
        #expect(!world.log.contains(chance))
        #expect(lines.last?["error.diagnosis"] as? String == "the library's words")
        #expect(lines.last?["level"] as? String == "info", "a bad photo is no event for an operator")
    }

    /// A collector that hangs would else hang the threads of HTTP, and with them the whole service.
    @Test func losesLinesRatherThanWait() throws {
        var ends: [Int32] = [-1, -1]
        #expect(pipe(&ends) == 0)
        let reader = Descriptor(adopting: ends[0])
        let writer = Descriptor(adopting: ends[1])
        _ = fcntl(reader.raw, F_SETFL, O_NONBLOCK)
        func lines() throws -> [[String: Any]] {
            var bytes = [UInt8](repeating: 0, count: 1 << 20)
            let count = try bytes.withUnsafeMutableBytes { try reader.read(into: $0) }
            return try bytes[..<count].split(separator: UInt8(ascii: "\n")).map {
                try #require(try JSONSerialization.jsonObject(with: Data($0)) as? [String: Any])
            }
        }
        let log = Log(to: writer.raw)
        for number in 0..<3000 { log(.info, "test", ["number": .number(number)]) }
        let kept = try lines()
        #expect((1..<3000).contains(kept.count))
        #expect(kept.map { $0["number"] as? Int } == Array(0..<kept.count))
        log(.info, "after")
        let next = try lines()
        #expect(next.map { $0["message"] as? String } == ["log lines lost", "after"])
        #expect(next.first?["log.lost"] as? Int == 3000 - kept.count)
    }

    @Test func keepsOddNamesInTheirPlace() throws {
        let world = try World(.direct)
        _ = try world.send("GET\"}", "/healthz")
        let line = try #require(try world.logged(1).first)
        #expect(line["http.method"] as? String == "GET\"}")
    }
}
