import Glibc

/// The two clocks: one that only goes forward, for deadlines; one that tells the date, for keys and records.
package enum Clock {
    /// Milliseconds since some moment in the past; never goes back.
    package static func monotonicMs() -> Int { Int(read(CLOCK_MONOTONIC) / 1_000_000) }

    /// Microseconds since some moment in the past, for measuring stages.
    package static func monotonicUs() -> Int { Int(read(CLOCK_MONOTONIC) / 1000) }

    /// Milliseconds since 1970-01-01T00:00:00Z.
    package static func unixMs() -> Int64 { read(CLOCK_REALTIME) / 1_000_000 }

    private static func read(_ clock: Int32) -> Int64 {
        var now = timespec()
        guard clock_gettime(clock, &now) == 0 else { preconditionFailure("both clocks exist on every Linux") }
        return Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec)
    }
}
