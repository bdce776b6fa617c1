import Core

/// What the log tells of a request beside what HTTP knows: travels with the answer.
struct RequestNote: Sendable {
    var failure: Failure?
    var report: Report?
    /// Microseconds until a worker had answered, with the wait for it.
    var workerUs: Int?
    /// Microseconds that the store took.
    var storeUs: Int?
}
