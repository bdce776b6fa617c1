import Core

/// What the log tells of a request beside what HTTP knows: travels with the answer.
struct RequestNote: Sendable {
    var failure: Failure?
    var report: Report?
    /// Microseconds that the wait for a worker took.
    var queueUs: Int?
    /// Microseconds that workers took.
    var workerUs: Int?
    /// Microseconds that the store took.
    var storeUs: Int?
}

extension RequestNote {
    init(_ prepared: Prepared) {
        self.init(report: prepared.report, queueUs: prepared.queueUs, workerUs: prepared.workerUs)
    }
}
