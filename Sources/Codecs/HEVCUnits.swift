/// What HEVC's units say of themselves, read as far as it takes to know that a decoder may be used again.
///
/// A decoder that goes from tile to tile keeps parameter sets and the memory of its pictures. That is harmless where
/// each tile is one picture, of slices that need no other picture, under the only parameter sets there are: every tile
/// is then decoded as by a decoder of its own.
enum HEVCUnits {
    /// Types of NAL units (H.265, table 7-1).
    private enum Kind {
        static let pictures: ClosedRange<UInt8> = 19...20
        static let parameterSets: ClosedRange<UInt8> = 32...34
        /// Access unit delimiter, filler data, and both kinds of supplemental information.
        static let harmless: Set<UInt8> = [35, 38, 39, 40]
    }

    /// Whether a decoder configuration (ISO/IEC 14496-15, section 8.3.3.1.2) holds one parameter set of each kind, and
    /// lengths of 4 bytes stand before the units.
    static func areParametersPlain(_ configuration: UnsafeRawBufferPointer) -> Bool {
        guard configuration.count > 22, configuration[0] == 1, configuration[21] & 3 == 3 else { return false }
        var sets: [UInt8] = []
        var position = 23
        for _ in 0..<configuration[22] {
            guard position + 3 <= configuration.count else { return false }
            let kind = configuration[position] & 0x3F
            let count = configuration.bigEndian(2, at: position + 1)
            position += 3
            for _ in 0..<count {
                guard position + 2 <= configuration.count else { return false }
                position += 2 + configuration.bigEndian(2, at: position)
                guard position <= configuration.count else { return false }
                sets.append(kind)
            }
        }
        return sets.filter { !Kind.harmless.contains($0) }.sorted() == Array(Kind.parameterSets)
    }

    /// Whether units with lengths of 4 bytes before them are one picture that stands for itself.
    ///
    /// - Parameter mayHaveSlices: whether it may have more than one slice.
    static func isPicturePlain(_ units: UnsafeRawBufferPointer, mayHaveSlices: Bool) -> Bool {
        var slices = 0
        var position = 0
        while position < units.count {
            guard position + 7 <= units.count else { return false }
            let length = units.bigEndian(4, at: position)
            let start = position + 4
            guard length >= 3, length <= units.count - start else { return false }
            position = start + length
            let kind = units[start] >> 1
            // Of the base layer (section 7.3.1.2).
            guard kind < 64, units[start] & 1 == 0, units[start + 1] >> 3 == 0 else { return false }
            if Kind.harmless.contains(kind) { continue }
            // The slice header's first bit says that a picture begins (section 7.3.6.1).
            guard Kind.pictures.contains(kind), units[start + 2] >> 7 == (slices == 0 ? 1 : 0) else { return false }
            slices += 1
        }
        return slices == 1 || slices > 1 && mayHaveSlices
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func bigEndian(_ count: Int, at position: Int) -> Int {
        (0..<count).reduce(0) { value, index in value << 8 | Int(self[position + index]) }
    }
}
