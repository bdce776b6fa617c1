import CJPEG
import Core

/// Turns ink amounts into colour, for JPEGs of four components.
package struct InkConverter {
    /// Whether the file holds 255 for no ink, as files with an Adobe marker do.
    package let isInverted: Bool
    /// From C, M, Y, K (255: all ink) to R, G, B, both interleaved; the count is of pixels.
    package let convert: (UnsafePointer<UInt8>, UnsafeMutablePointer<UInt8>, Int) -> Void

    package init(
        isInverted: Bool, convert: @escaping (UnsafePointer<UInt8>, UnsafeMutablePointer<UInt8>, Int) -> Void
    ) {
        self.isInverted = isInverted
        self.convert = convert
    }
}

/// Decodes a JPEG in bands of one iMCU row, as it is stored: not turned.
///
/// Yields the planes as they are coded wherever `PictureFormat` has a name for them: grey, YCbCr, RGB. Uncommon
/// sampling factors are brought to 4:4:4 by libjpeg; CMYK and YCCK become RGB. The accurate integer DCT is used.
///
/// A picture that is to be shrunk can be decoded to a half, a quarter or an eighth of its width and height at once:
/// from the lower frequencies of each block alone, at a fraction of the work. 4:2:0 then becomes 4:4:4, since its
/// chroma need not be shrunk as far.
package struct JPEGSource: BandSource, ~Copyable {
    /// How chroma is yielded.
    package enum Chroma: Sendable {
        case asStored
        /// Brought to 4:4:4, with libjpeg's smooth filter where it has one (4:2:2, 4:4:0, 4:2:0).
        case full
    }

    /// Where a band's samples come from.
    private enum Reading {
        case planes
        /// Interleaved rows of so many components, to be taken apart; four of them converted before.
        case rows(Int, InkConverter?)
    }

    package let format: PictureFormat
    private var decoder: JPEGDecoder
    private let reading: Reading
    private let proofIsIrregular: Bool
    private let bandRows: Int
    private let band: JPEGPlanes
    /// For interleaved rows: as they come, and after conversion.
    private let interleaved: JPEGPlanes
    private var nextRow = 0

    /// Odd but harmless bytes were met; final once the last band was asked for.
    package var isIrregular: Bool { proofIsIrregular || decoder.isIrregular }

    /// - Parameters:
    ///   - bytes: begin with SOI; the caller keeps them alive and unchanged as long as the source lives.
    ///   - inks: needed for CMYK and YCCK only.
    ///   - divisor: 1, 2, 4 or 8: the picture is decoded to width and height divided by it, rounded up.
    ///   - bytesMax: what decoding may hold in memory (`bytesNeeded`).
    /// - Throws: `corrupt`, `truncated`, `unsupported` (also CMYK without `inks`), `outOfMemory`. Sequential Huffman
    ///   data is proved before anything is decoded (`EntropyProof` tells why), the other codings while they are.
    package static func opening(
        _ bytes: UnsafeRawBufferPointer, chroma: Chroma = .asStored, inks: InkConverter? = nil, divisor: Int = 1,
        bytesMax: Int = .max
    ) throws(CodecError) -> JPEGSource {
        // Other codings are proved by libjpeg while it decodes.
        var walk = JPEGWalk(bytes)
        let isIrregular = try walk.run()
        guard walk.coding != .lossless else { throw CodecError(.unsupported, "lossless coding") }
        var decoder = try JPEGDecoder.opening(bytes, bytesMax: bytesMax)
        let header = try decoder.readHeader()
        let frame = JPEGGeometry(header)
        var (layout, output) = try Self.plan(frame, header.colours, chroma, hasInks: inks != nil)
        guard bytesNeeded(frame, isUpsampled: output != .planes) <= bytesMax else {
            throw CodecError(.outOfMemory, "decoding \(frame.size) takes more than \(bytesMax) bytes")
        }
        try decoder.start(output, divisor: divisor)
        let size = PixelSize(
            width: frame.size.width.dividedUp(by: divisor), height: frame.size.height.dividedUp(by: divisor))
        let reading: Reading
        let shapes: (band: [JPEGPlanes.Shape], rows: [JPEGPlanes.Shape])
        var bandRows = rowsPerUpsampledBand
        switch output {
        case .planes:
            let sides = decoder.blockSides(components: frame.components.count)
            if case .ycbcr = layout {
                guard let subsampling = frame.subsampling(blockSides: sides) else {
                    throw CodecError(.unsupported, "planes that have no name at 1/\(divisor)")
                }
                layout = .ycbcr(subsampling)
            }
            reading = .planes
            shapes = (frame.bandShapes(blockSides: sides), [])
            bandRows = sides[0] * frame.verticalMax
        case .rgb, .ycbcr, .cmyk:
            reading = .rows(Int(header.components), output == .cmyk ? inks : nil)
            shapes = Self.upsampledShapes(width: size.width, components: frame.components.count)
        }
        return JPEGSource(
            format: PictureFormat(size: size, layout: layout, depth: 8, colour: layout == .rgb ? .rgb : .jfif),
            decoder: decoder, reading: reading, proofIsIrregular: isIrregular, bandRows: bandRows,
            band: try .allocating(shapes.band), interleaved: try .allocating(shapes.rows))
    }

    private init(
        format: PictureFormat, decoder: consuming JPEGDecoder, reading: Reading, proofIsIrregular: Bool, bandRows: Int,
        band: consuming JPEGPlanes, interleaved: consuming JPEGPlanes
    ) {
        self.format = format
        self.decoder = decoder
        self.reading = reading
        self.proofIsIrregular = proofIsIrregular
        self.bandRows = bandRows
        self.band = band
        self.interleaved = interleaved
    }

    package mutating func nextBand() throws(CodecError) -> Band? {
        guard nextRow < format.size.height else {
            try finish()
            return nil
        }
        let first = nextRow
        let rows = min(bandRows, format.size.height - first)
        switch reading {
        case .planes: try decoder.readPlanes(into: band)
        case .rows(let components, let inks):
            try decoder.readRows(rows, into: interleaved)
            let plane = inks == nil ? 0 : 1
            for row in 0..<rows {
                if let inks { convert(row, inks) }
                takeApart(row, from: plane, components: components == 4 ? 3 : components)
            }
        }
        nextRow += rows
        return Band(
            firstRow: first, rows: rows,
            planes: (0..<format.planeCount).map { index in
                let height = index > 0 ? rows.dividedUp(by: format.layout.verticalFactor) : rows
                return band.plane(index, width: format.planeSize(index).width, height: height)
            })
    }

    /// What decoding holds in memory: the coefficients if there are several scans, a band, and libjpeg's own work.
    ///
    /// - Parameter isUpsampled: whether chroma is asked for in full, factors are uncommon, or there are inks.
    package static func bytesNeeded(_ frame: JPEGGeometry, isUpsampled: Bool = false) -> Int {
        let upsampled = upsampledShapes(width: frame.size.width, components: frame.components.count)
        let band = JPEGPlanes.bytesNeeded(isUpsampled ? upsampled.band + upsampled.rows : frame.bandShapes)
        // Without planes, libjpeg itself holds one iMCU row of samples and the rows around it.
        let inside = isUpsampled ? 3 * JPEGPlanes.bytesNeeded(frame.bandShapes) : 0
        return (frame.hasMultipleScans ? frame.coefficientBytes : 0) + band + inside + 256 * 1024
    }
}

