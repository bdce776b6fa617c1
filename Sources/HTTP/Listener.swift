// For the socket constants, as in SocketCalls.
import CLinux
import CMicroHTTPD
import Glibc
import Posix

/// Why a server could not be started.
package enum ListenError: Error, Sendable, Equatable {
    /// The name does not resolve; the resolver's words.
    case unknownHost(String)
    /// A system call failed: most often EADDRINUSE or EACCES of bind.
    case system(call: String, errno: Int32)
    /// libmicrohttpd did not start; it does not say why.
    case library

    init(_ error: PosixError) { self = .system(call: error.call, errno: error.errno) }
}

extension ListenError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unknownHost(let reason): "the address to listen on does not resolve: \(reason)"
        case .system(let call, let errno): "\(PosixError(call: call, errno: errno))"
        case .library: "libmicrohttpd did not start"
        }
    }
}

/// Owns a listening TCP socket.
struct Listener: ~Copyable {
    let descriptor: Descriptor
    /// The port in use, also where 0 was asked for.
    let port: UInt16

    private init(adopting descriptor: consuming Descriptor, port: UInt16) {
        self.descriptor = descriptor
        self.port = port
    }

    /// Binds to the first address of the host that can be had. For every address of the machine that is IPv6's `::`,
    /// which takes IPv4 too; where the kernel has no IPv6, IPv4's.
    static func listening(on address: ListenAddress) throws(ListenError) -> Listener {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(address.host.isEmpty ? nil : address.host, String(address.port), &hints, &list)
        guard code == 0 else { throw .unknownHost(String(cString: gai_strerror(code))) }
        defer { freeaddrinfo(list) }

        var failure = PosixError(call: "getaddrinfo", errno: EADDRNOTAVAIL)
        var candidates: [addrinfo] = []
        var next = list
        while let candidate = next?.pointee {
            candidates.append(candidate)
            next = candidate.ai_next
        }
        if address.host.isEmpty { candidates.sort { $0.ai_family == AF_INET6 && $1.ai_family != AF_INET6 } }
        for candidate in candidates {
            do { return try bound(to: candidate) } catch { failure = error }
        }
        throw ListenError(failure)
    }

    private static func bound(to address: addrinfo) throws(PosixError) -> Listener {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = Descriptor(adopting: try syscall("socket") { socket(address.ai_family, type, 0) })
        let raw = descriptor.raw
        // A restart must not wait for the old connections' TIME_WAIT.
        try setOption(raw, SOL_SOCKET, SO_REUSEADDR, 1)
        if address.ai_family == AF_INET6 { try setOption(raw, Int32(IPPROTO_IPV6), IPV6_V6ONLY, 0) }
        try syscall("bind") { bind(raw, address.ai_addr, address.ai_addrlen) }
        try syscall("listen") { listen(raw, backlog) }
        return Listener(adopting: descriptor, port: try boundPort(raw))
    }

    /// The kernel cuts it to net.core.somaxconn.
    private static let backlog: Int32 = 1024

    private static func setOption(_ socket: Int32, _ level: Int32, _ name: Int32, _ value: Int32) throws(PosixError) {
        var value = value
        try syscall("setsockopt") { setsockopt(socket, level, name, &value, socklen_t(MemoryLayout<Int32>.size)) }
    }

    private static func boundPort(_ socket: Int32) throws(PosixError) -> UInt16 {
        var address = sockaddr_in6()
        var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
        try syscall("getsockname") {
            withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &size) }
            }
        }
        // The port lies at the same place in sockaddr_in and sockaddr_in6.
        return UInt16(bigEndian: address.sin6_port)
    }
}
