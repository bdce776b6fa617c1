import CLinux
import Glibc

/// Owns one end of a socket that carries whole messages, and descriptors beside them (SEQPACKET, SCM_RIGHTS).
package struct Socket: ~Copyable, Sendable {
    package let descriptor: Descriptor

    package init(adopting descriptor: consuming Descriptor) { self.descriptor = descriptor }

    /// Sends one message, and copies of `descriptors` with it. Never waits.
    ///
    /// - Throws: EPIPE or ECONNRESET where the peer is gone; EAGAIN where it leaves its messages unread.
    package borrowing func send(_ bytes: [UInt8], descriptors: [Int32] = []) throws(PosixError) {
        let raw = descriptor.raw
        try syscall("sendmsg") { clinux_send(raw, bytes, bytes.count, descriptors, descriptors.count) }
    }

    /// Waits for one message; nil once the peer is gone.
    ///
    /// - Throws: EMSGSIZE where the message is longer than `bytesMax` or carries more than `descriptorsMax`
    ///   descriptors; it is lost then, and none of its descriptors stays open.
    package borrowing func receive(bytesMax: Int, descriptorsMax: Int) throws(PosixError) -> Message? {
        let raw = descriptor.raw
        var bytes = [UInt8](repeating: 0, count: bytesMax)
        var descriptors = [Int32](repeating: -1, count: descriptorsMax)
        var descriptorCount = 0
        let count: Int
        do {
            count = try syscall("recvmsg") {
                descriptorCount = descriptorsMax
                return clinux_receive(raw, &bytes, bytesMax, &descriptors, &descriptorCount)
            }
        } catch {
            // What a peer says that dies with messages unread.
            if error.errno == ECONNRESET { return nil }
            throw error
        }
        let message = Message(bytes: Array(bytes.prefix(count)), adopting: descriptors.prefix(descriptorCount))
        // An empty message looks like the end and is of no use: it counts as the end.
        if count == 0 { return nil }
        return message
    }
}

/// A message received, owner of the descriptors that came with it.
package struct Message: ~Copyable, Sendable {
    package let bytes: [UInt8]
    private var descriptors: ArraySlice<Int32>

    fileprivate init(bytes: [UInt8], adopting descriptors: ArraySlice<Int32>) {
        self.bytes = bytes
        self.descriptors = descriptors
    }

    deinit { for raw in descriptors { Glibc.close(raw) } }

    /// How many descriptors are still to be taken.
    package var descriptorCount: Int { descriptors.count }

    /// The next descriptor, in the sender's order; those never taken are closed with the message.
    package mutating func takeDescriptor() -> Descriptor? {
        descriptors.popFirst().map { Descriptor(adopting: $0) }
    }
}

/// Two sockets connected to each other: one to keep, one to give to a child. Both are close-on-exec.
package struct SocketPair: ~Copyable, Sendable {
    package let near: Socket
    package let far: Socket

    /// Two fresh ends.
    package static func make() throws(PosixError) -> SocketPair {
        var raw: [Int32] = [-1, -1]
        let type = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        try syscall("socketpair") { socketpair(AF_UNIX, type, 0, &raw) }
        return SocketPair(
            near: Socket(adopting: Descriptor(adopting: raw[0])), far: Socket(adopting: Descriptor(adopting: raw[1])))
    }

    /// Keeps the near end and closes the far one, so that the child's end alone holds the line open.
    package consuming func keepNear() -> Socket { near }
}
