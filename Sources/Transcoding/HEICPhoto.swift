import Codecs
import Container
import Core
import Metadata
import Posix

/// A HEIC on its way: its primary picture is decoded upright, in bands, and encoded as the bands come.
struct HEICPhoto {
    private let photo: Photo
    private let job: Job
    private let structure: HEIFStructure
    private let exif: ExifFindings

    init(_ photo: Photo, _ job: Job) throws(Failure) {
        self.photo = photo
        self.job = job
        structure = try photo.withSpan { (bytes) throws(Failure) in
            try HEIFStructure(parsing: bytes, limits: job.limits)
        }
        exif = ExifFindings(
            structure.exif, xmp: structure.xmp, of: photo, isTurnStated: structure.orientation != nil)
    }

    /// What is left to be done after the decoder has applied the container's properties. By default EXIF counts only where
    /// the picture has no such property at all (ISO/IEC 23008-12, section 6.5.10 and annex A.2.1).
    private var turn: Orientation {
        let told = exif.facts?.orientation ?? .upright
        let stated = structure.orientation ?? .upright
        return switch job.options.orientation {
        case .auto: structure.orientation == nil ? told : .upright
        case .container: .upright
        case .exif: stated.inverse.followed(by: told)
        case .ignore: stated.inverse
        }
    }

    /// Who has told how the picture is turned.
    private var turnSource: OrientationSource {
        let isTold = exif.facts?.orientation != nil
        return switch job.options.orientation {
        case .auto: structure.orientation != nil ? .irot : isTold ? .exif : .none
        case .container: structure.orientation != nil ? .irot : .none
        case .exif: isTold ? .exif : .none
        case .ignore: .none
        }
    }

    func prepare(to output: borrowing Descriptor) throws(Failure) -> Report {
        let plan = try Plan.make(
            PictureFacts(
                size: structure.displaySize, turn: turn, isGrey: false, subsampling: nil, isConverted: false, jpeg: nil),
            job.options)
        let result: Result
        do throws(CodecError) { result = try run(plan, to: output) } catch { throw Failure(error, limits: job.limits) }
        switch result.outcome {
        case .done(let size, let quality):
            return report(size: size, quality: quality, colour: result.colour, hasAlpha: result.hasAlpha)
        case .overBudget(let bytesMin): throw Failure(budget: plan.maxBytes, bytesMin: bytesMin)
        }
    }

    private struct Result {
        let outcome: PixelPipeline.Outcome
        let colour: OutputColour
        let hasAlpha: Bool
    }

    private func run(_ plan: Plan, to output: borrowing Descriptor) throws(CodecError) -> Result {
        let source = try HEICSource.opening(
            photo.bytes, limits: job.limits, colour: structure.colour.description,
            part: plan.sourceCrop.widened(in: structure.displaySize), tiles: structure.primary.grid?.coded,
            threads: job.threads)
        let format = source.format
        guard format.size == structure.displaySize else {
            throw CodecError(.corrupt, "the decoder makes \(format.size) of \(structure.displaySize)")
        }
        let hasAlpha = source.hasAlpha
        let colour = OutputColour.of(
            photo.profile(structure.colour.profile), colour: format.colour, isGrey: format.layout == .grey,
            rule: job.options.color)
        let pipeline = PixelPipeline(plan: plan, colour: colour, stored: format.layout, limits: job.limits)
        return Result(outcome: try pipeline.run(source, to: output), colour: colour, hasAlpha: hasAlpha)
    }

    private func report(size: PixelSize, quality: Int, colour: OutputColour, hasAlpha: Bool) -> Report {
        var warnings = structure.warnings.union(exif.warnings).union(colour.warnings)
        if hasAlpha { warnings.insert(.alphaFlattened) }
        let told = exif.facts?.orientation
        if let told, let stated = structure.orientation, told != stated { warnings.insert(.orientationConflict) }
        var removed = structure.removed.union(exif.found)
        if hasAlpha { removed.insert(.alpha) }
        if structure.colour.profile != .absent, colour.icc == nil { removed.insert(.iccProfile) }
        return Report(
            path: .reencode, size: size, quality: quality,
            source: Report.Source(
                format: .heic, size: structure.primary.size,
                orientation: (structure.orientation ?? .upright).followed(by: turn),
                orientationSource: turnSource),
            color: colour.names, removed: removed, warnings: warnings)
    }
}

extension HEIFGrid {
    /// What it takes to decode the tiles one by one; nil where they have no decoder configuration in common.
    fileprivate var coded: CodedTiles? {
        configuration.map { CodedTiles(configuration: $0, items: tiles, data: data.map(\.ranges)) }
    }
}
