import Core

/// Where the bytes of a HEIF file's items are: the box `iloc` (ISO/IEC 14496-12, section 8.11.3).
struct HEIFLocations {
    private struct Location {
        /// 0 the file, 1 `idat`, 2 another item.
        let construction: Int
        let isInThisFile: Bool
        let extents: [(offset: UInt64, length: UInt64)]
    }

    /// libheif's bound.
    static let extentsPerItemMax = 32

    private var locations: [UInt32: Location] = [:]
    private let idat: Range<Int>?

    /// The widths of the fields of an `iloc` box, in bytes.
    private struct Widths {
        let offset, length, base, index: Int

        init(version: Int, _ word: Int) throws(Failure) {
            offset = word >> 12
            length = word >> 8 & 15
            base = word >> 4 & 15
            index = version == 0 ? 0 : word & 15
            for width in [offset, length, base, index] where ![0, 4, 8].contains(width) {
                throw Failure(.corrupt, "HEIF: the box 'iloc' has fields of \(width) bytes")
            }
        }
    }

    /// - Parameters:
    ///   - box: the box `iloc`.
    ///   - idat: the payload of the box `idat`, where there is one.
    init(_ box: Box, idat: Range<Int>?, of bytes: Span<UInt8>) throws(Failure) {
        self.idat = idat
        var reader = BoxReader(box)
        let version = try reader.version(bytes).version
        guard version <= 2 else { throw Failure(.corrupt, "HEIF: the box 'iloc' has the version \(version)") }
        let widths = try Widths(version: version, try reader.int(2, bytes))
        let count = try reader.int(version < 2 ? 2 : 4, bytes)
        guard count <= HEIFMeta.itemsMax else {
            throw Failure(.corrupt, "HEIF: 'iloc' locates \(count) items; the limit is \(HEIFMeta.itemsMax)")
        }
        for _ in 0..<count {
            let id = UInt32(try reader.int(version < 2 ? 2 : 4, bytes))
            let construction = version == 0 ? 0 : try reader.int(2, bytes) & 15
            let isInThisFile = try reader.int(2, bytes) == 0
            let extents = try HEIFLocations.extents(of: id, &reader, widths, bytes)
            let location = Location(construction: construction, isInThisFile: isInThisFile, extents: extents)
            guard locations.updateValue(location, forKey: id) == nil else {
                throw Failure(.corrupt, "HEIF: item \(id) is located twice")
            }
        }
    }

    private static func extents(
        of id: UInt32, _ reader: inout BoxReader, _ widths: Widths, _ bytes: Span<UInt8>
    ) throws(Failure) -> [(offset: UInt64, length: UInt64)] {
        let base = try reader.number(widths.base, bytes)
        let count = try reader.int(2, bytes)
        guard count <= extentsPerItemMax else {
            throw Failure(.corrupt, "HEIF: item \(id) has \(count) extents; the limit is \(extentsPerItemMax)")
        }
        var extents: [(offset: UInt64, length: UInt64)] = []
        for _ in 0..<count {
            _ = try reader.number(widths.index, bytes)
            let (offset, overflow) = base.addingReportingOverflow(try reader.number(widths.offset, bytes))
            guard !overflow else { throw Failure(.corrupt, "HEIF: item \(id) lies beyond any file") }
            extents.append((offset, try reader.number(widths.length, bytes)))
        }
        return extents
    }

    /// Where the item's bytes are in the file.
    ///
    /// - Throws: `truncated` where they run past the end of the file, `corrupt` where they are nowhere, or more than
    ///   the file has (extents that overlap).
    func extents(of id: UInt32, in bytes: Span<UInt8>) throws(Failure) -> Extents {
        guard let location = locations[id], location.isInThisFile, !location.extents.isEmpty else {
            throw Failure(.corrupt, "HEIF: item \(id) has no data in the file")
        }
        let source: Range<Int>
        switch location.construction {
        case 0: source = 0..<bytes.count
        case 1:
            guard let idat else { throw Failure(.corrupt, "HEIF: item \(id) lies in a box 'idat' that is not there") }
            source = idat
        default: throw Failure(.corrupt, "HEIF: item \(id) is located by another item")
        }
        var ranges: [Range<Int>] = []
        for (offset, length) in location.extents {
            let (end, overflow) = offset.addingReportingOverflow(length)
            guard !overflow, end <= UInt64(source.count) else {
                throw Failure(
                    location.construction == 0 ? .truncated : .corrupt,
                    "HEIF: item \(id) ends at byte \(overflow ? UInt64.max : end) of \(source.count)")
            }
            ranges.append((source.lowerBound + Int(offset))..<(source.lowerBound + Int(end)))
        }
        let extents = Extents(ranges)
        guard extents.count > 0 else { throw Failure(.corrupt, "HEIF: item \(id) is empty") }
        guard extents.count <= bytes.count else { throw Failure(.corrupt, "HEIF: the extents of item \(id) overlap") }
        return extents
    }
}
