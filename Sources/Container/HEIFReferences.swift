import Core

/// How a HEIF file's items refer to each other: the box `iref` (ISO/IEC 14496-12, section 8.11.12).
struct HEIFReferences {
    struct Reference {
        let type: FourCC
        let from: UInt32
        var to: [UInt32]
    }

    /// Counts the references and the items that they name.
    static let totalMax = 16384

    private(set) var all: [Reference] = []

    /// No references.
    init() {}

    /// - Parameters:
    ///   - box: the box `iref`.
    ///   - items: the numbers of all items.
    init(_ box: Box, between items: Set<UInt32>, of bytes: Span<UInt8>) throws(Failure) {
        var reader = BoxReader(box)
        let width = try reader.version(bytes).version == 0 ? 2 : 4
        var total = 0
        while let entry = try reader.box(bytes) {
            var fields = BoxReader(entry)
            var reference = Reference(type: entry.type, from: UInt32(try fields.int(width, bytes)), to: [])
            let count = try fields.int(2, bytes)
            // One more for the reference itself, so that empty ones count too.
            total += count + 1
            guard total <= HEIFReferences.totalMax else {
                throw Failure(.corrupt, "HEIF: more than \(HEIFReferences.totalMax) references between items")
            }
            for _ in 0..<count { reference.to.append(UInt32(try fields.int(width, bytes))) }
            all.append(reference)
        }
        try check(items)
    }

    /// References that make one picture of another: their ends exist and they run in no circle. Decoders follow them
    /// without looking (libheif has crashed on such files).
    private func check(_ items: Set<UInt32>) throws(Failure) {
        var waiting: [UInt32: Int] = [:]
        var edges: [UInt32: [UInt32]] = [:]
        var derived: Set<UInt32> = []
        for reference in all where ["dimg", "auxl", "thmb"].contains(reference.type) {
            for id in [reference.from] + reference.to where !items.contains(id) {
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
        all.first { $0.type == type && $0.from == id }?.to ?? []
    }

    /// The items that refer to `id`, in file order.
    func sources(_ type: FourCC, to id: UInt32) -> [UInt32] {
        all.filter { $0.type == type && $0.to.contains(id) }.map(\.from)
    }
}
