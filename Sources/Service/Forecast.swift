import Core
import Synchronization

/// How long a picture will keep a worker busy: what its format took for each byte of late. The front reads no more of a
/// picture than its first bytes, so this is all that it can tell; one that turns out otherwise is bounded by its
/// deadline.
final class Forecast: Sendable {
    /// Nanoseconds a byte.
    private let rates: Mutex<[SourceFormat: MovingAverage]>

    /// Begins with a 12-megapixel photo's 1.3 MB in 180 ms, and 4 MB in 40 ms.
    init() { rates = Mutex([.heic: MovingAverage(140), .jpeg: MovingAverage(10)]) }

    func milliseconds(_ format: SourceFormat, bytes: Int) -> Int {
        rates.withLock { rates in (rates[format]?.value ?? 0) * bytes / 1_000_000 }
    }

    func learn(_ format: SourceFormat, bytes: Int, tookUs: Int) {
        guard bytes > 0 else { return }
        rates.withLock { rates in
            guard var rate = rates[format] else { return }
            // A few bytes that take seconds, as of a huge picture of one colour, say nothing about photos.
            rate.add(min(tookUs * 1000 / bytes, 8 * max(1, rate.value)))
            rates[format] = rate
        }
    }
}
