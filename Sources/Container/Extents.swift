/// Bytes of a file that belong together, in their order: one range, or the chunks or extents that it is cut into.
package struct Extents: Sendable, Equatable {
    package let ranges: [Range<Int>]

    package init(_ ranges: [Range<Int>]) { self.ranges = ranges }

    package init(_ range: Range<Int>) { ranges = [range] }

    package var count: Int { ranges.reduce(0) { $0 + $1.count } }

    /// The bytes joined. `file` is the file that was parsed.
    package func bytes(in file: Span<UInt8>) -> [UInt8] {
        var joined: [UInt8] = []
        joined.reserveCapacity(count)
        for range in ranges {
            // The buffer lives within the closure, and the array copies it.
            let held = file.extracting(range.clamped(to: 0..<file.count))
            unsafe held.withUnsafeBufferPointer { unsafe joined.append(contentsOf: $0) }
        }
        return joined
    }

    /// The byte at `offset` of the joined bytes, or nil past their end.
    func byte(at offset: Int, in file: Span<UInt8>) -> Int? {
        var left = offset
        for range in ranges {
            if left < range.count { return left >= 0 ? file.byte(at: range.lowerBound + left) : nil }
            left -= range.count
        }
        return nil
    }

    /// The big-endian number of `width` bytes (1…4) at `offset` of the joined bytes.
    func bigEndian(_ width: Int, at offset: Int, in file: Span<UInt8>) -> Int? {
        var value = 0
        for index in 0..<width {
            guard let byte = byte(at: offset + index, in: file) else { return nil }
            value = value << 8 | byte
        }
        return value
    }

    func starts(with pattern: [UInt8], at offset: Int, in file: Span<UInt8>) -> Bool {
        for index in pattern.indices where byte(at: offset + index, in: file) != Int(pattern[index]) { return false }
        return true
    }

    /// What is left after the first `skipped` bytes.
    func dropFirst(_ skipped: Int) -> Extents {
        var left = skipped
        var kept: [Range<Int>] = []
        for range in ranges {
            let cut = min(left, range.count)
            left -= cut
            if cut < range.count { kept.append((range.lowerBound + cut)..<range.upperBound) }
        }
        return Extents(kept)
    }

    /// The first `kept` bytes, or all.
    func prefix(_ kept: Int) -> Extents {
        var left = kept
        var ranges: [Range<Int>] = []
        for range in self.ranges where left > 0 {
            let end = range.lowerBound + min(left, range.count)
            left -= range.count
            if end > range.lowerBound { ranges.append(range.lowerBound..<end) }
        }
        return Extents(ranges)
    }

    /// Whether `pattern` stands in the joined bytes.
    func contains(_ pattern: [UInt8], in file: Span<UInt8>) -> Bool {
        var end = 0
        for range in ranges {
            if file.contains(pattern, in: range) { return true }
            end += range.count
            // Where it reaches into the next range.
            for start in max(end - pattern.count + 1, 0)..<end where starts(with: pattern, at: start, in: file) {
                return true
            }
        }
        return false
    }
}
