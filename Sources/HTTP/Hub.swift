import Posix
import Synchronization

/// What all connections of one server share.
final class Hub: Sendable {
    let handler: any Handler
    let configuration: Configuration
    let bodies: BodyBudget
    /// Of answers, until they are sent: readers may take their time.
    let answers: BodyBudget
    private let stopping = Atomic(false)
    private let exchanges = Mutex<[ObjectIdentifier: Exchange]>([:])

    init(_ configuration: Configuration, handler: any Handler) {
        self.configuration = configuration
        self.handler = handler
        bodies = BodyBudget(bytesMax: configuration.bodiesBytesMax)
        answers = BodyBudget(bytesMax: configuration.bodiesBytesMax)
    }

    var isStopping: Bool { stopping.load(ordering: .acquiring) }

    func add(_ exchange: Exchange) { exchanges.withLock { $0[ObjectIdentifier(exchange)] = exchange } }

    func remove(_ exchange: Exchange) { exchanges.withLock { $0[ObjectIdentifier(exchange)] = nil } }

    /// The open connections of this moment.
    var all: [Exchange] { exchanges.withLock { Array($0.values) } }

    func tick(nowMs: Int) {
        let open = all
        for exchange in open { exchange.tick(nowMs: nowMs) }
        // libmicrohttpd deals the room out to its threads: short of this, one of them still accepts.
        if open.count > configuration.connectionsMax - configuration.threadCount { makeRoom(open, nowMs: nowMs) }
    }

    /// Ends those of `crowd` that have waited the longest for a request, so that clients who hold on to many connections
    /// shut nobody out.
    private func makeRoom(_ crowd: [Exchange], nowMs: Int) {
        let waiting = crowd.compactMap { exchange in exchange.waitingSinceMs.map { (sinceMs: $0, exchange: exchange) } }
            .filter { nowMs - $0.sinceMs >= configuration.crowdedWaitMs }
        for (sinceMs, exchange) in waiting.sorted(by: { $0.sinceMs < $1.sinceMs })
            .prefix(max(1, configuration.connectionsMax / 4))
        { exchange.giveWay(sinceMs: sinceMs) }
    }

    /// Finds the place of a new body among those that are being received: where all are taken, the slowest one that has
    /// had its time gives way, if it is slow indeed. So whoever sends slowly on many connections shuts nobody out.
    ///
    /// - Returns: whether there is one.
    func makeRoomForBody(nowMs: Int) -> Bool {
        let bodies = all.compactMap { exchange in
            exchange.body.map { (exchange: exchange, sinceMs: $0.sinceMs, bytes: $0.bytes) }
        }
        guard bodies.count >= configuration.receivingMax else { return true }
        let slowest = bodies.filter { nowMs - $0.sinceMs >= configuration.crowdedBodyMs }
            .map {
                (exchange: $0.exchange, sinceMs: $0.sinceMs, bytesPerSecond: $0.bytes * 1000 / (nowMs - $0.sinceMs))
            }
            .min { $0.bytesPerSecond < $1.bytesPerSecond }
        guard let slowest, slowest.bytesPerSecond < configuration.crowdedBytesPerSecondMin else { return false }
        slowest.exchange.giveWayAmidBody(sinceMs: slowest.sinceMs)
        return true
    }

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
