import Core

/// The tables of a HEIF file's `meta` box (ISO/IEC 14496-12, section 8.11): its items, where their bytes are, what
/// properties they have and how they refer to each other. Bounds are held; meaning is for `HEIFStructure`.
struct HEIFMeta {
    struct Item {
        var type: FourCC
        var isHidden: Bool
        /// Of a `mime` item.
        var contentType: String
        /// In the order in which they apply.
        var properties: [HEIFProperty] = []
        fileprivate var location: Location?
    }

    fileprivate struct Location {
        /// 0 the file, 1 `idat`, 2 another item.
        var construction: Int
        var isInThisFile: Bool
        var extents: [(offset: UInt64, length: UInt64)]
    }

    struct Reference {
        var type: FourCC
        var from: UInt32
        var to: [UInt32]
    }

    /// The largest genuine phone photo known (200 megapixels in 816 tiles) has 821 items.
    static let itemsMax = 1024
    static let propertiesMax = 8192
    static let propertiesPerItemMax = 64
    /// libheif's bound.
    static let extentsPerItemMax = 32
    /// Counts the referred-to items of all references.
    static let referencesMax = 16384

    private(set) var primaryID: UInt32?
    private(set) var items: [UInt32: Item] = [:]
    private(set) var references: [Reference] = []
    private var idat: Range<Int>?

    /// - Parameter box: the file's `meta` box.
    /// - Throws: `corrupt`, naming the box or the bound.
    init(_ box: Box, of bytes: Span<UInt8>) throws(Failure) {
        let parts = try HEIFMeta.parts(of: box, bytes)
        guard let handler = parts["hdlr"] else { throw Failure(.corrupt, "HEIF: there is no box 'hdlr'") }
        try HEIFMeta.check(handler: handler, bytes)
        idat = parts["idat"]?.payload
        if let box = parts["iinf"] { try readItems(box, bytes) }
        if let box = parts["pitm"] {
            var reader = BoxReader(box)
            let version = try reader.version(bytes).version
            primaryID = UInt32(try reader.int(version == 0 ? 2 : 4, bytes))
        }
        if let box = parts["iloc"] { try readLocations(box, bytes) }
        if let box = parts["iref"] { try readReferences(box, bytes) }
        if let box = parts["iprp"] { try readProperties(box, bytes) }
    }

    /// The boxes that matter; each may stand once.
    private static func parts(of meta: Box, _ bytes: Span<UInt8>) throws(Failure) -> [FourCC: Box] {
        var reader = BoxReader(meta)
        _ = try reader.version(bytes)
        var parts: [FourCC: Box] = [:]
        while let box = try reader.box(bytes) {
            guard ["hdlr", "pitm", "iinf", "iloc", "iref", "iprp", "idat"].contains(box.type) else { continue }
            guard parts.updateValue(box, forKey: box.type) == nil else {
                throw Failure(.corrupt, "HEIF: a second box '\(box.type.text)'")
            }
        }
        return parts
    }

    private static func check(handler box: Box, _ bytes: Span<UInt8>) throws(Failure) {
        var reader = BoxReader(box)
        _ = try reader.version(bytes)
        _ = try reader.int(4, bytes)
        guard try reader.fourCC(bytes) == "pict" else {
            throw Failure(.corrupt, "HEIF: the box 'meta' does not describe pictures")
        }
    }
}

// MARK: Items

extension HEIFMeta {
    private mutating func readItems(_ box: Box, _ bytes: Span<UInt8>) throws(Failure) {
        var reader = BoxReader(box)
        let version = try reader.version(bytes).version
        _ = try reader.int(version == 0 ? 2 : 4, bytes)
        while let entry = try reader.box(bytes) {
            guard entry.type == "infe" else { continue }
            try readItem(entry, bytes)
        }
    }

