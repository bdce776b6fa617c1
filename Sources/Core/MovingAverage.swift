/// What something took of late: each new sample counts for an eighth.
package struct MovingAverage: Sendable, Equatable {
    package private(set) var value: Int

    /// - Parameter value: what is taken for it before the first sample.
    package init(_ value: Int) { self.value = value }

    package mutating func add(_ sample: Int) { value += (sample - value) / 8 }
}
