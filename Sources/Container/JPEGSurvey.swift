import Core

/// Gathers what `JPEGStructure` tells, piece by piece, and holds the pieces to their order.
struct JPEGSurvey {
    private let limits: Limits
    private var hasSOI = false
    private var hasJFIF = false
    private(set) var frame: JPEGFrame?
    private(set) var colourModel = JPEGColourModel.ycbcr
    private var adobeTransform: UInt8?
    private(set) var scanCount = 0
    private(set) var icc = ICCChunks()
    private(set) var exif: [Extents] = []
    private(set) var xmp = XMPFindings()
    /// What is not the picture itself, in bytes.
    private(set) var found: [Removable: Int] = [:]
    private(set) var warnings: Set<Warning> = []
    /// What a copy would carry; of tables with the number of their segment in `tables`.
    private var pieces: [(range: Range<Int>, tables: Int?)] = []
    private(set) var hasEOI = false
    private var hasMultiPictureIndex = false
    private var tables = JPEGTables()
    private var restarts = JPEGRestartCheck()
    private var hasStrangeRestarts = false
    private var hasStrangeScans = false

    init(limits: Limits) { self.limits = limits }

    mutating func take(_ part: JPEGPart, of bytes: Span<UInt8>) throws(Failure) {
        guard hasSOI || part == .bare(.soi) else { throw Failure(.corrupt, "JPEG: the file does not start with SOI") }
        switch part {
        case .bare(let marker): try takeBare(marker)
        case .segment(let marker, let payload): try takeSegment(marker, payload, of: bytes)
        case .scan(let range, let restarts):
            self.restarts.note(restarts)
            carry(range)
        case .fill: break
        case .stray: warnings.insert(.headerIrregular)
        }
    }

    private mutating func takeBare(_ marker: JPEGMarker) throws(Failure) {
        switch marker {
        case .soi:
            guard !hasSOI else { throw Failure(.corrupt, "JPEG: a second SOI stands before the end of the picture") }
            hasSOI = true
        case .eoi: hasEOI = true
        default: warnings.insert(.headerIrregular)
        }
    }

    private mutating func takeSegment(
        _ marker: JPEGMarker, _ payload: Range<Int>, of bytes: Span<UInt8>
    ) throws(Failure) {
        endScan()
        try tables.take(marker, payload: payload, of: bytes)
        switch marker {
        case .sos: try takeScanHeader(payload, of: bytes)
        case .dnl: try takeLineCount(payload, of: bytes)
        case .com: found.note(.comment, bytes: payload.count)
        case .dqt, .dht, .dri: carry((payload.lowerBound - 4)..<payload.upperBound, tables: tables.latest)
        // Of arithmetic coding, which no copy keeps; Huffman coding has no use for it.
        case .dac: break
        case _ where marker.isFrame: try takeFrame(marker, payload, of: bytes)
        default: takeApplication(marker, payload, of: bytes)
        }
    }

    private mutating func takeFrame(
        _ marker: JPEGMarker, _ payload: Range<Int>, of bytes: Span<UInt8>
    ) throws(Failure) {
        guard frame == nil else { throw Failure(.corrupt, "JPEG: a second frame header") }
        let frame = try JPEGFrame(marker, payload: payload, of: bytes)
        try limits.check(frame.size, "the picture")
        self.frame = frame
        carry((payload.lowerBound - 4)..<payload.upperBound)
    }

    private mutating func takeScanHeader(_ payload: Range<Int>, of bytes: Span<UInt8>) throws(Failure) {
        guard let frame else { throw Failure(.corrupt, "JPEG: a scan stands before the frame header") }
        let header = try JPEGScanHeader(payload, of: bytes, in: frame)
        try tables.use(header, of: frame, in: bytes)
        restarts.begin(mcus: frame.mcus(of: header))
        if !header.isRegular {
            warnings.insert(.headerIrregular)
            hasStrangeScans = true
        }
        if scanCount == 0 {
            colourModel = JPEGColourModel(
                components: frame.components.map(\.id), hasJFIF: hasJFIF, adobeTransform: adobeTransform,
                isLossless: frame.process == .lossless)
        }
        scanCount += 1
        guard scanCount <= JPEGStructure.scansMax else {
            throw Failure(.corrupt, "JPEG: more than \(JPEGStructure.scansMax) scans")
        }
        carry((payload.lowerBound - 4)..<payload.upperBound)
    }

