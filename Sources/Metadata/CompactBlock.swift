/// What libexif gets to see: a block of its own making, with nothing in it but entries of the allow-list.
///
/// libexif reads no more than 65,534 bytes of a block (`exif_data_load_data`), decodes every MakerNote it knows on load
/// and has no option against it, and drops types that it does not know. None of the three can happen to a compact
/// block: the longest possible is far below the bound, it has no MakerNote, and EXIF 3.0's UTF-8 stands in it as ASCII.
struct CompactBlock {
    private struct Entry {
        let tag: UInt16
        let type: TIFFType
        let count: Int
        let bytes: [UInt8]

        var bytesOutside: Int { bytes.count > 4 ? bytes.count + bytes.count % 2 : 0 }
    }

    private let isBigEndian: Bool
    private(set) var bytes: [UInt8]

    /// The same byte order as the source's, so that values are carried over as they are.
    init(_ walk: TIFFWalk) {
        isBigEndian = walk.isBigEndian
        bytes = []
        var image = CompactBlock.entries(.image, of: walk)
        var exif = CompactBlock.entries(.exif, of: walk)
        let interoperability = CompactBlock.entries(.interoperability, of: walk)
        let gps = CompactBlock.entries(.gps, of: walk)
        let exifAt = 8 + CompactBlock.size(image) + 24
        let interoperabilityAt = exifAt + CompactBlock.size(exif) + 12
        let gpsAt = interoperabilityAt + CompactBlock.size(interoperability)
        image += [pointer(0x8769, to: exifAt), pointer(0x8825, to: gpsAt)]
        exif.append(pointer(0xA005, to: interoperabilityAt))
        bytes = Array(walk.block.prefix(4)) + encoded(8, 4)
        for directory in [image, exif, interoperability, gps] { append(directory) }
    }

    private static func entries(_ directory: StandardTag.Directory, of walk: TIFFWalk) -> [Entry] {
        walk.entries.sorted { $0.key < $1.key }.compactMap { key, entry in
            guard key.directory == directory, let tag = StandardTag.all[key] else { return nil }
            let count = min(entry.count, tag.count)
            let value = walk.block[entry.bytes].prefix(count * entry.type.size)
            return Entry(tag: key.number, type: entry.type.common, count: count, bytes: Array(value))
        }
    }

    private static func size(_ entries: [Entry]) -> Int {
        2 + 12 * entries.count + 4 + entries.reduce(0) { $0 + $1.bytesOutside }
    }

    private func pointer(_ tag: UInt16, to offset: Int) -> Entry {
        Entry(tag: tag, type: .long, count: 1, bytes: encoded(offset, 4))
    }

    private func encoded(_ value: Int, _ width: Int) -> [UInt8] {
        let little = (0..<width).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        return isBigEndian ? little.reversed() : little
    }

    private mutating func append(_ entries: [Entry]) {
        var outsideAt = bytes.count + 2 + 12 * entries.count + 4
        var outside: [UInt8] = []
        bytes += encoded(entries.count, 2)
        for entry in entries {
            bytes += encoded(Int(entry.tag), 2) + encoded(Int(entry.type.rawValue), 2) + encoded(entry.count, 4)
            if entry.bytesOutside > 0 {
                bytes += encoded(outsideAt, 4)
                outside += entry.bytes + [UInt8](repeating: 0, count: entry.bytes.count % 2)
                outsideAt += entry.bytesOutside
            } else {
                bytes += entry.bytes + [UInt8](repeating: 0, count: 4 - entry.bytes.count)
            }
        }
        bytes += encoded(0, 4) + outside
    }
}
