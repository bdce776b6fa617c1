package import Core

/// The last look at a finished JPEG before it is stored or sent: whether it is a picture and nothing else.
///
/// It allows, and refuses all else: SOI · JFIF without a thumbnail · the one EXIF block that was asked for, as
/// `ExifOutputCheck` allows it · a whole ICC profile of nothing but colours · one frame header (8 bits, Huffman codes, 1
/// or 3 components, the size that was planned) · scans of the numbers of their process whose tables are there, with the
/// restart markers that their interval asks for · tables and restart intervals whose lengths are exact and which a scan uses · one EOI, right behind
/// a scan, which is the last byte. So no metadata can have come through, by our mistake or by a decoder that was taken
/// over.
package enum OutputCheck {
    /// - Parameters:
    ///   - size: of the finished picture, upright.
    ///   - kept: what is said to have been written of the source's metadata: no more than the policy allows, and not
    ///     less than there is.
    /// - Throws: `self_check_failed`, naming what should not be there.
    package static func verify(
        _ bytes: Span<UInt8>, size: PixelSize, kept: [Removable] = [], policy: MetadataPolicy = MetadataPolicy()
    ) throws(Failure) {
        do {
            var walker = JPEGWalker()
            var inspection = OutputInspection(size: size, exif: try allowance(kept, policy, size))
            while let part = try walker.next(in: bytes) { try inspection.take(part, of: bytes) }
            try inspection.finish(bytes)
        } catch {
            throw Failure(.selfCheckFailed, "the finished picture failed its check: \(error.detail)")
        }
    }

    /// What the EXIF block may hold; nil where there may be none.
    private static func allowance(
        _ kept: [Removable], _ policy: MetadataPolicy, _ size: PixelSize
    ) throws(Failure) -> ExifOutputCheck.Allowance? {
        if let kind = kept.first(where: { !policy.kept.contains($0) }) {
            throw Failure(.selfCheckFailed, "\(kind.rawValue) that is kept unasked")
        }
        guard !kept.isEmpty else { return nil }
        let place: ExifOutputCheck.Place = policy.gpsPrecision == .city ? .city : .exact
        return ExifOutputCheck.Allowance(
            hasExif: kept.contains(.exif), place: kept.contains(.gps) ? place : .none, size: size)
    }
}

/// Holds each piece of a finished JPEG against the list of what is allowed.
private struct OutputInspection {
    private enum Stage {
        /// Nothing seen.
        case outside
        /// SOI seen, no frame header.
        case head
        /// Frame header seen.
        case picture
        /// EOI seen.
        case ended
    }

    private let size: PixelSize
    /// Of the EXIF block that must be there; nil where there may be none.
    private let exif: ExifOutputCheck.Allowance?
    private var stage = Stage.outside
    private var frame: JPEGFrame?
    private var icc = ICCChunks()
    private var hasJFIF = false
    private var hasExif = false
    private var scanCount = 0
    private var tables = JPEGTables()
    private var restarts = JPEGRestartCheck()

    init(size: PixelSize, exif: ExifOutputCheck.Allowance?) {
        self.size = size
        self.exif = exif
    }

    mutating func take(_ part: JPEGPart, of bytes: Span<UInt8>) throws(Failure) {
        switch (part, stage) {
        case (_, .ended): throw refusal("bytes after EOI")
        case (.bare(.soi), .outside): stage = .head
        case (_, .outside): throw refusal("no SOI at the start")
        case (.bare(.eoi), .picture):
            guard scanCount == 0 || restarts.isInScan else { throw refusal("a segment between the last scan and EOI") }
            try endScan()
            stage = .ended
        case (.bare(let marker), _): throw refusal("the marker \(marker.text) in the wrong place")
        case (.segment(let marker, let payload), _): try takeSegment(marker, payload, of: bytes)
        case (.scan(_, let restarts), _): self.restarts.note(restarts)
        case (.fill, _): throw refusal("fill bytes")
        case (.stray, _): throw refusal("bytes between segments")
        }
    }

