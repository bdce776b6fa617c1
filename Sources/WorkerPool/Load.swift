extension WorkerPool {
    /// How busy the pool is.
    package struct Load: Sendable, Equatable {
        static let jobUsAtFirst = 200_000

        /// How many workers there are to be.
        package var workers: Int
        /// Jobs that a worker is at.
        package var running: Int
        /// Jobs that no worker is at yet.
        package var waiting: Int
        /// What a job took of late, in microseconds.
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
