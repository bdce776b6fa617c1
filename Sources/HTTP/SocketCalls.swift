// glibc's socket constants are enumerators, and the compiler files those under whichever C module it read first: hence
// modules that are not called here.
import CLinux
import CMicroHTTPD
import Glibc

/// The few calls on sockets that libmicrohttpd does not make for us.
enum SocketCalls {
    /// Ends a connection both ways, or a listening: the kernel refuses what comes.
    static func shutDown(_ socket: Int32) { shutdown(socket, Int32(SHUT_RDWR)) }

    /// Says that nothing more will be sent.
    static func shutSending(_ socket: Int32) { shutdown(socket, Int32(SHUT_WR)) }

    /// What the peer has not taken when the socket is closed is thrown away, and the peer gets a reset.
    static func discardUnsentOnClose(_ socket: Int32) {
        var linger = Glibc.linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
    }

    /// - Returns: whether all of `bytes` found room in the socket's buffer.
    static func sendAtOnce(_ bytes: [UInt8], on socket: Int32) -> Bool {
        send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)) == bytes.count
    }
}