extension JPEGSource {
    private static let rowsPerUpsampledBand = 16

    private static func plan(
        _ frame: JPEGGeometry, _ colours: cjpeg_colours, _ chroma: Chroma, hasInks: Bool
    ) throws(CodecError) -> (PlaneLayout, cjpeg_output) {
        switch colours {
        case .grey: return (.grey, .planes)
        case .ycbcr:
            guard let subsampling = frame.subsampling else { return (.ycbcr(.s444), .ycbcr) }
            if chroma == .full, subsampling != .s444 { return (.ycbcr(.s444), .ycbcr) }
            return (.ycbcr(subsampling), .planes)
        case .rgb: return (.rgb, frame.subsampling == .s444 ? .planes : .rgb)
        case .cmyk:
            guard hasInks else { throw CodecError(.unsupported, "four inks, and nothing to convert them") }
            return (.rgb, .cmyk)
        case .other: throw CodecError(.unsupported, "\(frame.components.count) components")
        }
    }

    private static func upsampledShapes(
        width: Int, components: Int
    ) -> (band: [JPEGPlanes.Shape], rows: [JPEGPlanes.Shape]) {
        let plane = JPEGPlanes.Shape(bytesPerRow: width, rows: rowsPerUpsampledBand)
        let rows = JPEGPlanes.Shape(bytesPerRow: width * components, rows: rowsPerUpsampledBand)
        let converted = JPEGPlanes.Shape(bytesPerRow: width * 3, rows: rowsPerUpsampledBand)
        return ([plane, plane, plane], components == 4 ? [rows, converted] : [rows])
    }

    private mutating func finish() throws(CodecError) {
        guard nextRow == format.size.height else { return }
        nextRow += 1
        try decoder.finish()
    }

    private func convert(_ row: Int, _ inks: InkConverter) {
        let width = format.size.width
        let source = interleaved.address(row: row, of: 0).assumingMemoryBound(to: UInt8.self)
        if inks.isInverted {
            for index in 0..<(4 * width) { source[index] = ~source[index] }
        }
        inks.convert(source, interleaved.address(row: row, of: 1).assumingMemoryBound(to: UInt8.self), width)
    }

    private func takeApart(_ row: Int, from plane: Int, components: Int) {
        let source = interleaved.address(row: row, of: plane).assumingMemoryBound(to: UInt8.self)
        for component in 0..<components {
            let target = band.address(row: row, of: component).assumingMemoryBound(to: UInt8.self)
            for column in 0..<format.size.width { target[column] = source[column * components + component] }
        }
    }
}

extension JPEGGeometry {
    init(_ header: cjpeg_header) {
        let horizontal = withUnsafeBytes(of: header.horizontal) { Array($0.bindMemory(to: Int32.self)) }
        let vertical = withUnsafeBytes(of: header.vertical) { Array($0.bindMemory(to: Int32.self)) }
        self.init(
            size: PixelSize(width: Int(header.width), height: Int(header.height)),
            components: (0..<Int(header.components)).map { index in
                Component(horizontal: Int(horizontal[index]), vertical: Int(vertical[index]))
            },
            isProgressive: header.is_progressive != 0, hasMultipleScans: header.has_multiple_scans != 0)
    }
}

extension ColourDescription {
    /// R, G and B as they are displayed: no matrix (H.273, table 4: 0), of sRGB pixels.
    static let rgb = ColourDescription(primaries: 1, transfer: 13, matrix: 0, isFullRange: true)
}

extension PlaneLayout {
    /// Rows of plane 0 for each row of the others.
    var verticalFactor: Int {
        if case .ycbcr(let subsampling) = self { subsampling.vertical } else { 1 }
    }

    /// Columns of plane 0 for each column of the others.
    var horizontalFactor: Int {
        if case .ycbcr(let subsampling) = self { subsampling.horizontal } else { 1 }
    }
}
