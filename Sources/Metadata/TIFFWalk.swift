import Core

/// A bounded walk over the directories of a TIFF structure, in memory-safe Swift, before libexif sees any of it. It
/// picks out the entries of the allow-list and notes what else is there.
///
/// Each directory is read at most once and only the five that EXIF has are followed, so neither loops nor depth can
/// harm: the work is at most one step for each twelve bytes, five times.
struct TIFFWalk {
    struct Entry {
        let type: TIFFType
        let count: Int
        /// Where the value stands in the block; as long as type and count say.
        let bytes: Range<Int>
    }

    private enum Place {
        case image, exif, gps, interoperability
        /// IFD1
        case thumbnail

        var directory: StandardTag.Directory? {
            switch self {
            case .image: .image
            case .exif: .exif
            case .gps: .gps
            case .interoperability: .interoperability
            case .thumbnail: nil
            }
        }
    }

    let block: [UInt8]
    let isBigEndian: Bool
    /// The first of each tag. Tags of IFD0 and of the Exif directory that a writer put into the other of the two are
    /// taken where their own has none; but not Orientation, which viewers look for in IFD0 alone.
    private(set) var entries: [StandardTag.Key: Entry] = [:]
    /// What the block holds, in bytes.
    private(set) var found: [Removable: Int] = [:]
    private(set) var isDamaged = false

    private var misplaced: [StandardTag.Key: Entry] = [:]
    /// Directories still to be read; the thumbnail's comes after those that IFD0 names.
    private var pointers: [(place: Place, offset: Int)] = []
    /// Offsets of the directories that were read.
    private var visited: Set<Int> = []
    private var entryCount = 0

    /// - Returns: nil where there is no TIFF header, or no entry that could be read.
    init?(_ block: [UInt8]) {
        self.block = block
        switch block.prefix(4) {
        case [0x49, 0x49, 42, 0]: isBigEndian = false
        case [0x4D, 0x4D, 0, 42]: isBigEndian = true
        default: return nil
        }
        guard let first = number(4, at: 4) else { return nil }
        walk(from: first)
        guard entryCount > 0 else { return nil }
        found[.exif] = block.count
        entries.merge(misplaced) { own, _ in own }
    }

    private mutating func walk(from first: Int) {
        pointers = [(.image, first)]
        var done: Set<Place> = []
        while !pointers.isEmpty {
            let (place, offset) = pointers.removeFirst()
            guard done.insert(place).inserted else { continue }
            guard visited.insert(offset).inserted else {
                isDamaged = true
                continue
            }
            read(place, at: offset)
        }
    }

    /// A number of 2 or 4 bytes.
    func number(_ width: Int, at offset: Int) -> Int? {
        guard offset >= 0, block.count - width >= offset else { return nil }
        return (0..<width).reduce(0) { value, index in
            value << 8 | Int(block[offset + (isBigEndian ? index : width - 1 - index)])
        }
    }

    private mutating func read(_ place: Place, at offset: Int) {
        guard let stated = number(2, at: offset) else {
            isDamaged = true
            return
        }
        let start = offset + 2
        let count = min(stated, (block.count - start) / 12)
        if count < stated { isDamaged = true }
        var thumbnail = ThumbnailExtent()
        for index in 0..<count {
            guard let (tag, entry) = entry(at: start + 12 * index) else { continue }
            if place == .thumbnail {
                thumbnail.take(tag, integer(entry))
            } else {
                take(tag, entry, in: place)
            }
            if place == .gps { found[.gps, default: 0] += 12 + (entry.bytes.count > 4 ? entry.bytes.count : 0) }
        }
        if place == .thumbnail, count > 0 { found[.thumbnail] = thumbnail.length(in: block.count) }
        if place == .image, count == stated, let next = number(4, at: start + 12 * count), next != 0 {
            pointers.append((.thumbnail, next))
        }
    }

    /// - Returns: nil for an entry without a value, and for one that is damaged.
    private mutating func entry(at offset: Int) -> (tag: UInt16, entry: Entry)? {
        guard let tag = number(2, at: offset), let typeNumber = number(2, at: offset + 2),
            let count = number(4, at: offset + 4), let pointer = number(4, at: offset + 8)
        else { return nil }
        // Photoshop leaves entries of zeros.
        if typeNumber == 0, tag == 0 || count == 0 { return nil }
        guard let type = TIFFType(rawValue: UInt16(typeNumber)) else {
            isDamaged = true
            return nil
        }
        if count == 0 { return nil }
        let size = type.size * count
        let start = size <= 4 ? offset + 8 : pointer
        guard start <= block.count, block.count - start >= size else {
            // What is cut off was there nevertheless.
            if tag == 0x927C { found[.makernote] = max(block.count - start, 0) }
            isDamaged = true
            return nil
        }
        entryCount += 1
        return (UInt16(tag), Entry(type: type, count: count, bytes: start..<(start + size)))
    }

    private mutating func take(_ tag: UInt16, _ entry: Entry, in place: Place) {
        switch (tag, place) {
        case (0x8769, .image): follow(entry, to: .exif)
        case (0x8825, .image), (0x8825, .exif): follow(entry, to: .gps)
        case (0xA005, .image), (0xA005, .exif): follow(entry, to: .interoperability)
        case (0x927C, .image), (0x927C, .exif): found[.makernote] = entry.bytes.count
        default:
            guard let directory = place.directory else { return }
            let key = StandardTag.Key(directory: directory, number: tag)
            if StandardTag.all[key] != nil {
                if entries[key] == nil { entries[key] = entry }
            } else if let other = TIFFWalk.other(directory), tag != 0x0112 {
                let key = StandardTag.Key(directory: other, number: tag)
                if StandardTag.all[key] != nil, misplaced[key] == nil { misplaced[key] = entry }
            }
        }
    }

    private static func other(_ directory: StandardTag.Directory) -> StandardTag.Directory? {
        switch directory {
        case .image: .exif
        case .exif: .image
        case .gps, .interoperability: nil
        }
    }

    private mutating func follow(_ entry: Entry, to place: Place) {
        guard let offset = integer(entry) else {
            isDamaged = true
            return
        }
        // Only the first to a place counts; a block may repeat it thousands of times.
        if !pointers.contains(where: { $0.place == place }) { pointers.append((place, offset)) }
    }

    /// A single SHORT, LONG or offset.
    private func integer(_ entry: Entry) -> Int? {
        switch (entry.type, entry.count) {
        case (.short, 1): number(2, at: entry.bytes.lowerBound)
        case (.long, 1), (.directory, 1): number(4, at: entry.bytes.lowerBound)
        default: nil
        }
    }
}

/// Where IFD1 says that its JPEG is.
private struct ThumbnailExtent {
    private var offset = 0
    private var stated = 0

    mutating func take(_ tag: UInt16, _ value: Int?) {
        switch tag {
        case 0x0201: offset = value ?? 0
        case 0x0202: stated = value ?? 0
        default: break
        }
    }

    func length(in blockBytes: Int) -> Int { min(stated, max(blockBytes - offset, 0)) }
}