    private mutating func readItem(_ box: Box, _ bytes: Span<UInt8>) throws(Failure) {
        var reader = BoxReader(box)
        let (version, flags) = try reader.version(bytes)
        guard version == 2 || version == 3 else {
            throw Failure(.corrupt, "HEIF: the box 'infe' has the version \(version)")
        }
        let id = UInt32(try reader.int(version == 2 ? 2 : 4, bytes))
        _ = try reader.int(2, bytes)
        var item = Item(type: try reader.fourCC(bytes), isHidden: flags & 1 == 1, contentType: "")
        if item.type == "mime" {
            _ = try reader.text(bytes)
            item.contentType = try reader.text(bytes)
        }
        guard items.updateValue(item, forKey: id) == nil else { throw Failure(.corrupt, "HEIF: a second item \(id)") }
        guard items.count <= HEIFMeta.itemsMax else {
            throw Failure(.corrupt, "HEIF: more than \(HEIFMeta.itemsMax) items")
        }
    }
}

// MARK: Locations

extension HEIFMeta {
    /// The widths of the fields of an `iloc` box, in bytes.
    private struct LocationWidths {
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

    private mutating func readLocations(_ box: Box, _ bytes: Span<UInt8>) throws(Failure) {
        var reader = BoxReader(box)
        let version = try reader.version(bytes).version
        guard version <= 2 else { throw Failure(.corrupt, "HEIF: the box 'iloc' has the version \(version)") }
        let widths = try LocationWidths(version: version, try reader.int(2, bytes))
        let count = try reader.int(version < 2 ? 2 : 4, bytes)
        guard count <= HEIFMeta.itemsMax else {
            throw Failure(.corrupt, "HEIF: 'iloc' locates \(count) items; the limit is \(HEIFMeta.itemsMax)")
        }
        for _ in 0..<count {
            let id = UInt32(try reader.int(version < 2 ? 2 : 4, bytes))
            let construction = version == 0 ? 0 : try reader.int(2, bytes) & 15
            let isInThisFile = try reader.int(2, bytes) == 0
            let extents = try HEIFMeta.extents(of: id, &reader, widths, bytes)
            guard items[id]?.location == nil else { throw Failure(.corrupt, "HEIF: item \(id) is located twice") }
            items[id]?.location = Location(construction: construction, isInThisFile: isInThisFile, extents: extents)
        }
    }

