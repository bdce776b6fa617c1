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
    }

    /// The largest genuine phone photo known (200 megapixels, 768 tiles) has 822 items.
    static let itemsMax = 1024
    static let propertiesMax = 8192
    static let propertiesPerItemMax = 64
    /// Bytes that items may have in common, each counted for every item but one. Writers let equal tiles share theirs.
    static let sharedBytesMax = 16 << 20

    private(set) var primaryID: UInt32?
    private(set) var items: [UInt32: Item] = [:]
    private(set) var references = HEIFReferences()
    private var locations: HEIFLocations?

    /// - Parameter box: the file's `meta` box.
    /// - Throws: `corrupt`, naming the box or the bound.
    init(_ box: Box, of bytes: Span<UInt8>) throws(Failure) {
        let parts = try HEIFMeta.parts(of: box, bytes)
        guard let handler = parts["hdlr"] else { throw Failure(.corrupt, "HEIF: there is no box 'hdlr'") }
        try HEIFMeta.check(handler: handler, bytes)
        if let box = parts["iinf"] { try readItems(box, bytes) }
        if let box = parts["pitm"] {
            var reader = BoxReader(box)
            let version = try reader.version(bytes).version
            primaryID = UInt32(try reader.int(version == 0 ? 2 : 4, bytes))
        }
        if let box = parts["iloc"] { locations = try HEIFLocations(box, idat: parts["idat"]?.payload, of: bytes) }
        if let box = parts["iref"] { references = try HEIFReferences(box, between: Set(items.keys), of: bytes) }
        if let box = parts["iprp"] { try readProperties(box, bytes) }
        try checkCodings()
        try checkShares(bytes)
    }

    /// What no phone or camera writes, not even beside its picture. Libraries go through all items that a file has, and
    /// have crashed on these.
    private func checkCodings() throws(Failure) {
        for (id, item) in items.sorted(by: { $0.key < $1.key }) where item.type == "unci" || item.type == "mski" {
            throw Failure(.unsupportedMedia, "HEIF: item \(id) is coded as '\(item.type.text)', which no photo needs")
        }
        for reference in references.all where reference.type == "dimg" && items[reference.from]?.type == "iden" {
            guard !reference.to.contains(where: { items[$0]?.type == "iden" }) else {
                throw Failure(.corrupt, "HEIF: item \(reference.from), an 'iden', is derived from another")
            }
        }
    }

    /// Readers take a copy of each item (libheif of all metadata at once), so what many items share counts many times.
    private func checkShares(_ bytes: Span<UInt8>) throws(Failure) {
        var total = 0
        for id in items.keys { total += (try? extents(of: id, in: bytes))?.count ?? 0 }
        guard total <= bytes.count + HEIFMeta.sharedBytesMax else {
            throw Failure(.corrupt, "HEIF: the items have \(total) bytes in all, the file has \(bytes.count)")
        }
    }

    /// Where the item's bytes are in the file.
    ///
    /// - Throws: `truncated` where they run past the end of the file, `corrupt` where they are nowhere, or more than
    ///   the file has (extents that overlap).
    func extents(of id: UInt32, in bytes: Span<UInt8>) throws(Failure) -> Extents {
        guard let locations else { throw Failure(.corrupt, "HEIF: there is no box 'iloc'") }
        return try locations.extents(of: id, in: bytes)
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
        // Versions 0 and 1 are lawful, and name no type of item (ISO/IEC 14496-12, section 8.11.6.2); no phone writes
        // them.
        guard version == 2 || version == 3 else {
            throw Failure(
                version < 2 ? .undecodable : .corrupt,
                "HEIF: the box 'infe' has the version \(version); 2 and 3 are read")
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