    /// T.81, section B.2.5: the height again, after the first scan. It says nothing new here, so it is not carried.
    private mutating func takeLineCount(_ payload: Range<Int>, of bytes: Span<UInt8>) throws(Failure) {
        guard let frame, bytes.bigEndian16(at: payload.lowerBound) == frame.size.height else {
            throw Failure(.corrupt, "JPEG: a DNL segment disagrees with the frame header")
        }
        warnings.insert(.headerIrregular)
    }

    /// To be called after the last piece, too.
    mutating func endScan() {
        if !restarts.end(interval: tables.restartInterval) { hasStrangeRestarts = true }
    }

    private mutating func carry(_ range: Range<Int>, tables: Int? = nil) { pieces.append((range, tables)) }

    /// `JPEGStructure.carried`.
    var carried: [Range<Int>] {
        var ranges: [Range<Int>] = []
        for piece in pieces {
            if let segment = piece.tables, !tables.isUsed(segment) { continue }
            if let last = ranges.last, last.upperBound == piece.range.lowerBound {
                ranges[ranges.count - 1] = last.lowerBound..<piece.range.upperBound
            } else {
                ranges.append(piece.range)
            }
        }
        return ranges
    }

    /// `JPEGStructure.isCopyable`.
    var isCopyable: Bool { tables.isFreeOfSurplus && !hasStrangeRestarts && !hasStrangeScans }

    var hasWideQuantization: Bool { tables.hasWideQuantization }
}

// MARK: What is not the picture itself

extension JPEGSurvey {
    private static let jfif = ascii("JFIF\0")
    private static let jfifExtension = ascii("JFXX\0")
    private static let exifHeader = ascii("Exif\0")
    private static let xmpHeader = ascii("http://ns.adobe.com/xap/1.0/\0")
    private static let extendedXMPHeader = ascii("http://ns.adobe.com/xmp/extension/\0")
    private static let multiPicture = ascii("MPF\0")
    private static let isoGainMap = ascii("urn:iso:std:iso:ts:21496:-1\0")
    private static let photoshop = ascii("Photoshop 3.0\0")
    /// The image resource that holds IPTC-IIM, and the same without a name and without content.
    private static let iptcResource = ascii("8BIM\u{4}\u{4}")
    private static let emptyIPTCResource = ascii("8BIM\u{4}\u{4}\0\0\0\0\0\0")
    private static let adobe = ascii("Adobe")

    private mutating func takeApplication(_ marker: JPEGMarker, _ payload: Range<Int>, of bytes: Span<UInt8>) {
        func starts(with signature: [UInt8]) -> Bool { bytes.range(payload, startsWith: signature) }
        // What readers decide by must stand before the first scan.
        let isEarly = scanCount == 0
        switch marker.application {
        case 0 where starts(with: JPEGSurvey.jfif) && payload.count >= 14: takeJFIF(payload, of: bytes)
        case 0 where starts(with: JPEGSurvey.jfifExtension): found.note(.thumbnail, bytes: payload.count)
        case 1 where starts(with: JPEGSurvey.exifHeader): takeExif(payload)
        case 1 where starts(with: JPEGSurvey.xmpHeader), 1 where starts(with: JPEGSurvey.extendedXMPHeader):
            takeXMP(payload, of: bytes)
        case 2 where starts(with: ICCChunks.signature) && isEarly: icc.add(payload, of: bytes)
        case 2 where starts(with: JPEGSurvey.multiPicture):
            found.note(.mpf, bytes: payload.count)
            hasMultiPictureIndex = true
        case 2 where starts(with: JPEGSurvey.isoGainMap): found.note(.gainMap, bytes: payload.count)
        case 11 where isJUMBF(payload, of: bytes): found.note(.c2pa, bytes: payload.count)
        case 13 where starts(with: JPEGSurvey.photoshop):
            takePhotoshop(payload, of: bytes)
        case 14 where starts(with: JPEGSurvey.adobe) && payload.count >= 12 && isEarly:
            adobeTransform = bytes[payload.lowerBound + 11]
        default: found.note(.unknownSegment, bytes: payload.count)
        }
    }

