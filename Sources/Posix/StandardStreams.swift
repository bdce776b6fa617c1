import Glibc

/// The three descriptors that a program is started with, unless somebody closed one.
package enum StandardStreams {
    private static let missing = fillMissing()

    /// Puts /dev/null where one is missing: else a file or socket opened later would get its number, and with it what
    /// is written to standard error.
    ///
    /// To be called before anything is opened.
    package static func prepare() { _ = missing }

    /// A copy of standard input (0), output (1) or error (2).
    ///
    /// - Throws: EBADF where the program was started without.
    package static func duplicate(_ number: Int32) throws(PosixError) -> Descriptor {
        guard !missing.contains(number) else { throw PosixError(call: "standard input or output", errno: EBADF) }
        return Descriptor(adopting: try syscall("fcntl") { fcntl(number, F_DUPFD_CLOEXEC, 3) })
    }

    /// Which were missing. The kernel gives the lowest number that is free.
    private static func fillMissing() -> Set<Int32> {
        Set((STDIN_FILENO...STDERR_FILENO).filter { fcntl($0, F_GETFD) == -1 && open("/dev/null", O_RDWR) == $0 })
    }
}
