import CLinux
import Glibc
import Posix
import Synchronization

/// An HTTP/1.1 server on one listening socket; it runs until it is stopped.
package final class Server: Sendable {
    private struct Running: ~Copyable {
        let daemon: Daemon
        let listener: Listener

        /// The daemon first, then its socket.
        consuming func end() { daemon.stop() }
    }

    /// The port in use, also where 0 was asked for.
    package let port: UInt16
    private let hub: Hub
    private let running: Mutex<Running?>
    private let watch: Watch

    private init(hub: Hub, running: consuming sending Running, watch: Watch) {
        self.hub = hub
        self.watch = watch
        port = running.listener.port
        self.running = Mutex(running)
    }

    /// Binds, and serves at once.
    package static func starting(
        _ configuration: Configuration, handler: any Handler
    ) throws(ListenError) -> Server {
        configuration.validate()
        let hub = Hub(configuration, handler: handler)
        let listener = try Listener.listening(on: configuration.listen)
        let watch: Watch
        do { watch = try Watch.starting(hub) } catch { throw ListenError(error) }
        do {
            let daemon = try Daemon.starting(hub, listener: listener.descriptor.raw)
            return Server(hub: hub, running: Running(daemon: daemon, listener: listener), watch: watch)
        } catch {
            watch.stop()
            throw error
        }
    }

    /// Connections that are open now.
    package var connectionCount: Int { hub.all.count }

    /// What bodies hold in memory now.
    package var bodyBytes: Int { hub.bodies.heldBytes }

    /// What answers hold in memory until they are sent.
    package var answerBytes: Int { hub.answers.heldBytes }

    /// Requests that are being received, handled or answered now.
    package var requestCount: Int { hub.all.count { $0.isBusy } }

    /// Stops: refuses new connections and new requests, answers uploads in the middle with 503 and lets whole requests
    /// end; those that have not after the grace are answered 503 too. Blocks until all is over, and the port is free.
    ///
    /// - Parameter graceMs: how long whole requests may take.
    /// - Returns: whether all requests ended by themselves. True where the server had been stopped before.
    package func stop(graceMs: Int) -> Bool {
        guard let running = running.withLock({ $0.take() }) else { return true }
        running.daemon.quiesce()
        // Else the kernel would go on completing connections that nobody accepts.
        SocketCalls.shutDown(running.listener.descriptor.raw)
        hub.startStopping()
        let isClean = waitUntilQuiet(ms: graceMs)
        hub.stopNow()
        _ = waitUntilQuiet(ms: Self.lastAnswersMs)
        running.end()
        watch.stop()
        return isClean
    }

    /// Time for the last 503s to leave.
    private static let lastAnswersMs = 1000

    private func waitUntilQuiet(ms: Int) -> Bool {
        let endMs = Clock.monotonicMs() + ms
        while !hub.isQuiet {
            if Clock.monotonicMs() >= endMs { return false }
            usleep(2000)
        }
        return true
    }
}
