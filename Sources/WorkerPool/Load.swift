extension WorkerPool {
    /// How busy the pool is.
    package struct Load: Sendable, Equatable {
        static let jobUsAtFirst = 200_000

        package var workers: Int
        /// Jobs that a worker is at.
        package var running: Int
        package var waiting: Int
        /// What a job took of late, in microseconds: each new one counts for an eighth.
        package var jobUs: Int

        package init(workers: Int, running: Int, waiting: Int, jobUs: Int = jobUsAtFirst) {
            self.workers = workers
            self.running = running
            self.waiting = waiting
            self.jobUs = jobUs
        }
    }

    /// Names a job that was submitted.
    package struct Ticket: Sendable, Equatable {
        let id: Int

        package init(id: Int) { self.id = id }
    }
}
