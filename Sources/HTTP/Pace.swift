/// Whether a peer is fast enough: in every window of time it must move a number of bytes.
///
/// A window is judged when it is over, so the first is the grace that a slow start has, a pause shorter than the rest
/// of a window allows is forgiven, and a fast start buys no time for a crawl afterwards.
struct Pace {
    let windowMs: Int
    let bytesPerSecondMin: Int
    private var sinceMs: Int
    private var bytesThen: Int
    /// Of the window before.
    private var bytesPerSecondBefore: Int?

    init(windowMs: Int, bytesPerSecondMin: Int, nowMs: Int, bytes: Int) {
        self.windowMs = windowMs
        self.bytesPerSecondMin = bytesPerSecondMin
        sinceMs = nowMs
        bytesThen = bytes
    }

    /// - Parameter bytes: moved so far, ever growing.
    /// - Returns: whether a window has ended with fewer bytes than the rate asks for.
    mutating func isTooSlow(nowMs: Int, bytes: Int) -> Bool {
        let elapsedMs = nowMs - sinceMs
        guard elapsedMs >= windowMs else { return false }
        if (bytes - bytesThen) * 1000 < bytesPerSecondMin * elapsedMs { return true }
        bytesPerSecondBefore = (bytes - bytesThen) * 1000 / elapsedMs
        sinceMs = nowMs
        bytesThen = bytes
        return false
    }

    /// How fast it was of late: in the window that runs, where that has run for `atLeastMs`, else in the one before; nil
    /// where there was none.
    func bytesPerSecond(nowMs: Int, bytes: Int, atLeastMs: Int) -> Int? {
        let elapsedMs = nowMs - sinceMs
        return elapsedMs >= max(1, atLeastMs) ? (bytes - bytesThen) * 1000 / elapsedMs : bytesPerSecondBefore
    }
}
