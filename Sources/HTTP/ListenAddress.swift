// For the socket types, as in SocketCalls.
import CLinux
import CMicroHTTPD
import Glibc

/// Where to listen: `127.0.0.1:8080`, `[::1]:8080`, `localhost:8080`, or `:8080` for every address of the machine.
package struct ListenAddress: Sendable, Equatable {
    /// Without brackets; "" is every address.
    package let host: String
    /// 0 lets the kernel choose.
    package let port: UInt16

    /// Nil where `text` has no port, or an IPv6 address without brackets.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = Self.port(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = text[..<colon]
        if host.first == "[", host.last == "]", host.count > 2 {
            host = host.dropFirst().dropLast()
            guard host.contains(":") else { return nil }
        } else {
            guard !host.contains(where: { ":[]/ ".contains($0) }) else { return nil }
        }
        self.host = String(host)
        self.port = port
    }

    /// Whether only this machine can reach it: 127.0.0.0/8, ::1 (RFC 6890) and the name localhost (RFC 6761).
    package var isLoopback: Bool {
        if host.lowercased() == "localhost" { return true }
        var v4 = in_addr()
        if inet_pton(AF_INET, host, &v4) == 1 { return UInt32(bigEndian: v4.s_addr) >> 24 == 127 }
        var v6 = in6_addr()
        guard inet_pton(AF_INET6, host, &v6) == 1 else { return false }
        return withUnsafeBytes(of: v6) { $0.dropLast().allSatisfy { $0 == 0 } && $0.last == 1 }
    }

    private static func port(_ text: Substring) -> UInt16? {
        guard (1...5).contains(text.utf8.count), text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
        return UInt16(text)
    }
}

extension ListenAddress: CustomStringConvertible {
    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
