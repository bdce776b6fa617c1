import Glibc
import Posix

/// Where the worker's program is.
enum WorkerProgram {
    /// The absolute path of what the setting names, or of `safelight-worker` beside the running program.
    static func path(_ setting: String?) throws(PosixError) -> String {
        guard let setting else {
            let program = try text("realpath") { realpath("/proc/self/exe", nil) }
            return program.split(separator: "/").dropLast().map { "/" + $0 }.joined() + "/safelight-worker"
        }
        return setting.hasPrefix("/") ? setting : try text("getcwd") { getcwd(nil, 0) } + "/" + setting
    }

    /// Whether workers will be in their sandbox.
    ///
    /// - Throws: `NoSandbox` where they could not be and that is not allowed.
    static func checkSandbox(allowsUnsandboxed: Bool) throws(NoSandbox) -> Bool {
        guard !SystemCallFilters.areSupported else { return true }
        guard allowsUnsandboxed else { throw NoSandbox() }
        return false
    }

    struct NoSandbox: Error, CustomStringConvertible {
        let description =
            "the kernel has no seccomp, so that workers cannot be sandboxed: a photo that takes one over would have the "
            + "rights of this user; say --allow-unsandboxed if that is what you want"
    }

    /// What a C function returns in memory that is the caller's to free.
    private static func text(
        _ call: String, _ body: () -> UnsafeMutablePointer<CChar>?
    ) throws(PosixError) -> String {
        guard let raw = body() else { throw PosixError(call: call, errno: errno) }
        defer { free(raw) }
        return String(cString: raw)
    }
}
