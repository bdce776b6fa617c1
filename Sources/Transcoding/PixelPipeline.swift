import Codecs
import Core

/// From decoded bands to a JPEG on a descriptor: turn, bring high dynamic range to standard, convert, encode, whichever
/// are needed.
///
/// Planar YCbCr that already means what a JPEG's numbers mean goes to the encoder as it is.
struct PixelPipeline {
    let turn: Orientation
    let quality: Int
    /// The profile to embed, or nil for sRGB.
    let icc: [UInt8]?
    /// Where the JPEG is written; not owned.
    let output: Int32
    let limits: Limits

    /// - Returns: the JPEG's size in pixels.
    func run<Source: BandSource & ~Copyable>(_ source: consuming Source) throws(CodecError) -> PixelSize {
        guard turn != .upright else { return try convert(source) }
        guard source.format.turnedBytesNeeded <= limits.workerBytesMax else {
            throw CodecError(.outOfMemory, "turning \(source.format.size) takes all of its planes")
        }
        return try convert(TurnedSource.turning(source, turn))
    }

    private func convert<Source: BandSource & ~Copyable>(
        _ source: consuming Source
    ) throws(CodecError) -> PixelSize {
        let layout = PixelPipeline.encodable(source.format.layout)
        guard !source.format.colour.isHDR else {
            let light = try PlanarConverter.converting(source, to: .rgb, depth: 16)
            return try encode(
                PlanarConverter.converting(ToneMapper.mapping(light), to: layout == .grey ? .ycbcr(.s420) : layout))
        }
        guard source.format.isEncodable, source.format.layout == layout else {
            return try encode(PlanarConverter.converting(source, to: layout))
        }
        return try encode(source)
    }

    private func encode<Source: BandSource & ~Copyable>(_ source: consuming Source) throws(CodecError) -> PixelSize {
        let format = source.format
        var encoder = try JPEGEncoder.starting(
            format: format, quality: quality, progressive: false, icc: icc, output: output,
            outputBytesMax: limits.outputBytesMax)
        while let band = try source.nextBand() { try encoder.write(band) }
        _ = try encoder.finish()
        return format.size
    }

    /// The nearest layout that every JPEG reader reads: grey, 4:4:4, 4:2:2 or 4:2:0. Other grids (4:4:0 comes from
    /// turned 4:2:2) are brought to the one of these that holds no less in number of samples, or as many.
    static func encodable(_ layout: PlaneLayout) -> PlaneLayout {
        switch layout {
        case .grey: .grey
        case .rgb, .ycbcr(.s444): .ycbcr(.s444)
        case .ycbcr(.s422), .ycbcr(.s440): .ycbcr(.s422)
        case .ycbcr(.s420), .ycbcr(.s411), .ycbcr(.s410), .ycbcr(.s441): .ycbcr(.s420)
        }
    }
}

extension PictureFormat {
    /// Whether the samples mean what a JPEG's do: 8 bits over the full range, by BT.601 where there is chroma (T.871).
    fileprivate var isEncodable: Bool {
        depth == 8 && colour.isFullRange && (layout == .grey || colour.isJFIFMatrix)
    }
}
