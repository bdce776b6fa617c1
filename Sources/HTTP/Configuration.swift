/// The server's bounds; the defaults are the service's promise to its peers.
package struct Configuration: Sendable {
    /// Where connections are taken.
    package var listen: ListenAddress
    /// Threads that read and write; none of them ever blocks.
    package var threadCount = 2
    /// Connections at a time. Those that wait for a request make room for new ones; where all are busy, the next ones
    /// wait in the kernel's queue.
    package var connectionsMax = 256
    /// How many of them may be receiving a body; the rest is left for what needs none, such as a look at the health.
    package var receivingMax = 224
    /// Where connections, or the memory of bodies or answers, are all taken, a body or an answer that has been on its way
    /// for `crowdedTransferMs` and was below this of late gives way to others.
    package var crowdedBytesPerSecondMin = 64 * 1024
    /// Time that each of them has in any case.
    package var crowdedTransferMs = 2000
    /// Memory of one connection's buffers; also the bound on a request's head.
    package var connectionBytes = 128 * 1024
    /// Time for a head to come, from its first byte or from the connection's beginning.
    package var headMs = 10_000
    /// Time that a connection may idle between two requests; longer than the usual load balancer's 60 s, so that it is not
    /// we who close the connection that it is about to use.
    package var keepAliveMs = 75_000
    /// Time that a connection has in any case to send a request, or the rest of its head, while others wait for its place.
    package var crowdedWaitMs = 1000
    /// A body, or an answer's reader, must move `bytesPerSecondMin` in each such window.
    package var paceWindowMs = 10_000
    /// What must be moved on average over a window.
    package var bytesPerSecondMin = 16 * 1024
    /// Time for a body to come whole, at whatever pace.
    package var bodyMs = 900_000
    /// What all bodies that are being received or worked on may hold in memory; and once more, what all answers may that
    /// are being sent. A single answer may be larger.
    package var bodiesBytesMax = 256 * 1024 * 1024
    /// What a client that was refused in mid-body may still send until it is cut off, so that it reads the answer and not
    /// a reset (RFC 9112, section 9.6).
    package var drainBytesMax = 16 * 1024 * 1024
    /// How long, at most.
    package var drainMs = 5_000
    /// How long after a client's last byte, with its end known to the kernel, libmicrohttpd has to notice.
    package var missedEndMs = 1000
    /// How often the times above are looked at.
    package var watchIntervalMs = 250

    package init(listen: ListenAddress) { self.listen = listen }

    func validate() {
        precondition(threadCount > 0 && connectionsMax >= threadCount && connectionBytes >= 4096)
        precondition(receivingMax > 0 && crowdedTransferMs > 0 && crowdedBytesPerSecondMin >= 0)
        precondition(headMs > 0 && keepAliveMs > 0 && crowdedWaitMs >= 0)
        precondition(paceWindowMs > 0 && bodyMs > 0 && drainMs > 0 && watchIntervalMs > 0)
        precondition(bytesPerSecondMin >= 0 && bodiesBytesMax >= 0 && drainBytesMax >= 0)
    }
}
