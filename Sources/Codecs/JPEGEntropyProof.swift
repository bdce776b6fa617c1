import Core

/// That the entropy-coded data of a JPEG is whole: every code defined, every MCU there, every scan that the picture
/// needs. Not whether the picture is the one that was taken: damage that makes other lawful codes cannot be seen.
package struct EntropyProof: Sendable, Equatable {
    /// Something odd but harmless was met: stray bytes, unlawful parameters that nothing depends on, no EOI.
    package let isIrregular: Bool
    /// From the first scan on there are bytes that no decoder needs: a copy that ends at `end` would carry them along.
    package let hasStrayData: Bool
    /// How many bytes the picture has, with its EOI if it has one.
    package let end: Int
    package let hasEOI: Bool
    package let frame: JPEGFrame

    /// Proves the first picture in `bytes`, which begin with its SOI. Sequential Huffman coding, which phones write, is
    /// decoded here in no memory and strictly; the rest by libjpeg, which holds all coefficients.
    ///
    /// - Parameter bytesMax: what libjpeg may hold in memory.
    /// - Throws: `corrupt`, `truncated`, `unsupported`, `outOfMemory`.
    package static func prove(
        _ bytes: UnsafeRawBufferPointer, bytesMax: Int = .max
    ) throws(CodecError) -> EntropyProof {
        var walk = JPEGWalk(bytes)
        var isIrregular = try walk.run()
        guard let frame = walk.frame else { throw CodecError(.corrupt, "no frame") }
        if walk.needsLibrary {
            var decoder = try JPEGDecoder.opening(bytes, bytesMax: bytesMax)
            _ = try decoder.readHeader()
            try decoder.prove()
            isIrregular = isIrregular || decoder.isIrregular
        }
        return EntropyProof(
            isIrregular: isIrregular, hasStrayData: walk.hasStrayData, end: walk.position, hasEOI: walk.hasEOI,
            frame: frame)
    }

    /// What `prove` holds in memory at most.
    package static func bytesNeeded(_ frame: JPEGFrame) -> Int {
        frame.hasMultipleScans ? frame.coefficientBytes + 1 << 20 : 1 << 20
    }
}

/// Goes through a JPEG from marker to marker (T.81, annex B), proving the scans of sequential Huffman coding on the way.
struct JPEGWalk: ~Copyable {
    private let bytes: UnsafeRawBufferPointer
    private(set) var position = 0
    private(set) var frame: JPEGFrame?
    private(set) var hasEOI = false
    private(set) var hasStrayData = false
    /// Another coding than sequential Huffman, or tables that are implied: for libjpeg to prove.
    private(set) var needsLibrary = false

    private var isIrregular = false
    private var tables = JPEGHuffmanTables()
    private var restartInterval = 0
    private var identifiers: [UInt8] = []
    private var scanned: Set<Int> = []

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// - Returns: whether something odd but harmless was met.
    mutating func run() throws(CodecError) -> Bool {
        guard bytes.count >= 2 else { throw CodecError(.truncated, "no SOI") }
        guard bytes[0] == 0xFF, bytes[1] == 0xD8 else { throw CodecError(.corrupt, "no SOI") }
        position = 2
        while let marker = nextMarker() {
            if marker == 0xD9 {
                hasEOI = true
                break
            }
            try take(marker)
        }
        if !hasEOI { isIrregular = true }
        guard let frame, !scanned.isEmpty else {
            throw CodecError(hasEOI ? .corrupt : .truncated, "no picture")
        }
        guard scanned.count == frame.components.count else {
            throw CodecError(.truncated, "scans of \(frame.components.count - scanned.count) components are missing")
        }
        return isIrregular
    }

