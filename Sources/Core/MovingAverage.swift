/// What something took of late: each new sample counts for an eighth.
package struct MovingAverage: Sendable, Equatable {
    /// In 256ths, so that small values move, too.
    private var scaled: Int

    /// - Parameter value: what is taken for it before the first sample.
    package init(_ value: Int) { scaled = value << 8 }

    /// To the nearest whole number.
    package var value: Int { (scaled + 128) >> 8 }

    /// Counts a sample.
    package mutating func add(_ sample: Int) { scaled += (sample << 8 - scaled) / 8 }
}
