import Core

/// What a HEIF file holds beside its primary picture's pixels.
struct HEIFContents {
    private(set) var alphaID: UInt32?
    private(set) var auxiliaryTypes: Set<String> = []
    private(set) var exif: [Extents] = []
    private(set) var xmp = XMPFindings()
    /// In bytes.
    private(set) var found: [Removable: Int] = [:]
    private(set) var warnings: Set<Warning> = []

    static let exifItemsMax = 16

    private static let codings: Set<FourCC> = [
        "hvc1", "hev1", "lhv1", "av01", "avc1", "vvc1", "evc1", "jpeg", "j2k1", "unci", "mski", "grid", "iovl", "iden",
    ]
    /// ISO/IEC 23008-12, section 6.5.8 and annex F; the second is that of MIAF and AVIF.
    private static let alphaTypes: Set<String> = [
        "urn:mpeg:hevc:2015:auxid:1", "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha",
    ]
    private static let depthTypes: Set<String> = [
        "urn:mpeg:hevc:2015:auxid:2", "urn:mpeg:mpegB:cicp:systems:auxiliary:depth",
    ]

    init(_ primaryID: UInt32, of meta: HEIFMeta, in bytes: Span<UInt8>) {
        takePictures(primaryID, of: meta, in: bytes)
        takeXMP(of: meta, in: bytes)
        takeExif(primaryID, of: meta, in: bytes)
        for (id, item) in meta.items {
            guard let kind = HEIFContents.kind(of: item) else { continue }
            found.note(kind, bytes: HEIFContents.byteCount(of: id, meta, bytes))
        }
    }

    /// What an item is that is no picture.
    private static func kind(of item: HEIFMeta.Item) -> Removable? {
        switch item.type {
        case _ where codings.contains(item.type): nil
        case "tmap": .gainMap
        case "Exif": .exif
        case "iptc": .iptc
        case "mime" where item.isXMP: .xmp
        default: .unknownSegment
        }
    }

    private static func byteCount(of id: UInt32, _ meta: HEIFMeta, _ bytes: Span<UInt8>) -> Int {
        (try? meta.extents(of: id, in: bytes))?.count ?? 0
    }

    /// Of a picture, with those that it is made of.
    private static func pictureByteCount(of id: UInt32, _ meta: HEIFMeta, _ bytes: Span<UInt8>) -> Int {
        let parts = meta.references.targets("dimg", from: id)
        return ([id] + parts).reduce(0) { $0 + byteCount(of: $1, meta, bytes) }
    }

    mutating func take(_ file: HEIFFile) { found.merge(file.found, uniquingKeysWith: +) }

    private mutating func takePictures(_ primaryID: UInt32, of meta: HEIFMeta, in bytes: Span<UInt8>) {
        var parts: Set<UInt32> = [primaryID]
        // Each picture counts once, to however many it belongs.
        var kinds: [UInt32: Removable] = [:]
        for reference in meta.references.all {
            switch reference.type {
            case "dimg": parts.formUnion(reference.to)
            case "auxl":
                parts.insert(reference.from)
                kinds[reference.from] = takeAuxiliary(reference, primaryID, of: meta)
            case "thmb":
                parts.insert(reference.from)
                kinds[reference.from] = .thumbnail
            default: break
            }
        }
        for (id, item) in meta.items
        where HEIFContents.codings.contains(item.type) && !item.isHidden && !parts.contains(id) {
            kinds[id] = .additionalImage
            warnings.insert(.otherImagesIgnored)
        }
        for (id, kind) in kinds {
            found.note(kind, bytes: HEIFContents.pictureByteCount(of: id, meta, bytes))
        }
    }

    private mutating func takeAuxiliary(
        _ reference: HEIFReferences.Reference, _ primaryID: UInt32, of meta: HEIFMeta
    ) -> Removable {
        let type = meta.items[reference.from]?.auxiliaryType ?? ""
        if !type.isEmpty { auxiliaryTypes.insert(type) }
        if HEIFContents.alphaTypes.contains(type) {
            if reference.to.contains(primaryID), alphaID == nil { alphaID = reference.from }
            return .alpha
        }
        if HEIFContents.depthTypes.contains(type) { return .depthMap }
        return type.hasSuffix(":hdrgainmap") ? .gainMap : .auxiliaryImage
    }

    private mutating func takeXMP(of meta: HEIFMeta, in bytes: Span<UInt8>) {
        // Items may share their bytes: all searches together read no more than the file has.
        var budget = bytes.count
        for id in meta.items.keys.sorted() where meta.items[id]?.isXMP == true {
            guard let data = try? meta.extents(of: id, in: bytes), data.count <= budget else { continue }
            budget -= data.count
            let told = data.ranges.reduce(into: Set<Removable>()) { $0.formUnion(xmp.search($1, of: bytes)) }
            for kind in told { found.note(kind, bytes: data.count) }
        }
    }

    /// The Exif items that describe the primary picture, or a tone-mapped one that is made of it (`tmap`, ISO/IEC
    /// 23008-12 amendment 1); where no Exif item says what it describes, all of them.
    private mutating func takeExif(_ primaryID: UInt32, of meta: HEIFMeta, in bytes: Span<UInt8>) {
        let all = meta.items.filter { $0.value.type == "Exif" }.map(\.key).sorted()
        let described = Set(meta.references.all.filter { $0.type == "cdsc" }.map(\.from))
        let toneMapped = meta.references.sources("dimg", to: primaryID).filter { meta.items[$0]?.type == "tmap" }
        var chosen = Set(([primaryID] + toneMapped.prefix(1)).flatMap { meta.references.sources("cdsc", to: $0) })
        if described.isDisjoint(with: all) { chosen = Set(all) }
        let items = all.filter(chosen.contains)
        if items.count > 1 { warnings.insert(.exifRepeated) }
        for id in items.prefix(HEIFContents.exifItemsMax) {
            if let tiff = HEIFContents.tiff(of: id, meta, bytes) {
                exif.append(tiff)
            } else {
                warnings.insert(.exifDamaged)
            }
        }
    }

    /// ISO/IEC 23008-12, annex A.2.1: 4 bytes tell how many more to skip to the TIFF header. Writers differ in whether
    /// `Exif\0\0` stands before it and is counted, and some leave the 4 bytes wrong: the header's own mark decides.
    private static func tiff(of id: UInt32, _ meta: HEIFMeta, _ bytes: Span<UInt8>) -> Extents? {
        guard let data = try? meta.extents(of: id, in: bytes), let skipped = data.bigEndian(4, at: 0, in: bytes) else {
            return nil
        }
        for candidate in [4 + skipped, 4, 0] {
            let start = candidate + (data.starts(with: ascii("Exif\0\0"), at: candidate, in: bytes) ? 6 : 0)
            if data.starts(with: ascii("II"), at: start, in: bytes)
                || data.starts(with: ascii("MM"), at: start, in: bytes)
            {
                return data.dropFirst(start)
            }
        }
        return nil
    }
}

extension HEIFMeta.Item {
    fileprivate var isXMP: Bool { type == "mime" && contentType == "application/rdf+xml" }
}
