import CLinux
import Glibc
import Synchronization

/// Plain threads that end together. They may block in system calls and in C as long as they like.
package final class ThreadGroup: Sendable {
    private final class Start: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    private let threads = Mutex<[pthread_t]>([])

    package init() {}

    /// Starts one more thread.
    ///
    /// - Parameter name: seen in ps and gdb; 15 characters count.
    /// - Throws: EAGAIN where the system has no room for one more.
    package func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws(PosixError) {
        let start = Unmanaged.passRetained(Start(name: name, body: body))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                let start = Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
                clinux_name_thread(start.name)
                start.body()
                return nil
            }, start.toOpaque())
        guard code == 0 else {
            start.release()
            throw PosixError(call: "pthread_create", errno: code)
        }
        threads.withLock { $0.append(thread) }
    }

    /// Waits until every thread started so far has ended.
    package func join() {
        let ending = threads.withLock { threads in
            defer { threads = [] }
            return threads
        }
        for thread in ending { pthread_join(thread, nil) }
    }
}
