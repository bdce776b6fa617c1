package import Core
package import HTTP

/// How a service is to run: what flags and environment said, with defaults for the rest. Read once, then constant.
package struct Settings: Sendable, Equatable {
    package var listen: ListenAddress
    /// The folder of the stored pictures.
    package var store = "./data"
    /// Whether an address that other machines reach may be served, though nobody is asked who they are.
    package var allowsAnonymous = false
    /// Worker processes; nil for as many as there are processors.
    package var workers: Int?
    /// Where `safelight-worker` is; nil for beside the running program.
    package var worker: String?
    /// Whether workers may run without their sandbox where the kernel has no seccomp.
    package var allowsUnsandboxed = false
    /// Uploads that may wait for a worker before others are refused; nil for four for each worker.
    package var queueLengthMax: Int?
    /// How long an upload may wait for a worker, in milliseconds.
    package var waitMs = 10_000
    /// How long a body may take to come, in milliseconds.
    package var bodyMs = 900_000
    /// What all bodies together may hold in memory, and all answers; nil for 256 MiB, or one body where that may be larger.
    package var bodiesBytesMax: Int?
    /// How long a call to the store may take, in milliseconds.
    package var storeMs = 10_000
    package var limits = Limits()
    /// How long requests may go on after SIGTERM, in milliseconds.
    package var graceMs = 20_000

    package init() {
        guard let listen = ListenAddress("127.0.0.1:8080") else { preconditionFailure("a proper address") }
        self.listen = listen
    }
}

extension FixedWidthInteger {
    /// A number written in decimal digits alone: no sign, no blank.
    init?(digits text: some StringProtocol) {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        self.init(text)
    }
}
