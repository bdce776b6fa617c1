import Codecs
import Core
import Metadata
import Posix

/// From decoded bands to a JPEG on a descriptor, as a plan has it: crop, bring high dynamic range to standard, convert
/// colours, scale, turn, encode, whichever are needed.
///
/// Planar YCbCr that already means what a JPEG's numbers mean goes to the encoder as it is. The picture is turned last,
/// when it is smallest, since turning holds all of it.
struct PixelPipeline {
    let plan: Plan
    let colour: OutputColour
    let metadata: PhotoMetadata
    /// As the source is coded, before anything was done to it; not turned.
    let stored: PlaneLayout
    let limits: Limits

    enum Outcome {
        case done(size: PixelSize, quality: Int)
        /// The budget is out of reach; the smallest picture has so many bytes.
        case overBudget(bytesMin: Int)
    }

    func run<Source: BandSource & ~Copyable>(
        _ source: consuming Source, to output: borrowing Descriptor
    ) throws(CodecError) -> Outcome {
        guard plan.bytesNeeded(layout(at: plan.quality).subsampling) <= limits.workerBytesMax else {
            throw CodecError(.outOfMemory, "a picture of \(plan.size) takes more, all of it at once")
        }
        let cropped = try crop(AnyBandSource(source))
        let coloured = try convertColours(cropped)
        let converted = try convert(coloured, to: layout(at: plan.quality))
        let turned = try turn(converted)
        guard let bytesMax = plan.maxBytes else {
            _ = try encode(turned, quality: plan.quality, to: output)
            return .done(size: plan.size, quality: plan.quality)
        }
        return try fit(.reading(turned), bytesMax: bytesMax, to: output)
    }

    /// The finished picture's layout: grey, or YCbCr as the plan subsamples it.
    private func layout(at quality: Int) -> PlaneLayout {
        switch stored {
        // Tone mapping yields colours, whatever it is given.
        case .grey where colour.warnings.contains(.hdrToneMapped): .ycbcr(.s420)
        case .grey: .grey
        case .rgb: .ycbcr(plan.subsampling(of: .s444, quality: quality))
        case .ycbcr(let source):
            // 4:1:0 has no name when it is turned; nor is it kept.
            .ycbcr(
                plan.subsampling(of: stored.turned(plan.turn)?.subsampling ?? source, quality: quality))
        }
    }

    /// - Parameter source: divided by the plan's divisor.
    private func crop(_ source: consuming AnyBandSource) throws(CodecError) -> AnyBandSource {
        let part = decodedPart
        guard part != PixelRectangle(all: source.format.size) else { return source }
        guard !CropSource<AnyBandSource>.canCrop(source.format, to: part) else {
            return AnyBandSource(CropSource.cropping(source, to: part))
        }
        // A part that cuts chroma samples is cut from full chroma, for which its surroundings are needed.
        let outer = part.widened(in: source.format.size)
        let inner = PixelRectangle(x: part.x - outer.x, y: part.y - outer.y, width: part.width, height: part.height)
        let depth = source.format.depth
        let surroundings = CropSource.cropping(source, to: outer)
        let full = try PlanarConverter.converting(surroundings, to: .ycbcr(.s444), depth: depth)
        return AnyBandSource(CropSource.cropping(full, to: inner))
    }

    /// The part that is taken, in the pixels that the decoder yields.
    private var decodedPart: PixelRectangle {
        let (part, divisor) = (plan.sourceCrop, plan.divisor)
        return PixelRectangle(
            x: part.x / divisor, y: part.y / divisor, width: (part.width + divisor - 1) / divisor,
            height: (part.height + divisor - 1) / divisor)
    }

    /// The finished picture's size before it is turned.
    private var targetSize: PixelSize { plan.size.applying(plan.turn.inverse) }

    /// What of the part's last column and row belongs to it, where it was divided.
    private var extent: PlanarExtent? {
        guard plan.divisor > 1 else { return nil }
        return PlanarExtent(
            width: Double(plan.sourceCrop.width) / Double(plan.divisor),
            height: Double(plan.sourceCrop.height) / Double(plan.divisor))
    }

    private func convertColours(_ source: consuming AnyBandSource) throws(CodecError) -> AnyBandSource {
        guard source.format.colour.isHDR else { return try convertToSRGB(source) }
        let light = try PlanarConverter.converting(source, to: .rgb, depth: 16)
        return try convertToSRGB(AnyBandSource(ToneMapper.mapping(light)))
    }

    /// In the size of the finished picture, which is never larger.
    private func convertToSRGB(_ source: consuming AnyBandSource) throws(CodecError) -> AnyBandSource {
        guard let profile = colour.conversion else { return source }
        let layout: PlaneLayout = profile.space == .grey ? .grey : .rgb
        let pixels = try PlanarConverter.converting(source, to: layout, size: targetSize, extent: extent)
        return AnyBandSource(try ColourConverter.converting(pixels, by: .toSRGB(from: profile)))
    }

