package import Core
package import HTTP

/// How a service is to run: what flags and environment said, with defaults for the rest. Read once, then constant.
package struct Settings: Sendable, Equatable {
    package var listen: ListenAddress
    /// The folder of the stored pictures.
    package var store = "./data"
    /// Whether an address that other machines reach may be served without API keys.
    package var allowsAnonymous = false
    /// Worker processes; nil for as many as there are processors.
    package var workers: Int?
    /// Where `safelight-worker` is; nil for beside the running program.
    package var worker: String?
    /// Whether workers may run without their sandbox where the kernel has no seccomp.
    package var allowsUnsandboxed = false
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
