import Foundation
import Glibc

/// A client that sends exactly the bytes it is told to: to ask what no HTTP library would.
package final class RawSocket {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    private let descriptor: Int32
    private var isOpen = true
    /// Read, but behind the last response.
    private var buffer: [UInt8] = []

    /// Connects to this machine.
    ///
    /// - Parameters:
    ///   - receiveBufferBytes: small for a reader that is to fall behind.
    ///   - timeoutMs: how long one read or write may wait; then it fails.
    package init(port: UInt16, receiveBufferBytes: Int32? = nil, timeoutMs: Int = 5000) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Self.failure("socket") }
        var limit = timeval(tv_sec: timeoutMs / 1000, tv_usec: timeoutMs % 1000 * 1000)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        if var bytes = receiveBufferBytes {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let code = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { throw Self.failure("connect") }
    }

    deinit { close() }

    package func close() {
        if isOpen { Glibc.close(descriptor) }
        isOpen = false
    }

    /// Closes so that the server gets a reset.
    package func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    /// Says that nothing more will be sent; reading goes on.
    package func halfClose() { shutdown(descriptor, Int32(SHUT_WR)) }

    package func send(_ text: String) throws { try send(Array(text.utf8)) }

    package func send(_ bytes: [UInt8]) throws {
        let count = sendAsMuchAsGoes(bytes)
        guard count == bytes.count else { throw Self.failure("send, after \(count) of \(bytes.count) bytes") }
    }

    /// - Returns: how many bytes went out before the server refused more.
    package func sendAsMuchAsGoes(_ bytes: [UInt8]) -> Int {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, min($0.count, 65536), Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { break }
            sent += count
        }
        return sent
    }

    /// Reads one response, its body by Content-Length or in chunks.
    ///
    /// - Parameter isToHead: whether it answers HEAD, so that no body follows.
    package func readFinalResponse() throws -> RawResponse {
        while true {
            let response = try readResponse()
            if response.status >= 200 { return response }
        }
    }

    package func readResponse(isToHead: Bool = false) throws -> RawResponse {
        let end = Array("\r\n\r\n".utf8)
        var headCount: Int?
        while headCount == nil {
            headCount = buffer.indices.first { buffer[$0...].starts(with: end) }
            if headCount == nil, try !readMore() { throw Failure(description: "the end before a response: \(text)") }
        }
        let lines = String(decoding: take(headCount ?? 0), as: UTF8.self).components(separatedBy: "\r\n")
        _ = take(end.count)
        var response = try RawResponse(lines)
        if isToHead || response.status < 200 || [204, 304].contains(response.status) { return response }
        if response["transfer-encoding"] == "chunked" {
            while case let size = try readChunkSize(), size > 0 {
                response.body += try readExactly(size)
                _ = try readExactly(2)
            }
            _ = try readExactly(2)
        } else if let count = response["content-length"].flatMap(Int.init) {
            response.body = try readExactly(count)
        } else {
            response.body = readToEnd()
        }
        return response
    }

    /// Everything until the server closes, or nothing more comes in time.
    package func readToEnd() -> [UInt8] {
        while let more = try? readMore(), more {}
        return take(buffer.count)
    }

    /// Whether the server closes within the time limit, sending nothing before.
    package func isClosedByServer() -> Bool {
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, 0)
        return count == 0 || (count < 0 && errno == ECONNRESET)
    }

    /// Reads up to `count` bytes at once, for slow readers.
    package func readSome(_ count: Int) -> Int {
        var bytes = [UInt8](repeating: 0, count: count)
        return recv(descriptor, &bytes, count, 0)
    }

    private var text: String { String(decoding: buffer.prefix(200), as: UTF8.self) }

    private func readExactly(_ count: Int) throws -> [UInt8] {
        while buffer.count < count {
            if try !readMore() { throw Failure(description: "the end after \(buffer.count) of \(count) bytes") }
        }
        return take(count)
    }

    private func readChunkSize() throws -> Int {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: take(end + 1), as: UTF8.self).trimmingCharacters(in: .whitespaces)
                guard let size = Int(line.trimmingCharacters(in: .newlines), radix: 16) else {
                    throw Failure(description: "not a chunk size: \(line)")
                }
                return size
            }
            if try !readMore() { throw Failure(description: "the end within a chunk size") }
        }
    }

    private func take(_ count: Int) -> [UInt8] {
        defer { buffer.removeFirst(count) }
        return Array(buffer.prefix(count))
    }

    /// - Returns: false at the end.
    private func readMore() throws -> Bool {
        var bytes = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        guard count >= 0 else { throw Self.failure("recv") }
        buffer += bytes.prefix(count)
        return count > 0
    }

    private static func failure(_ call: String) -> Failure {
        Failure(description: "\(call): \(String(cString: strerror(errno)))")
    }
}

/// A response as it came.
package struct RawResponse {
    package let status: Int
    /// Names in lower case.
    package let headers: [(name: String, value: String)]
    package fileprivate(set) var body: [UInt8] = []

    fileprivate init(_ lines: [String]) throws {
        let first = lines[0].split(separator: " ")
        guard first.count >= 2, first[0].hasPrefix("HTTP/1."), let status = Int(first[1]) else {
            throw RawSocket.Failure(description: "not a status line: \(lines[0])")
        }
        self.status = status
        headers = lines.dropFirst().compactMap { line in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            return (line[..<colon].lowercased(), value)
        }
    }

    /// The first value of a header.
    ///
    /// - Parameter name: in lower case.
    package subscript(name: String) -> String? { headers.first { $0.name == name }?.value }

    package var text: String { String(decoding: body, as: UTF8.self) }
}
