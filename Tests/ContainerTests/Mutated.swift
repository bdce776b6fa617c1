import Support

extension [UInt8] {
    /// A copy with a few bytes changed, cut out, doubled or cut off; the same for the same seed.
    func mutated(seed: UInt64) -> [UInt8] {
        var random = SplitMix64(seed: seed)
        var copy = self
        for _ in 0..<Int.random(in: 1...6, using: &random) where !copy.isEmpty {
            let at = Int.random(in: 0..<copy.count, using: &random)
            let length = Int.random(in: 1...8, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: copy[at] = UInt8.random(in: 0...255, using: &random)
            case 1: copy[at] ^= 1 << UInt8.random(in: 0...7, using: &random)
            case 2: copy.replaceSubrange(at..<Swift.min(at + length, copy.count), with: [0xFF, 0xFF])
            case 3: copy.removeSubrange(at..<Swift.min(at + length, copy.count))
            case 4: copy.insert(contentsOf: copy[at..<Swift.min(at + length, copy.count)], at: at)
            default: if Bool.random(using: &random) { copy.removeLast(copy.count - at) }
            }
        }
        return copy
    }
}
