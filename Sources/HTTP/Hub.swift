import Posix
import Synchronization

/// What all connections of one server share.
final class Hub: Sendable {
    let handler: any Handler
    let configuration: Configuration
    private let stopping = Atomic(false)
    private let exchanges = Mutex<[ObjectIdentifier: Exchange]>([:])

    init(_ configuration: Configuration, handler: any Handler) {
        self.configuration = configuration
        self.handler = handler
    }

    var isStopping: Bool { stopping.load(ordering: .acquiring) }

    func add(_ exchange: Exchange) { exchanges.withLock { $0[ObjectIdentifier(exchange)] = exchange } }

    func remove(_ exchange: Exchange) { exchanges.withLock { $0[ObjectIdentifier(exchange)] = nil } }

    /// The open connections of this moment.
    var all: [Exchange] { exchanges.withLock { Array($0.values) } }

    func tick(nowMs: Int) { for exchange in all { exchange.tick(nowMs: nowMs) } }

    /// From now on new requests are answered 503.
    func startStopping() {
        stopping.store(true, ordering: .releasing)
        for exchange in all { exchange.stop() }
    }

    /// From now on no request is handled, and so no connection suspended.
    func stopNow() { for exchange in all { exchange.stopNow() } }

    /// Whether nothing is being received, handled or answered.
    var isQuiet: Bool { all.allSatisfy { !$0.isBusy } }
}
