import Core

/// Goes through a JPEG from marker to marker (T.81, annex B), proving the scans of sequential Huffman coding on the
/// way.
struct JPEGWalk: ~Copyable {
    /// Who decodes the scans.
    enum Coding {
        /// Sequential with Huffman codes: proved here.
        case sequential
        /// Progressive or arithmetic: for libjpeg to prove.
        case other
        /// Lossless with Huffman codes: for `LosslessJPEGSource`.
        case lossless
    }

    /// libjpeg's bound, and with it that of nearly all readers.
    static let sideMax = 65500

    private let bytes: UnsafeRawBufferPointer
    private(set) var position = 0
    private(set) var frame: JPEGGeometry?
    private(set) var hasEOI = false
    private(set) var hasStrayData = false
    private(set) var coding = Coding.sequential
    private(set) var losslessScans: [JPEGLosslessScan] = []

    private var isIrregular = false
    /// The latest definition of each table. Only those that a scan names are built: a file may define millions.
    private var definitions = [UnsafeRawBufferPointer?](repeating: nil, count: 8)
    let tables = JPEGHuffmanTables()
    /// How much an index of the scan may take, for pictures whose MCUs shall be found again.
    private let indexBytesMax: Int
    /// Where the MCUs are, of a picture with one sequential scan.
    private(set) var index: JPEGScanIndex?
    private var restartInterval = 0
    private var identifiers: [UInt8] = []
    private var scanned: Set<Int> = []

