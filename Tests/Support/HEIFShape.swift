/// HEIF files put together by hand, box by box. The default is a lawful file of one HEVC item; each test changes what
/// it is about.
package struct HEIFShape: Sendable {
    /// An item; its data stand in `mdat` unless it says else.
    package struct Item: Sendable {
        package var id: Int
        package var type: String
        package var isHidden: Bool
        package var contentType: String?
        /// Numbers of `properties`, from 1.
        package var properties: [Int]
        package var data: [UInt8]?
        /// Whether the data stand in `idat`.
        package var isInline: Bool
        /// Into how many extents the data are cut.
        package var extents: Int
        /// Its data are those of the item before it.
        package var isShared = false

        package init(
            id: Int, type: String, isHidden: Bool = false, contentType: String? = nil, properties: [Int] = [],
            data: [UInt8]? = [1, 2, 3, 4], isInline: Bool = false, extents: Int = 1
        ) {
            self.id = id
            self.type = type
            self.isHidden = isHidden
            self.contentType = contentType
            self.properties = properties
            self.data = data
            self.isInline = isInline
            self.extents = extents
        }
    }

    /// References of one type from an item to others.
    package struct Reference: Sendable {
        package var type: String
        package var from: Int
        package var to: [Int]

        package init(type: String, from: Int, to: [Int]) {
            self.type = type
            self.from = from
            self.to = to
        }
    }

    package var brands = ["heic", "mif1", "heic"]
    package var primary: Int? = 1
    package var items: [Item] = [Item(id: 1, type: "hvc1", properties: [1, 2])]
    package var properties: [[UInt8]] = [HEIFShape.ispe(64, 48), HEIFShape.hvcC()]
    package var references: [Reference] = []
    /// Item numbers of 4 bytes, `iloc` 2 and so on, in place of the narrow versions.
    package var isWide = false
    package var handler = "pict"
    /// Boxes inside `meta`, beside the usual.
    package var extraMeta: [UInt8] = []
    package var isDataFirst = false
    package var appended: [UInt8] = []

    package init() {}

    // MARK: Boxes

    package static func box(_ type: String, _ payload: [UInt8]) -> [UInt8] {
        big(payload.count + 8, 4) + Array(type.utf8) + payload
    }

    package static func full(_ type: String, version: UInt8 = 0, flags: Int = 0, _ payload: [UInt8]) -> [UInt8] {
        box(type, [version] + big(flags, 3) + payload)
    }

    package static func big(_ value: Int, _ width: Int) -> [UInt8] {
        (0..<width).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    package static func ispe(_ width: Int, _ height: Int) -> [UInt8] { full("ispe", big(width, 4) + big(height, 4)) }
    package static func irot(_ turns: UInt8) -> [UInt8] { box("irot", [turns]) }
    package static func imir(_ axis: UInt8) -> [UInt8] { box("imir", [axis]) }
    package static func pixi(_ depths: UInt8...) -> [UInt8] { full("pixi", [UInt8(depths.count)] + depths) }
    package static func auxC(_ urn: String) -> [UInt8] { full("auxC", Array(urn.utf8) + [0]) }
    package static func clap(_ numbers: Int...) -> [UInt8] { box("clap", numbers.flatMap { big($0, 4) }) }

    package static func nclx(_ primaries: Int, _ transfer: Int, _ matrix: Int, _ range: UInt8) -> [UInt8] {
        box("colr", Array("nclx".utf8) + big(primaries, 2) + big(transfer, 2) + big(matrix, 2) + [range])
    }

    package static func prof(_ profile: [UInt8]) -> [UInt8] { box("colr", Array("prof".utf8) + profile) }

    package static func hvcC(chroma: UInt8 = 1, luma: UInt8 = 8, chromaDepth: UInt8 = 8) -> [UInt8] {
        var record = [UInt8](repeating: 0, count: 23)
        record[0] = 1
        record.replaceSubrange(16..<19, with: [0xFC | chroma, 0xF8 | (luma - 8), 0xF8 | (chromaDepth - 8)])
        return box("hvcC", record)
    }

    /// The data of a grid item.
    package static func grid(columns: UInt8, rows: UInt8, _ width: Int, _ height: Int, isWide: Bool = false) -> [UInt8]
    {
        [0, isWide ? 1 : 0, rows - 1, columns - 1] + big(width, isWide ? 4 : 2) + big(height, isWide ? 4 : 2)
    }

    /// A grid of 2×2 tiles of 64×64 that shows 100×80 of them; the primary item is 5.
    package static var grid: HEIFShape {
        var shape = HEIFShape()
        shape.primary = 5
        shape.properties = [ispe(64, 64), hvcC(), ispe(100, 80)]
        shape.items = (1...4).map { Item(id: $0, type: "hvc1", isHidden: true, properties: [1, 2]) }
        shape.items.append(
            Item(id: 5, type: "grid", properties: [3], data: grid(columns: 2, rows: 2, 100, 80), isInline: true))
        shape.references = [Reference(type: "dimg", from: 5, to: [1, 2, 3, 4])]
        return shape
    }

    // MARK: The file

    package var bytes: [UInt8] {
        let head = HEIFShape.box(
            "ftyp", Array(brands[0].utf8) + [0, 0, 0, 0] + brands.dropFirst().flatMap { Array($0.utf8) })
        let data = items.filter { !$0.isInline && !$0.isShared }.compactMap(\.data).flatMap(\.self)
        let mdat = HEIFShape.box("mdat", data)
        if isDataFirst { return head + mdat + meta(dataAt: head.count + 8) + appended }
        let dataAt = head.count + meta(dataAt: 0).count + 8
        return head + meta(dataAt: dataAt) + mdat + appended
    }

    private var idWidth: Int { isWide ? 4 : 2 }

    private func meta(dataAt: Int) -> [UInt8] {
        var boxes = HEIFShape.full("hdlr", [0, 0, 0, 0] + Array(handler.utf8) + Array(repeating: 0, count: 13))
        if let primary { boxes += HEIFShape.full("pitm", version: isWide ? 1 : 0, HEIFShape.big(primary, idWidth)) }
        boxes += HEIFShape.full(
            "iinf", version: isWide ? 1 : 0, HEIFShape.big(items.count, idWidth) + items.flatMap(entry))
        boxes += HEIFShape.box("iprp", HEIFShape.box("ipco", properties.flatMap(\.self)) + associations)
        if !references.isEmpty {
            boxes += HEIFShape.full("iref", version: isWide ? 1 : 0, references.flatMap(reference))
        }
        boxes += locations(dataAt: dataAt)
        boxes += HEIFShape.box("idat", items.filter(\.isInline).compactMap(\.data).flatMap(\.self))
        return HEIFShape.full("meta", boxes + extraMeta)
    }

    private func entry(_ item: Item) -> [UInt8] {
        var payload = HEIFShape.big(item.id, idWidth) + [0, 0] + Array(item.type.utf8) + [0]
        if let contentType = item.contentType { payload += Array(contentType.utf8) + [0] }
        return HEIFShape.full("infe", version: isWide ? 3 : 2, flags: item.isHidden ? 1 : 0, payload)
    }

    private func reference(_ reference: Reference) -> [UInt8] {
        var payload = HEIFShape.big(reference.from, idWidth) + HEIFShape.big(reference.to.count, 2)
        for id in reference.to { payload += HEIFShape.big(id, idWidth) }
        return HEIFShape.box(reference.type, payload)
    }

    private var associations: [UInt8] {
        var entries: [UInt8] = []
        for item in items {
            entries += HEIFShape.big(item.id, idWidth) + [UInt8(truncatingIfNeeded: item.properties.count)]
            for index in item.properties {
                entries += isWide ? HEIFShape.big(index | 0x8000, 2) : [UInt8(index | 0x80)]
            }
        }
        return HEIFShape.full(
            "ipma", version: isWide ? 1 : 0, flags: isWide ? 1 : 0, HEIFShape.big(items.count, 4) + entries)
    }

    /// Narrow: version 1, offsets and lengths of 4 bytes. Wide: version 2, of 8 bytes, with a base offset.
    private func locations(dataAt: Int) -> [UInt8] {
        let width = isWide ? 8 : 4
        let located = items.filter { $0.data != nil }
        var next = (file: dataAt, inline: 0)
        var entries: [UInt8] = []
        for item in located {
            let count = item.data?.count ?? 0
            var at = item.isInline ? next.inline : next.file
            if item.isShared { at -= count }
            let end = at + count
            let base = isWide ? at : 0
            entries += HEIFShape.big(item.id, idWidth) + [0, item.isInline ? 1 : 0, 0, 0]
            if isWide { entries += HEIFShape.big(base, 8) }
            entries += HEIFShape.big(item.extents, 2)
            for index in 0..<item.extents {
                let length = index == item.extents - 1 ? end - at : count / item.extents
                entries += HEIFShape.big(at - base, width) + HEIFShape.big(length, width)
                at += length
            }
            if item.isInline { next.inline = end } else { next.file = end }
        }
        let widths: [UInt8] = isWide ? [0x88, 0x80] : [0x44, 0x00]
        return HEIFShape.full("iloc", version: isWide ? 2 : 1, widths + HEIFShape.big(located.count, idWidth) + entries)
    }
}
