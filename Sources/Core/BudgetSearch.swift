import Glibc

/// Finds the quality and, where the lowest one does not do, the size at which a picture has no more bytes than allowed.
/// It decides only; the caller encodes what `next` asks for and records the bytes.
///
/// Quality is searched first, down to a floor, for the highest that fits: by the bytes' logarithm, which is nearly straight
/// over that of the quantisation (of 101 − quality). Only then the dimensions shrink, by √(bytes allowed / bytes found), and
/// what is left after that is spent on quality.
package struct BudgetSearch: Sendable {
    /// The lowest quality to which the search goes of its own accord.
    package static let qualityFloor = 60
    /// The longer side to which a picture is shrunk at most.
    package static let sideFloor = 16
    /// Trials after which the best that was found is taken; and after which only the smallest picture is tried. Photos
    /// mostly take four.
    package static let trialsMax = 8

    /// What is encoded to see how many bytes it has.
    package struct Trial: Sendable, Equatable {
        package let quality: Int
        package let size: PixelSize

        package init(quality: Int, size: PixelSize) {
            self.quality = quality
            self.size = size
        }
    }

    /// What the caller does next.
    package enum Step: Sendable, Equatable {
        /// To be encoded, and its bytes recorded.
        case encode(Trial)
        case done(Trial)
        /// Not even the smallest picture is small enough.
        case unreachable(bytesMin: Int)
    }

    private struct Record {
        let trial: Trial
        let bytes: Int
    }

    private let bytesMax: Int
    private let quality: Int
    private let floor: Int
    private let size: PixelSize
    private let overhead: Int
    private var records: [Record] = []

    /// - Parameters:
    ///   - quality: asked for, the highest that is tried; a lower one than the floor is the floor.
    ///   - overhead: bytes of a JPEG that do not depend on its pixels.
    package init(bytesMax: Int, quality: Int, size: PixelSize, overhead: Int) {
        self.bytesMax = bytesMax
        self.quality = quality
        self.size = size
        self.overhead = overhead
        floor = min(quality, Self.qualityFloor)
    }

    /// Notes what `trial`, which `next` asked for, came to.
    package mutating func record(_ trial: Trial, bytes: Int) {
        records.append(Record(trial: trial, bytes: bytes))
    }

    /// What to do after all that has been recorded: no more than `trialsMax` times to encode, then an end.
    package func next() -> Step {
        if records.isEmpty { return .encode(Trial(quality: quality, size: size)) }
        if let best { return better(than: best).map(Step.encode) ?? .done(best.trial) }
        if !records.contains(where: { $0.trial.quality == floor }) {
            return .encode(Trial(quality: floor, size: size))
        }
        guard let smaller = smaller() else { return .unreachable(bytesMin: records.map(\.bytes).min() ?? 0) }
        return .encode(Trial(quality: floor, size: smaller))
    }

    /// The largest picture that fits, at its highest quality.
    private var best: Record? {
        records.filter { $0.bytes <= bytesMax }.max { first, second in
            (first.trial.size.pixels ?? 0, first.trial.quality) < (second.trial.size.pixels ?? 0, second.trial.quality)
        }
    }

    /// The next trial at the size of what fits; nil where there is none better.
    private func better(than best: Record) -> Trial? {
        let over = records.filter { $0.trial.size == best.trial.size && $0.bytes > bytesMax }
            .min { $0.trial.quality < $1.trial.quality }
        let low = best.trial.quality
        let high = over?.trial.quality ?? quality + 1
        guard high - low > 1, records.count < Self.trialsMax else { return nil }
        func coarseness(_ quality: Int) -> Double { log(Double(101 - quality)) }
        let room = log(Double(bytesMax) / Double(best.bytes))
        guard let over else {
            // Bytes fall with its power of 0.7 or so, as phone photos have it.
            let quality = Int((101 - exp(coarseness(low) - room / 0.7)).rounded())
            return Trial(quality: min(max(quality, low + 1), high - 1), size: best.trial.size)
        }
        // A straight line between the two; an end that has stayed while the other came near counts half each time, or
        // a bent curve would be crept along (the Illinois method).
        var ends = (below: room, above: log(Double(over.bytes) / Double(bytesMax)))
        let isOver = records.last.map { $0.bytes > bytesMax } ?? false
        let repeats = records.reversed().prefix { ($0.bytes > bytesMax) == isOver }.count - 1
        let weight = pow(0.5, Double(repeats))
        if isOver { ends.below *= weight } else { ends.above *= weight }
        let share = ends.below / (ends.below + ends.above)
        let finer = coarseness(low) + (coarseness(high) - coarseness(low)) * share
        let quality = Int((101 - exp(finer)).rounded())
        return Trial(quality: min(max(quality, low + 1), high - 1), size: best.trial.size)
    }

    /// The next size to be tried at the floor's quality, when nothing has fitted; nil where there is none.
    private func smaller() -> PixelSize? {
        let floored = records.filter { $0.trial.quality == floor }
        guard let last = floored.last else { return size }
        let side = max(last.trial.size.width, last.trial.size.height)
        let sideMin = min(Self.sideFloor, max(size.width, size.height))
        guard side > sideMin else { return nil }
        guard bytesMax > overhead, last.bytes > overhead, records.count < Self.trialsMax else {
            return fitting(sideMin)
        }
        // How fast bytes fall with the area: in proportion at first, as the last two trials tell then.
        var exponent = 1.0
        if floored.count > 1 {
            let before = floored[floored.count - 2]
            let areas = Double(before.trial.size.pixels ?? 1) / Double(last.trial.size.pixels ?? 1)
            let told = log(Double(before.bytes - overhead) / Double(last.bytes - overhead)) / log(areas)
            exponent = min(max(told.isFinite ? told : 1, 0.4), 1)
        }
        let area = pow(Double(bytesMax - overhead) / Double(last.bytes - overhead), 1 / exponent)
        let target = Int(Double(side) * (0.98 * area).squareRoot())
        return fitting(min(max(target, sideMin), side - 1))
    }

    private func fitting(_ side: Int) -> PixelSize {
        OutputGeometry.fitting(size, maxWidth: side, maxHeight: side)
    }
}