    private static func extents(
        of id: UInt32, _ reader: inout BoxReader, _ widths: LocationWidths, _ bytes: Span<UInt8>
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
        guard let location = items[id]?.location, location.isInThisFile, !location.extents.isEmpty else {
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

// MARK: References

extension HEIFMeta {
    private mutating func readReferences(_ box: Box, _ bytes: Span<UInt8>) throws(Failure) {
        var reader = BoxReader(box)
        let width = try reader.version(bytes).version == 0 ? 2 : 4
        var total = 0
        while let entry = try reader.box(bytes) {
            var fields = BoxReader(entry)
            var reference = Reference(type: entry.type, from: UInt32(try fields.int(width, bytes)), to: [])
            let count = try fields.int(2, bytes)
            // One more for the reference itself, so that empty ones count too.
            total += count + 1
            guard total <= HEIFMeta.referencesMax else {
                throw Failure(.corrupt, "HEIF: more than \(HEIFMeta.referencesMax) references between items")
            }
            for _ in 0..<count { reference.to.append(UInt32(try fields.int(width, bytes))) }
            references.append(reference)
        }
        try checkReferences()
    }

    /// References that make one picture of another: their ends exist and they run in no circle. Decoders follow them
    /// without looking (libheif has crashed on such files).
    private func checkReferences() throws(Failure) {
        var waiting: [UInt32: Int] = [:]
        var edges: [UInt32: [UInt32]] = [:]
        var derived: Set<UInt32> = []
        for reference in references where ["dimg", "auxl", "thmb"].contains(reference.type) {
            for id in [reference.from] + reference.to where items[id] == nil {
                throw Failure(
                    .corrupt, "HEIF: a reference '\(reference.type.text)' names item \(id), which is not there")
            }
            if reference.type == "dimg", !derived.insert(reference.from).inserted {
                throw Failure(.corrupt, "HEIF: item \(reference.from) is derived twice")
            }
            edges[reference.from, default: []] += reference.to
            for id in reference.to { waiting[id, default: 0] += 1 }
        }
        // Kahn's algorithm: what is left over after all loose ends are taken away is a circle.
        var free = edges.keys.filter { waiting[$0] == nil }
        while let id = free.popLast() {
            for target in edges[id] ?? [] {
                guard let left = waiting[target] else { continue }
                waiting[target] = left == 1 ? nil : left - 1
                if left == 1 { free.append(target) }
            }
        }
        guard waiting.isEmpty else { throw Failure(.corrupt, "HEIF: items refer to each other in a circle") }
    }

    /// The items to which `id` refers.
    func targets(_ type: FourCC, from id: UInt32) -> [UInt32] {
        references.first { $0.type == type && $0.from == id }?.to ?? []
    }

    /// The items that refer to `id`, in file order.
    func sources(_ type: FourCC, to id: UInt32) -> [UInt32] {
        references.filter { $0.type == type && $0.to.contains(id) }.map(\.from)
    }
}

// MARK: Properties

extension HEIFMeta {
    private mutating func readProperties(_ box: Box, _ bytes: Span<UInt8>) throws(Failure) {
        var reader = BoxReader(box)
        var container: Box?
        var associations: [Box] = []
        while let part = try reader.box(bytes) {
            if part.type == "ipco" {
                guard container == nil else { throw Failure(.corrupt, "HEIF: a second box 'ipco'") }
                container = part
            }
            if part.type == "ipma" { associations.append(part) }
        }
        guard let container else { throw Failure(.corrupt, "HEIF: there is no box 'ipco'") }
        // One `ipma` for each of its versions and flags (ISO/IEC 23008-12, section 9.3.1).
        guard associations.count <= 4 else { throw Failure(.corrupt, "HEIF: more than 4 boxes 'ipma'") }
        let properties = try HEIFMeta.properties(of: container, bytes)
        var seen: Set<UInt32> = []
        for box in associations { try associate(properties, by: box, &seen, bytes) }
    }

    private static func properties(of container: Box, _ bytes: Span<UInt8>) throws(Failure) -> [HEIFProperty] {
        var reader = BoxReader(container)
        var properties: [HEIFProperty] = []
        while let box = try reader.box(bytes) {
            guard properties.count < propertiesMax else {
                throw Failure(.corrupt, "HEIF: more than \(propertiesMax) properties")
            }
            properties.append(try HEIFProperty(box, of: bytes))
        }
        return properties
    }

    private mutating func associate(
        _ properties: [HEIFProperty], by box: Box, _ seen: inout Set<UInt32>, _ bytes: Span<UInt8>
    ) throws(Failure) {
        var reader = BoxReader(box)
        let (version, flags) = try reader.version(bytes)
        let count = try reader.int(4, bytes)
        guard count <= HEIFMeta.itemsMax else {
            throw Failure(.corrupt, "HEIF: 'ipma' names \(count) items; the limit is \(HEIFMeta.itemsMax)")
        }
        for _ in 0..<count {
            let id = UInt32(try reader.int(version == 0 ? 2 : 4, bytes))
            guard seen.insert(id).inserted else {
                throw Failure(.corrupt, "HEIF: item \(id) gets its properties twice")
            }
            let total = try reader.int(1, bytes)
            guard total <= HEIFMeta.propertiesPerItemMax else {
                throw Failure(
                    .corrupt, "HEIF: item \(id) has \(total) properties; the limit is \(HEIFMeta.propertiesPerItemMax)")
            }
            for _ in 0..<total {
                // The highest bit says "essential"; 0 is no property.
                let index = flags & 1 == 1 ? try reader.int(2, bytes) & 0x7FFF : try reader.int(1, bytes) & 0x7F
                guard index <= properties.count else {
                    throw Failure(.corrupt, "HEIF: item \(id) has property \(index) of \(properties.count)")
                }
                if index > 0 { items[id]?.properties.append(properties[index - 1]) }
            }
        }
    }
}
