import Foundation
import Support
import Testing

@testable import HTTP

@Suite struct RuleTests {
    private func target(_ text: String, _ method: HTTP.Method = .get) throws -> RequestTarget {
        try RequestTarget(Array(text.utf8), method: method)
    }

    @Test(arguments: [
        ("/", []), ("/a", ["a"]), ("/a/", ["a", ""]), ("//a", ["", "a"]), ("/a/../b", ["a", "..", "b"]),
        ("/a%2Fb/%2e%2e", ["a/b", ".."]), ("/a+b", ["a+b"]), ("/%E2%82%AC", ["€"]), ("/?x", []),
        ("http://h", []), ("HTTP://h/a", ["a"]), ("https://h?q", []),
    ]) func takesPathsApart(text: String, path: [String]) throws {
        #expect(try target(text).path == path)
    }

    @Test(arguments: [
        ("/", []), ("/?", []), ("/?a=1&b=2", ["a=1", "b=2"]), ("/?a=1&a=1", ["a=1", "a=1"]), ("/?a", ["a="]),
        ("/?=1", ["=1"]), ("/?&&a=1&", ["a=1"]), ("/?a=b=c", ["a=b=c"]), ("/?a%3Db=c%26d", ["a=b=c&d"]),
        ("/?a?b=/c", ["a?b=/c"]), ("/?a+b=c%2B+d", ["a b=c+ d"]), ("/?a;b=c", ["a;b=c"]), ("https://h?q=1", ["q=1"]),
    ]) func takesQueriesApart(text: String, pairs: [String]) throws {
        #expect(try target(text).query.map { "\($0.name)=\($0.value)" } == pairs)
    }

    @Test(arguments: [
        "", "a", "a/b", "*", "http:/a", "http://", "http:///a", "ftp://h/", "/a b", "/a\tb", "/\u{7f}", "/ä", "/#",
        "/%",
        "/%a", "/%g0", "/%0g", "/%00", "/%c3", "/%c3%28", "/%ed%a0%80", "/?%", "/?a=%00", "/?a=%ff", "h:80",
    ]) func refusesTargets(text: String) {
        #expect(throws: HTTPProblem.self) { try target(text) }
    }

    @Test func starIsForOptions() throws {
        #expect(try target("*", .options).path == [])
    }

    @Test func decodesEveryOtherByteOnce() throws {
        for byte in 1...127 {
            let hex = String(byte, radix: 16)
            let text = "/%" + (hex.count < 2 ? "0" : "") + hex
            #expect(try target(text).path == [String(UnicodeScalar(UInt8(byte)))])
        }
        #expect(try target("/%2525").path == ["%25"])
    }

    @Test(arguments: [
        ([], nil, BodyFraming.none), (["content-length: 0"], nil, .length(0)),
        (["content-length: 007"], nil, .length(7)),
        (["transfer-encoding: chunked"], "chunked", .chunked), (["transfer-encoding: Chunked"], "Chunked", .chunked),
    ]) func framesBodies(lines: [String], seen: String?, framing: BodyFraming) throws {
        #expect(try BodyFraming(headers(lines), transferEncodingAsSeen: seen, isHTTP11: true) == framing)
    }

