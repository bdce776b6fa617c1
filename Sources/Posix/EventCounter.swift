import CLinux
import Glibc

/// A counter in the kernel that threads wait on, alone or in a poll beside sockets and processes (eventfd).
package final class EventCounter: Sendable {
    /// Polls as readable while the counter is above 0.
    package let descriptor: Descriptor

    private init(adopting descriptor: consuming Descriptor) { self.descriptor = descriptor }

    /// A counter at 0.
    package static func make() throws(PosixError) -> EventCounter {
        EventCounter(adopting: Descriptor(adopting: try syscall("eventfd") { clinux_eventfd() }))
    }

    /// Adds to the counter; as many waiters go on.
    package func signal(count: Int = 1) {
        var value = UInt64(count)
        let written = write(descriptor.raw, &value, 8)
        precondition(written == 8, "an eventfd takes every count below 2^64 - 1")
    }

    /// Waits until the counter is above 0, and takes one from it.
    package func wait() {
        var value: UInt64 = 0
        while read(descriptor.raw, &value, 8) != 8 {
            precondition(errno == EINTR, "reading an eventfd fails by a signal only")
        }
    }
}
