import Posix

/// The thread that looks at the time of all connections.
final class Watch: Sendable {
    private let threads = ThreadGroup()
    private let end: EventCounter

    private init(end: EventCounter) { self.end = end }

    static func starting(_ hub: Hub) throws(PosixError) -> Watch {
        let watch = Watch(end: try EventCounter.make())
        let end = watch.end
        try watch.threads.start("http-watch") {
            while true {
                let nowMs = Clock.monotonicMs()
                hub.tick(nowMs: nowMs)
                if waitReadable([end.descriptor.raw], untilMs: nowMs + hub.configuration.watchIntervalMs)[0] { return }
            }
        }
        return watch
    }

    /// Returns when the thread has ended.
    func stop() {
        end.signal()
        threads.join()
    }
}