    @Test(arguments: [
        (["content-length: 1", "content-length: 1"], nil), (["content-length: 1,1"], nil), (["content-length: "], nil),
        (["content-length: 1 1"], nil), (["content-length: -1"], nil), (["content-length: +1"], nil),
        (["content-length: ١"], nil), (["content-length: 99999999999999999999"], nil),
        (["content-length: 1", "transfer-encoding: chunked"], "chunked"), (["transfer-encoding: gzip"], "gzip"),
        (["transfer-encoding: chunked", "transfer-encoding: chunked"], "chunked"),
        // libmicrohttpd 0.9.75 keeps the blank and then does not read chunks.
        (["transfer-encoding: chunked "], "chunked "),
    ]) func refusesDoubtfulFraming(lines: [String], seen: String?) throws {
        let headers = try headers(lines)
        #expect(throws: HTTPProblem.self) {
            try BodyFraming(headers, transferEncodingAsSeen: seen, isHTTP11: true)
        }
    }

    @Test func trimsValuesAndKeepsOrder() throws {
        let headers = try headers(["B: \t one  two \t", "a:", "b: three"])
        #expect(headers.fields.map(\.name) == ["b", "a", "b"])
        #expect(headers.values("b") == ["one  two", "three"])
        #expect(headers["a"] == "")
        #expect(headers["c"] == nil)
    }

    @Test(arguments: [
        "a b: c", "a : c", "a\t: c", ": c", "(a): c", "ä: c", "a: b\u{0}c", "a: b\rc", "a: b\nc", "a: \u{7f}",
    ])
    func refusesFields(line: String) {
        #expect(throws: HTTPProblem.self) { try headers([line]) }
    }

    @Test(arguments: [
        ("127.0.0.1:8080", "127.0.0.1", 8080, true), ("127.9.9.9:0", "127.9.9.9", 0, true),
        ("[::1]:65535", "::1", 65535, true), ("localhost:80", "localhost", 80, true),
        ("0.0.0.0:80", "0.0.0.0", 80, false),
        ("[::]:80", "::", 80, false), (":80", "", 80, false), ("example.org:80", "example.org", 80, false),
        ("128.0.0.1:80", "128.0.0.1", 80, false), ("[::2]:80", "::2", 80, false),
    ]) func readsAddresses(text: String, host: String, port: UInt16, isLoopback: Bool) throws {
        let address = try #require(ListenAddress(text))
        #expect(address.host == host)
        #expect(address.port == port)
        #expect(address.isLoopback == isLoopback)
        #expect(address.description == text)
    }

    @Test(arguments: ["", "a", "a:", "::1:80", "[::1]", "[::1]80", "[a]:80", "a:b", "a:-1", "a:65536", "a:+1", "a/b:1"])
    func refusesAddresses(text: String) {
        #expect(ListenAddress(text) == nil)
    }

    @Test(.enabled(if: FileManager.default.contents(atPath: "/proc/net/if_inet6")?.isEmpty == false))
    func listensOnIPv6() throws {
        let address = try #require(ListenAddress("[::1]:0"))
        let server = try Server.starting(Configuration(listen: address), handler: TestHandler())
        #expect(server.port > 0)
        _ = server.stop(graceMs: 0)
    }

    /// An empty host is every address, also where that takes both of the kernel's families.
    @Test(.enabled(if: FileManager.default.contents(atPath: "/proc/net/if_inet6")?.isEmpty == false))
    func listensOnEveryAddress() throws {
        let every = try #require(ListenAddress(":0"))
        let server = try Server.starting(Configuration(listen: every), handler: TestHandler())
        defer { _ = server.stop(graceMs: 0) }
        for address in ["127.0.0.1", "[::1]"] {
            let outcome = try Tool.run([
                "curl", "--silent", "--noproxy", "*", "--max-time", "20", "http://\(address):\(server.port)/hello",
            ])
            #expect(outcome.text == "hello", "\(address)")
        }
    }

    @Test func tellsThatAHostIsUnknown() throws {
        // Too long for a label of a domain name, so no name server is asked.
        let nowhere = try #require(ListenAddress(String(repeating: "a", count: 70) + ":0"))
        let error = #expect(throws: ListenError.self) {
            try Server.starting(Configuration(listen: nowhere), handler: TestHandler())
        }
        guard case .unknownHost(let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.description == "the address to listen on does not resolve: \(reason)")
    }

    @Test func paceIsJudgedWindowByWindow() {
        var pace = Pace(windowMs: 1000, bytesPerSecondMin: 100, nowMs: 0, bytes: 0)
        #expect(isTooSlow(&pace, nowMs: 999, bytes: 0) == false)
        #expect(isTooSlow(&pace, nowMs: 1000, bytes: 100) == false)
        // The window is as long as it was until somebody looked.
        #expect(isTooSlow(&pace, nowMs: 3000, bytes: 300) == false)
        #expect(isTooSlow(&pace, nowMs: 3999, bytes: 300) == false)
        #expect(isTooSlow(&pace, nowMs: 4000, bytes: 399) == true)
    }

    @Test func aFastStartBuysNoTime() {
        var pace = Pace(windowMs: 1000, bytesPerSecondMin: 100, nowMs: 0, bytes: 0)
        #expect(isTooSlow(&pace, nowMs: 1000, bytes: 1_000_000) == false)
        #expect(isTooSlow(&pace, nowMs: 2000, bytes: 1_000_099) == true)
    }

    /// `#expect` cannot call what mutates.
    private func isTooSlow(_ pace: inout Pace, nowMs: Int, bytes: Int) -> Bool {
        pace.isTooSlow(nowMs: nowMs, bytes: bytes)
    }

    private func headers(_ lines: [String]) throws -> HeaderFields {
        var headers = HeaderFields()
        for line in lines {
            let parts = line.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
            try headers.append(name: parts[0], value: parts[1])
        }
        return headers
    }
}
