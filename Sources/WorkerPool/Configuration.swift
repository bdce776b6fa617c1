import Glibc

extension WorkerPool {
    /// How many workers there are, and how long each may live.
    ///
    /// What one *job* may take (time, bytes of output) travels with the job, in its `Limits`.
    package struct Configuration: Sendable {
        /// The worker's executable, absolute.
        package var workerPath: String
        /// How many worker processes are kept alive.
        package var workers: Int
        /// What a job that has the pool to itself may keep busy.
        package var processors = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        /// Jobs that may wait while all workers are busy.
        package var queueLengthMax: Int
        /// How long a job may wait for a worker, until its client has lost its patience.
        package var waitMs = 10_000
        /// A worker that has done as many jobs is replaced, so that leaks stay small.
        package var jobsPerWorkerMax = 1000
        /// A worker that holds more memory than this after a job is replaced.
        package var residentBytesMax = 192 * 1024 * 1024
        /// How long a worker may take from its start to its hello.
        package var helloDeadlineMs = 10_000
        /// Whether workers may do without a filter of their system calls where the kernel has none.
        package var allowsUnsandboxed = false
        /// Called on the slots' threads; must return soon.
        package var log: @Sendable (Event) -> Void = { _ in }

        /// As many workers as cores are online, and four waiting jobs for each.
        package init(workerPath: String, workers: Int = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))) {
            self.workerPath = workerPath
            self.workers = workers
            queueLengthMax = 4 * workers
        }
    }
}