    private mutating func takeJFIF(_ payload: Range<Int>, of bytes: Span<UInt8>) {
        if scanCount == 0 { hasJFIF = true }
        // ITU-T T.871, section 10.1: the last two bytes are the thumbnail's size.
        if payload.count > 14 || !bytes.matches([0, 0], at: payload.lowerBound + 12) {
            found.note(.thumbnail, bytes: payload.count - 12)
        }
    }

    private mutating func takePhotoshop(_ payload: Range<Int>, of bytes: Span<UInt8>) {
        found.note(.photoshop, bytes: payload.count)
        guard let resource = bytes.firstIndex(of: JPEGSurvey.iptcResource, in: payload),
            !bytes.matches(JPEGSurvey.emptyIPTCResource, at: resource)
        else { return }
        // A name of at least one byte, padded to an even number with its length's; then the size.
        let start = resource + JPEGSurvey.iptcResource.count
        let name = (bytes.byte(at: start) ?? 0) / 2 * 2 + 2
        let stated = Int(bytes.bigEndian32(at: start + name) ?? 0)
        found.note(.iptc, bytes: max(min(stated, payload.upperBound - start - name - 4), 0))
    }

    private mutating func takeExif(_ payload: Range<Int>) {
        found.note(.exif, bytes: payload.count)
        if !exif.isEmpty { warnings.insert(.exifRepeated) }
        let header = JPEGSurvey.exifHeader.count + 1
        guard exif.count < JPEGStructure.exifSegmentsMax, payload.count > header else { return }
        exif.append(Extents((payload.lowerBound + header)..<payload.upperBound))
    }

    private mutating func takeXMP(_ payload: Range<Int>, of bytes: Span<UInt8>) {
        found.note(.xmp, bytes: payload.count)
        for kind in xmp.search(payload, of: bytes) { found.note(kind, bytes: payload.count) }
    }

    /// A JUMBF box in APP11 (ISO/IEC 19566-5, annex D): content credentials. JPEG XT uses APP11 for other boxes.
    private func isJUMBF(_ payload: Range<Int>, of bytes: Span<UInt8>) -> Bool {
        bytes.range(payload, startsWith: ascii("JP")) && bytes.matches(ascii("jumb"), at: payload.lowerBound + 12)
    }

    /// What follows EOI: other pictures, a motion photo's film, a maker's data, padding.
    mutating func takeTrailer(_ trailer: Range<Int>, of bytes: Span<UInt8>) {
        guard !trailer.isEmpty else { return }
        found.note(.trailer, bytes: trailer.count)
        if let film = firstFilm(trailer, of: bytes) {
            found.note(.motionVideo, bytes: trailer.upperBound - film)
        }
        guard let picture = bytes.firstIndex(of: [0xFF, 0xD8, 0xFF], in: trailer) else { return }
        if GainMapMark.isPresent(in: trailer, of: bytes) || found[.gainMap] != nil {
            found.note(.gainMap, bytes: trailer.upperBound - picture)
        } else if hasMultiPictureIndex {
            found.note(.additionalImage, bytes: trailer.upperBound - picture)
            warnings.insert(.otherImagesIgnored)
        }
    }

    /// Where an MP4 starts in the trailer: its first box is `ftyp`, after a plausible length.
    private func firstFilm(_ trailer: Range<Int>, of bytes: Span<UInt8>) -> Int? {
        var rest = trailer
        while let found = bytes.firstIndex(of: ascii("ftyp"), in: rest) {
            if found - 4 >= trailer.lowerBound, let size = bytes.bigEndian32(at: found - 4), (16...1024).contains(size)
            {
                return found - 4
            }
            rest = (found + 4)..<trailer.upperBound
        }
        return nil
    }
}