    func finish(_ bytes: Span<UInt8>) throws(Failure) {
        guard stage == .ended else { throw refusal("no EOI") }
        guard scanCount > 0 else { throw refusal("no scan") }
        guard tables.isFullyUsed else { throw refusal("a table or restart interval that no scan uses") }
        guard hasExif == (exif != nil) else { throw refusal("no EXIF, which is said to be there") }
        switch icc.profile {
        case .absent: break
        case .damaged: throw refusal("an incomplete ICC profile")
        case .complete(let extents):
            let profile = extents.bytes(in: bytes)
            guard ProfileTags.cleaned(profile)?.bytes == profile else {
                throw refusal("an ICC profile that holds more than colours")
            }
        }
    }

    private mutating func takeSegment(
        _ marker: JPEGMarker, _ payload: Range<Int>, of bytes: Span<UInt8>
    ) throws(Failure) {
        try endScan()
        try tables.take(marker, payload: payload, of: bytes)
        // At once: so many segments at most are remembered as scans can use.
        guard !tables.hasReplacedUnused else {
            throw refusal("a table in the segment \(marker.text) that no scan uses")
        }
        switch marker {
        case .dqt, .dht, .dri: break
        case .sos: try takeScanHeader(payload, of: bytes)
        case _ where marker.isFrame: try takeFrame(marker, payload, of: bytes)
        case _ where marker.application != nil && stage == .head: try takeApplication(marker, payload, of: bytes)
        default: throw refusal("the segment \(marker.text)")
        }
    }

    private mutating func endScan() throws(Failure) {
        guard restarts.end(interval: tables.restartInterval) else {
            throw refusal("restart markers that the interval does not ask for")
        }
    }

    private mutating func takeFrame(
        _ marker: JPEGMarker, _ payload: Range<Int>, of bytes: Span<UInt8>
    ) throws(Failure) {
        guard frame == nil else { throw refusal("a second frame header") }
        let found = try JPEGFrame(marker, payload: payload, of: bytes)
        guard !found.isArithmetic else { throw refusal("arithmetic coding") }
        guard found.process != .lossless else { throw refusal("lossless coding") }
        guard found.components.count != 4 else { throw refusal("4 components") }
        guard found.size == size else { throw refusal("\(found.size) pixels in place of \(size)") }
        frame = found
        stage = .picture
    }

    private mutating func takeScanHeader(_ payload: Range<Int>, of bytes: Span<UInt8>) throws(Failure) {
        guard let frame else { throw refusal("a scan before the frame header") }
        let header = try JPEGScanHeader(payload, of: bytes, in: frame)
        // Decoders pay no heed to these numbers, so they could be a text.
        guard header.isRegular else { throw refusal("numbers of another process in a scan header") }
        try tables.use(header, of: frame, in: bytes)
        restarts.begin(mcus: frame.mcus(of: header))
        scanCount += 1
        guard scanCount <= JPEGStructure.scansMax else { throw refusal("more than \(JPEGStructure.scansMax) scans") }
    }

    private mutating func takeApplication(
        _ marker: JPEGMarker, _ payload: Range<Int>, of bytes: Span<UInt8>
    ) throws(Failure) {
        switch marker.application {
        case 0
        where !hasJFIF && payload.count == 14 && bytes.matches(ascii("JFIF\0"), at: payload.lowerBound)
            && bytes.matches([0, 0], at: payload.lowerBound + 12):
            hasJFIF = true
        case 1 where !hasExif && bytes.range(payload, startsWith: ascii("Exif\0\0")):
            guard let exif else { throw refusal("EXIF in the segment \(marker.text)") }
            try ExifOutputCheck.verify(bytes, payload: payload, allowing: exif)
            hasExif = true
        case 2 where bytes.range(payload, startsWith: ICCChunks.signature): icc.add(payload, of: bytes)
        default: throw refusal("the segment \(marker.text)")
        }
    }

    private func refusal(_ what: String) -> Failure { Failure(.selfCheckFailed, what) }
}
