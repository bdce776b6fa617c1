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

    /// Ends those of `crowd` that have waited the longest for a request or, where none has, those that take their answers
    /// the slowest, so that clients who hold on to many connections shut nobody out.
    private func makeRoom(_ crowd: [Exchange], nowMs: Int) {
        let waiting = crowd.compactMap { exchange in exchange.waitingSinceMs.map { (sinceMs: $0, exchange: exchange) } }
            .filter { nowMs - $0.sinceMs >= configuration.crowdedWaitMs }
        for (sinceMs, exchange) in waiting.sorted(by: { $0.sinceMs < $1.sinceMs })
            .prefix(max(1, configuration.connectionsMax / 4))
        { exchange.giveWay(sinceMs: sinceMs) }
        guard waiting.isEmpty else { return }
        for transfer in slow(.answer, nowMs: nowMs).prefix(max(1, configuration.connectionsMax / 16)) {
            transfer.exchange.giveWay(transfer)
        }
    }

    /// The bodies or answers that may have to give way, the slowest first.
    private func slow(_ kind: Exchange.StateMachine.Transfer, nowMs: Int) -> [Exchange.Transfer] {
        all.compactMap { $0.transfer(nowMs: nowMs) }
            .filter { $0.kind == kind && $0.bytesPerSecond < configuration.crowdedBytesPerSecondMin }
            .sorted { $0.bytesPerSecond < $1.bytesPerSecond }
    }

    /// Finds the place of a new body among those that are being received; where all are taken, the slowest one gives way.
    ///
    /// - Returns: whether there is one.
    func makeRoomForBody(nowMs: Int) -> Bool {
        // Each is asked only where there are so many at all.
        guard exchanges.withLock({ $0.count }) >= configuration.receivingMax,
            all.count(where: { $0.isReceivingBody }) >= configuration.receivingMax
        else { return true }
        guard let slowest = slow(.body, nowMs: nowMs).first else { return false }
        slowest.exchange.giveWay(slowest)
        return true
    }

    /// Room for a body of `count` bytes; where there is none, the slow one that holds the most gives way.
    func holdBody(_ count: Int, nowMs: Int) -> BodyBudget.Hold? {
        if let hold = bodies.hold(count) { return hold }
        guard let largest = slow(.body, nowMs: nowMs).max(by: { $0.heldBytes < $1.heldBytes }) else { return nil }
        largest.exchange.giveWay(largest)
        return bodies.hold(count)
    }

    /// Room for an answer of `count` bytes. Where there is none, the slow one that holds the most is ended, for the next
    /// one's sake: its memory comes back when libmicrohttpd has noticed.
    func holdAnswer(_ count: Int, nowMs: Int) -> BodyBudget.Hold? {
        if let hold = answers.hold(count, mayBeAlone: true) { return hold }
        let largest = slow(.answer, nowMs: nowMs).max { $0.heldBytes < $1.heldBytes }
        if let largest { largest.exchange.giveWay(largest) }
        return nil
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
