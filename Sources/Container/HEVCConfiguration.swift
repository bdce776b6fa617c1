import Core

/// What an item tells of its HEVC data: the box `hvcC` (ISO/IEC 14496-15, section 8.3.3.1).
struct HEVCConfiguration: Sendable {
    let format: HEVCFormat
    /// Of the box, for a decoder.
    let content: Range<Int>
    /// In the box. It may have none, and no decoder makes a picture of that; a unit among the item's data counts too.
    private let sequences: [HEVCSequence]

    /// NAL units of an item's data. A picture of level 6.2, the largest there is, has at most 600 slices.
    private static let unitsMax = 1024

    /// - Throws: `corrupt` where the box is shorter than its fields, or a sequence header in it makes no sense.
    init(_ box: Box, of bytes: Span<UInt8>) throws(Failure) {
        guard box.payload.count >= 23 else { throw Failure(.corrupt, "HEIF: the box 'hvcC' ends too early") }
        content = box.payload
        let at = box.payload.lowerBound
        format = HEVCFormat(
            chromaFormat: Int(bytes[at + 16] & 3), lumaDepth: Int(bytes[at + 17] & 7) + 8,
            chromaDepth: Int(bytes[at + 18] & 7) + 8)
        var reader = BoxReader(box)
        _ = try reader.take(22)
        var sequences: [HEVCSequence] = []
        for _ in 0..<(try reader.int(1, bytes)) {
            _ = try reader.int(1, bytes)
            for _ in 0..<(try reader.int(2, bytes)) {
                let unit = try reader.take(try reader.int(2, bytes))
                if let sequence = try HEVCSequence(Extents(unit), of: bytes) { sequences.append(sequence) }
            }
        }
        self.sequences = sequences
    }

    /// Holds all sequence headers that a decoder will meet to the size that the container tells.
    ///
    /// - Parameters:
    ///   - data: of the item.
    ///   - isTile: whether it is part of a grid.
    /// - Throws: `corrupt` where one tells another size.
    func check(
        _ size: PixelSize, of id: UInt32, isTile: Bool, data: Extents, in bytes: Span<UInt8>
    ) throws(Failure) {
        for sequence in sequences { try sequence.check(size, of: id, isTile: isTile) }
        // Lengths of 4 bytes, whatever the box says: libheif knows no others.
        var rest = data
        var units = 0
        while let length = rest.bigEndian(4, at: 0, in: bytes) {
            units += 1
            guard units <= HEVCConfiguration.unitsMax else {
                throw Failure(.corrupt, "HEIF: item \(id) has more than \(HEVCConfiguration.unitsMax) units of data")
            }
            let unit = rest.dropFirst(4).prefix(length)
            rest = rest.dropFirst(4 + unit.count)
            if let sequence = try HEVCSequence(unit, of: bytes) {
                try sequence.check(size, of: id, isTile: isTile)
            }
            // FFmpeg would begin another unit there.
            guard !unit.contains([0, 0, 1], in: bytes) else {
                throw Failure(.corrupt, "HEIF: item \(id) has a start code among its data")
            }
        }
    }
}