    init(_ bytes: UnsafeRawBufferPointer, indexBytesMax: Int = 0) {
        self.bytes = bytes
        self.indexBytesMax = indexBytesMax
    }

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
            coding = .other
            try readFrame(segment(), isProgressive: marker != 0xC9)
        case 0xC3:
            coding = .lossless
            try readFrame(segment())
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
        case 0xC5...0xCF: throw CodecError(.unsupported, "JPEG process SOF\(marker - 0xC0)")
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
        guard max(size.width, size.height) <= Self.sideMax else { throw CodecError(.unsupported, "\(size)") }
        var components: [JPEGGeometry.Component] = []
        for index in 0..<Int(body[5]) {
            let factors = body[7 + 3 * index]
            let component = JPEGGeometry.Component(horizontal: Int(factors >> 4), vertical: Int(factors & 15))
            guard (1...4).contains(component.horizontal), (1...4).contains(component.vertical) else {
                throw CodecError(.corrupt, "bogus sampling factors")
            }
            components.append(component)
            identifiers.append(body[6 + 3 * index])
        }
        let frame = JPEGGeometry(
            size: size, components: components, isProgressive: isProgressive, hasMultipleScans: isProgressive)
        // Lawful, but no decoder in use stretches a component by a fraction.
        for component in components
        where frame.horizontalMax % component.horizontal != 0 || frame.verticalMax % component.vertical != 0 {
            throw CodecError(.unsupported, "sampling factors that do not divide the largest")
        }
        self.frame = frame
    }

    /// T.81, B.2.4.2.
    private mutating func defineTables(_ body: UnsafeRawBufferPointer) throws(CodecError) {
        var rest = body[...]
        while !rest.isEmpty {
            guard rest.count >= 17 else { throw CodecError(.corrupt, "bogus DHT length") }
            let selector = rest[rest.startIndex]
            let total = rest.dropFirst().prefix(16).reduce(0) { $0 + Int($1) }
            guard total <= 256, rest.count >= 17 + total, selector & 0xEC == 0 else {
                throw CodecError(.corrupt, "bogus Huffman table")
            }
            definitions[Int(selector >> 4) * 4 + Int(selector & 3)] = UnsafeRawBufferPointer(
                rebasing: rest.dropFirst().prefix(16 + total))
            rest = rest.dropFirst(17 + total)
        }
    }

    /// T.81, B.2.3.
    private mutating func readScan(_ body: UnsafeRawBufferPointer) throws(CodecError) {
        guard var frame else { throw CodecError(.corrupt, "a scan before the frame") }
        guard body.count >= 1, (1...4).contains(body[0]), body.count == 4 + 2 * Int(body[0]) else {
            throw CodecError(.corrupt, "bogus SOS length")
        }
        let parts = try readParts(body)
        if parts.count < frame.components.count { frame.hasMultipleScans = true }
        self.frame = frame
        let components = parts.map(\.component)
        guard coding == .other || scanned.isDisjoint(with: components) else {
            throw CodecError(.corrupt, "a second scan of a component")
        }
        scanned.formUnion(components)
        switch coding {
        case .other: skipScan()
        case .sequential: try proveScan(parts, of: frame, body.suffix(3))
        case .lossless:
            losslessScans.append(try losslessScan(parts, of: frame, body.suffix(3)))
            skipScan()
        }
    }

    /// A component of a scan, and its tables: 0…3 for DC, 4…7 for AC.
    private struct Part {
        var component: Int
        var dc: Int
        var ac: Int
    }

    private func readParts(_ body: UnsafeRawBufferPointer) throws(CodecError) -> [Part] {
        var parts: [Part] = []
        for index in 0..<Int(body[0]) {
            let identifier = body[1 + 2 * index]
            let selectors = body[2 + 2 * index]
            // Where identifiers repeat, position tells the components apart, as in libjpeg.
            let component = identifiers.indices.first { candidate in
                identifiers[candidate] == identifier && !parts.contains { $0.component == candidate }
            }
            guard let component else { throw CodecError(.corrupt, "a scan of an unknown component") }
            guard selectors & 0xCC == 0 else { throw CodecError(.corrupt, "bogus table selectors") }
            parts.append(Part(component: component, dc: Int(selectors >> 4), ac: 4 + Int(selectors & 3)))
        }
        return parts
    }

    private mutating func proveScan(
        _ parts: [Part], of frame: JPEGGeometry, _ parameters: Slice<UnsafeRawBufferPointer>
    ) throws(CodecError) {
        if !parameters.elementsEqual([0, 63, 0]) { isIrregular = true }
        var blocks: [JPEGHuffmanScan.Block] = []
        for part in parts {
            try build(part.dc)
            try build(part.ac)
            let factors = frame.components[part.component]
            let count = parts.count == 1 ? 1 : factors.horizontal * factors.vertical
            let block = JPEGHuffmanScan.Block(component: part.component, dc: part.dc, ac: part.ac)
            blocks += Array(repeating: block, count: count)
        }
        guard blocks.count <= 10 else { throw CodecError(.corrupt, "more than 10 blocks in an MCU") }
        let extent =
            parts.count == 1 ? frame.blocks(of: frame.components[parts[0].component]) : frame.interleavedMCUs
        let mcus = extent.width * extent.height
        if parts.map(\.component) == Array(frame.components.indices), parts.count <= 3 {
            index = JPEGScanIndex.making(of: bytes, blocks, mcus: mcus, bytesMax: indexBytesMax)
        }
        let scan = JPEGHuffmanScan(blocks: blocks, mcus: mcus, restartInterval: restartInterval, index: index)
        let end = try scan.prove(bytes, at: position, tables: tables)
        position = end.position
        noteStray(end.strayBytes)
    }

    /// Builds table `index` from its latest definition, if it is not built yet.
    private mutating func build(_ index: Int) throws(CodecError) {
        if let definition = definitions[index] {
            try tables.define(index, definition)
            definitions[index] = nil
        }
        guard tables.isDefined(index) else { throw CodecError(.corrupt, "a Huffman table is missing") }
    }

    /// T.81, table B.3: the predictor stands where other scans have their first coefficient.
    private func losslessScan(
        _ parts: [Part], of frame: JPEGGeometry, _ parameters: Slice<UnsafeRawBufferPointer>
    ) throws(CodecError) -> JPEGLosslessScan {
        let numbers = Array(parameters)
        guard (1...7).contains(numbers[0]), numbers[1] == 0, numbers[2] < 8 else {
            throw CodecError(.corrupt, "bogus parameters of a lossless scan")
        }
        var tables: [UnsafeRawBufferPointer] = []
        for part in parts {
            guard let definition = definitions[part.dc] else {
                throw CodecError(.corrupt, "a Huffman table is missing")
            }
            tables.append(definition)
        }
        return JPEGLosslessScan(
            components: parts.map(\.component), tables: tables, predictor: Int(numbers[0]),
            pointTransform: Int(numbers[2]), restartInterval: restartInterval, position: position)
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