    /// Steps over the next marker; nil at the end of the bytes.
    private mutating func nextMarker() -> UInt8? {
        let start = position
        while position + 1 < bytes.count {
            let marker = bytes[position + 1]
            if bytes[position] == 0xFF, marker != 0, marker != 0xFF {
                position += 2
                noteStray(Self.strayBytes(bytes[start..<(position - 2)]))
                return marker
            }
            position += 1
        }
        position = bytes.count
        noteStray(Self.strayBytes(bytes[start...]))
        return nil
    }

    /// FFs before a marker are lawful fill (T.81, B.1.1.2).
    private static func strayBytes(_ skipped: Slice<UnsafeRawBufferPointer>) -> Int {
        skipped.count - skipped.reversed().prefix { $0 == 0xFF }.count
    }

    private mutating func noteStray(_ count: Int) {
        guard count > 0 else { return }
        isIrregular = true
        if !scanned.isEmpty { hasStrayData = true }
    }

    private mutating func take(_ marker: UInt8) throws(CodecError) {
        switch marker {
        case 0xC0, 0xC1: try readFrame(segment())
        case 0xC2, 0xC9, 0xCA:
            needsLibrary = true
            try readFrame(segment(), isProgressive: marker != 0xC9)
        case 0xC4: try defineTables(segment())
        case 0xDA: try readScan(segment())
        case 0xDB, 0xCC, 0xDC: _ = try segment()
        case 0xDD:
            let body = try segment()
            guard body.count == 2 else { throw CodecError(.corrupt, "bogus DRI length") }
            restartInterval = Int(body[0]) << 8 | Int(body[1])
        case 0xE0...0xEF, 0xFE:
            _ = try segment()
            if !scanned.isEmpty { hasStrayData = true }
        // RSTn outside a scan, TEM: without parameters, without meaning.
        case 0xD0...0xD7, 0x01: noteStray(2)
        case 0xC3, 0xC5...0xCF: throw CodecError(.unsupported, "JPEG process SOF\(marker - 0xC0)")
        default: throw CodecError(.corrupt, "marker \(marker) has no place in a picture")
        }
    }

    /// The segment that begins at `position`, without its length; steps over it.
    private mutating func segment() throws(CodecError) -> UnsafeRawBufferPointer {
        guard bytes.count - position >= 2 else { throw CodecError(.truncated, "the bytes end in a segment") }
        let length = Int(bytes[position]) << 8 | Int(bytes[position + 1])
        guard length >= 2 else { throw CodecError(.corrupt, "bogus segment length") }
        guard length <= bytes.count - position else { throw CodecError(.truncated, "the bytes end in a segment") }
        defer { position += length }
        return UnsafeRawBufferPointer(rebasing: bytes[(position + 2)..<(position + length)])
    }

    /// T.81, B.2.2.
    private mutating func readFrame(_ body: UnsafeRawBufferPointer, isProgressive: Bool = false) throws(CodecError) {
        guard frame == nil else { throw CodecError(.corrupt, "two frames") }
        guard body.count >= 6, body.count == 6 + 3 * Int(body[5]), body[5] > 0 else {
            throw CodecError(.corrupt, "bogus SOF length")
        }
        guard body[0] == 8 else { throw CodecError(.unsupported, "\(body[0]) bits a sample") }
        guard body[5] <= 4 else { throw CodecError(.unsupported, "\(body[5]) components") }
        let size = PixelSize(
            width: Int(body[3]) << 8 | Int(body[4]), height: Int(body[1]) << 8 | Int(body[2]))
        guard size.width > 0 else { throw CodecError(.corrupt, "no width") }
        guard size.height > 0 else { throw CodecError(.unsupported, "the height stands in DNL") }
        var components: [JPEGFrame.Component] = []
        for index in 0..<Int(body[5]) {
            let factors = body[7 + 3 * index]
            let component = JPEGFrame.Component(horizontal: Int(factors >> 4), vertical: Int(factors & 15))
            guard (1...4).contains(component.horizontal), (1...4).contains(component.vertical) else {
                throw CodecError(.corrupt, "bogus sampling factors")
            }
            components.append(component)
            identifiers.append(body[6 + 3 * index])
        }
        frame = JPEGFrame(
            size: size, components: components, isProgressive: isProgressive,
            hasMultipleScans: isProgressive)
    }

