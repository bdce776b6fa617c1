import Glibc

/// A counter that threads wait on, in memory alone: it takes no descriptor.
package final class Semaphore: @unchecked Sendable {
    // Made here and freed in deinit; between, it is passed only to sem_post and sem_wait, which any thread may call.
    private let raw: UnsafeMutablePointer<sem_t>

    /// - Parameter count: how many waits return before the first signal.
    package init(count: Int = 0) {
        raw = .allocate(capacity: 1)
        raw.initialize(to: sem_t())
        guard let value = UInt32(exactly: count), sem_init(raw, 0, value) == 0 else {
            preconditionFailure("\(count) is no count of a semaphore")
        }
    }

    deinit {
        sem_destroy(raw)
        raw.deallocate()
    }

    /// Lets one wait return.
    package func signal() { sem_post(raw) }

    /// Waits until the count is above 0, and takes one from it.
    package func wait() {
        while sem_wait(raw) != 0 {}
    }
}
