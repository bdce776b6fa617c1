package import Core

/// What a JPEG file is made of: everything that can be known of it without decoding, from SOI through all scans to
/// EOI, and what follows.
///
/// A file that holds several pictures (MPF, MPO) is the first of them; the others are its trailer.
package struct JPEGStructure: Sendable, Equatable {
    package let frame: JPEGFrame
    package let colourModel: JPEGColourModel
    package let scanCount: Int
    package let profile: EmbeddedProfile
    /// The TIFF bytes of each EXIF segment, without `Exif\0\0`, in file order; at most `exifSegmentsMax`.
    package let exif: [Extents]
    package let xmp: XMPFindings
    /// What there is beside the picture, in bytes; of `exif` the segments, whose content is not looked into.
    package let found: [Removable: Int]
    package let warnings: Set<Warning>
    /// What a copy carries over untouched, in order: tables, frame header, scan headers and scan data. SOI, EOI and
    /// everything else are left out, fill bytes and segments of tables that no scan uses too: what `OutputCheck` asks of
    /// a Huffman-coded picture, these meet where `isCopyable`.
    package let carried: Extents
    /// Whether `carried` is the picture and nothing else. It is more where a segment holds tables that are used beside
    /// others that are not, which may be a text of any length, where there are restart markers that no interval asks
    /// for, and where scan headers hold numbers that no decoder heeds.
    package let isCopyable: Bool
    /// Whether it is quantized by values of more than 8 bits, which no baseline picture has (ITU-T T.81, section B.2.4.1).
    package let hasWideQuantization: Bool
    /// Whether EOI was found. Without it the picture is cut, even if the cut fell behind its last block.
    package let hasEOI: Bool
    /// What follows EOI; empty where nothing does.
    package let trailer: Range<Int>

    /// Segments, scans and gaps of one file. 64 MiB of full segments are 1,024.
    package static let partsMax = 4096
    /// libvips' bound, for its reason: each scan of a progressive picture costs a pass over all its blocks. Encoders
    /// write about ten.
    package static let scansMax = 100
    package static let exifSegmentsMax = 16

    /// - Throws: `corrupt`, `truncated`, `too_many_pixels`, or `undecodable` for lawful kinds that nothing here reads.
    package init(parsing bytes: Span<UInt8>, limits: Limits) throws(Failure) {
        var survey = JPEGSurvey(limits: limits)
        var walker = JPEGWalker()
        var parts = 0
        while !survey.hasEOI, let part = try walker.next(in: bytes) {
            parts += 1
            guard parts <= JPEGStructure.partsMax else {
                throw Failure(.corrupt, "JPEG: more than \(JPEGStructure.partsMax) segments")
            }
            try survey.take(part, of: bytes)
        }
        survey.endScan()
        guard let frame = survey.frame, survey.scanCount > 0 else {
            throw survey.hasEOI
                ? Failure(.corrupt, "JPEG: there is no picture before the end marker")
                : Failure(.truncated, "JPEG: the file ends before the picture's data")
        }
        trailer = survey.hasEOI ? walker.position..<bytes.count : bytes.count..<bytes.count
        survey.takeTrailer(trailer, of: bytes)
        self.frame = frame
        colourModel = survey.colourModel
        scanCount = survey.scanCount
        profile = survey.icc.profile
        exif = survey.exif
        xmp = survey.xmp
        found = survey.found
        warnings = survey.warnings
        carried = Extents(survey.carried)
        isCopyable = survey.isCopyable
        hasWideQuantization = survey.hasWideQuantization
        hasEOI = survey.hasEOI
    }
}