    private func convert(
        _ source: consuming AnyBandSource, to layout: PlaneLayout
    ) throws(CodecError) -> AnyBandSource {
        guard let layout = layout.turned(plan.turn.inverse) else {
            preconditionFailure("what JPEG readers read has a name when it is turned")
        }
        let format = source.format
        if format.isEncodable, format.layout == layout, format.size == targetSize { return source }
        let isScaledNow = format.size != targetSize
        return AnyBandSource(
            try PlanarConverter.converting(
                source, to: layout, size: targetSize, extent: isScaledNow ? extent : nil))
    }

    private func turn(_ source: consuming AnyBandSource) throws(CodecError) -> AnyBandSource {
        guard plan.turn != .upright else { return source }
        return AnyBandSource(try TurnedSource.turning(source, plan.turn))
    }

    /// - Returns: the bytes written.
    private func encode<Source: BandSource & ~Copyable>(
        _ source: consuming Source, quality: Int, to output: borrowing Descriptor
    ) throws(CodecError) -> Int {
        let exif = exif(size: source.format.size, isGrey: source.format.layout == .grey)
        var encoder = try JPEGEncoder.starting(
            format: source.format, quality: quality, progressive: plan.isProgressive, exif: exif, icc: colour.icc,
            output: output.raw, outputBytesMax: limits.outputBytesMax, bytesMax: limits.workerBytesMax)
        while let band = try source.nextBand() { try encoder.write(band) }
        return try encoder.finish()
    }

    private func exif(size: PixelSize, isGrey: Bool) -> [UInt8]? {
        metadata.kept(for: ExifBuilder.Picture(size: size, isSRGB: colour.isSRGB, isGrey: isGrey))?.payload
    }
}

extension PixelPipeline {
    /// Encodes `picture` as often as it takes; the output holds the last that fitted.
    private func fit(
        _ picture: HeldPicture, bytesMax: Int, to output: borrowing Descriptor
    ) throws(CodecError) -> Outcome {
        // The block has the same length for every size.
        let exif = exif(size: plan.size, isGrey: picture.format.layout == .grey)
        var search = BudgetSearch(
            bytesMax: bytesMax, quality: plan.quality, size: plan.size,
            overhead: 650 + (exif?.count ?? 0) + (colour.icc?.count ?? 0))
        let start = try Self.writing { () throws(PosixError) in try output.position() }
        var last: BudgetSearch.Trial?
        while true {
            let trial: BudgetSearch.Trial
            let isFinal: Bool
            switch search.next() {
            case .encode(let next): (trial, isFinal) = (next, false)
            case .done(let found): (trial, isFinal) = (found, true)
            case .unreachable(let bytesMin): return .overBudget(bytesMin: bytesMin)
            }
            if trial != last {
                try Self.writing { () throws(PosixError) in try output.rewind(to: start) }
                let bytes: Int
                do throws(CodecError) { bytes = try encode(picture, as: trial, to: output) } catch {
                    // Over every limit it is over the budget, too; the search goes on below.
                    guard error.kind == .outputLimit, !isFinal else { throw error }
                    bytes = limits.outputBytesMax + 1
                }
                if !isFinal { search.record(trial, bytes: bytes) }
                last = trial
            }
            if isFinal { return .done(size: trial.size, quality: trial.quality) }
        }
    }

    private func encode(
        _ picture: HeldPicture, as trial: BudgetSearch.Trial, to output: borrowing Descriptor
    ) throws(CodecError) -> Int {
        let layout = layout(at: trial.quality)
        if picture.format.size == trial.size, picture.format.layout == layout {
            return try encode(picture.bands(), quality: trial.quality, to: output)
        }
        let converted = try PlanarConverter.converting(picture.bands(), to: layout, size: trial.size)
        return try encode(converted, quality: trial.quality, to: output)
    }

    private static func writing<Result>(
        _ body: () throws(PosixError) -> Result
    ) throws(CodecError) -> Result {
        do throws(PosixError) { return try body() } catch { throw CodecError(writing: error) }
    }
}

extension PlaneLayout {
    var subsampling: ChromaSubsampling? {
        if case .ycbcr(let subsampling) = self { subsampling } else { nil }
    }
}

extension PictureFormat {
    /// Whether the samples mean what a JPEG's do: 8 bits over the full range, by BT.601 where there is chroma (T.871).
    fileprivate var isEncodable: Bool {
        depth == 8 && colour.isFullRange && (layout == .grey || colour.isJFIFMatrix)
    }
}