    /// T.81, B.2.4.2.
    private mutating func defineTables(_ body: UnsafeRawBufferPointer) throws(CodecError) {
        var rest = body[...]
        while !rest.isEmpty {
            guard rest.count >= 17 else { throw CodecError(.corrupt, "bogus DHT length") }
            let selector = rest[rest.startIndex]
            let counts = rest.dropFirst().prefix(16)
            let total = counts.reduce(0) { $0 + Int($1) }
            guard total <= 256, rest.count >= 17 + total, selector & 0xEC == 0 else {
                throw CodecError(.corrupt, "bogus Huffman table")
            }
            let values = rest.dropFirst(17).prefix(total)
            try tables.define(
                Int(selector >> 4) * 4 + Int(selector & 3), counts: UnsafeRawBufferPointer(rebasing: counts),
                values: UnsafeRawBufferPointer(rebasing: values))
            rest = rest.dropFirst(17 + total)
        }
    }

    /// T.81, B.2.3.
    private mutating func readScan(_ body: UnsafeRawBufferPointer) throws(CodecError) {
        guard var frame else { throw CodecError(.corrupt, "a scan before the frame") }
        guard body.count >= 1, (1...4).contains(body[0]), body.count == 4 + 2 * Int(body[0]) else {
            throw CodecError(.corrupt, "bogus SOS length")
        }
        let count = Int(body[0])
        if scanned.count == frame.components.count, !needsLibrary { throw CodecError(.corrupt, "a scan too many") }
        if count < frame.components.count { frame.hasMultipleScans = true }
        self.frame = frame
        var blocks: [JPEGHuffmanScan.Block] = []
        var components: [Int] = []
        for index in 0..<count {
            let identifier = body[1 + 2 * index]
            let selectors = body[2 + 2 * index]
            // Where identifiers repeat, position tells the components apart, as in libjpeg.
            guard
                let component = identifiers.indices.first(where: {
                    identifiers[$0] == identifier && !components.contains($0)
                })
            else { throw CodecError(.corrupt, "a scan of an unknown component") }
            guard selectors & 0xCC == 0 else { throw CodecError(.corrupt, "bogus table selectors") }
            components.append(component)
            let block = JPEGHuffmanScan.Block(dc: Int(selectors >> 4), ac: 4 + Int(selectors & 3))
            if !tables.isDefined(block.dc) || !tables.isDefined(block.ac) { needsLibrary = true }
            let factors = frame.components[component]
            blocks += Array(repeating: block, count: count == 1 ? 1 : factors.horizontal * factors.vertical)
        }
        guard blocks.count <= 10 else { throw CodecError(.corrupt, "more than 10 blocks in an MCU") }
        scanned.formUnion(components)
        guard !needsLibrary else { return skipScan() }
        if body[body.count - 3] != 0 || body[body.count - 2] != 63 || body[body.count - 1] != 0 { isIrregular = true }
        let extent = count == 1 ? frame.blocks(of: frame.components[components[0]]) : frame.interleavedMCUs
        let scan = JPEGHuffmanScan(blocks: blocks, mcus: extent.width * extent.height, restartInterval: restartInterval)
        let end = try scan.prove(bytes, at: position, tables: tables)
        position = end.position
        noteStray(end.strayBytes)
    }

    /// Steps over entropy-coded data with its restart markers.
    private mutating func skipScan() {
        while position + 1 < bytes.count {
            if bytes[position] == 0xFF {
                switch bytes[position + 1] {
                case 0, 0xD0...0xD7: position += 1
                case 0xFF: break
                default: return
                }
            }
            position += 1
        }
        position = bytes.count
    }
}
