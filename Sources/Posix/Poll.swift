import Glibc

/// Whether a write of up to 4096 bytes (PIPE_BUF, pipe(7)) would not wait now; true also where nobody reads any more.
package func canWriteAtOnce(_ descriptor: Int32) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return poll(&entry, 1, 0) == 1
}

/// Waits until at least one of `descriptors` has something to read or has lost its peer; which ones.
///
/// - Parameter untilMs: a moment of `Clock.monotonicMs`, after which all answers are false; nil waits for ever.
package func waitReadable(_ descriptors: [Int32], untilMs: Int?) -> [Bool] {
    var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    while true {
        let timeout = untilMs.map { Int32(clamping: max(0, $0 - Clock.monotonicMs())) } ?? -1
        let count = poll(&entries, nfds_t(entries.count), timeout)
        if count < 0 {
            precondition(errno == EINTR, "poll of a few descriptors fails by a signal only")
            continue
        }
        precondition(!entries.contains { $0.revents & Int16(POLLNVAL) != 0 }, "poll was given a dead descriptor")
        return entries.map { $0.revents != 0 }
    }
}
