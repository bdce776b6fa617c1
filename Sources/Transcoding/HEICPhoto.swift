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
    private let metadata: PhotoMetadata

    init(_ photo: Photo, _ job: Job) throws(Failure) {
        self.photo = photo
        self.job = job
        structure = try photo.withSpan { (bytes) throws(Failure) in
            try HEIFStructure(parsing: bytes, limits: job.limits)
        }
        metadata = PhotoMetadata(
            structure.exif, xmp: structure.xmp, of: photo, policy: job.options.metadata,
            isTurnStated: structure.orientation != nil)
    }

    /// What is left to be done after the decoder has applied the container's properties. By default EXIF counts only
    /// where the picture has no such property at all (ISO/IEC 23008-12, section 6.5.10 and annex A.2.1).
    private var turn: Orientation {
        let told = metadata.orientation ?? .upright
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
        let isTold = metadata.orientation != nil
        return switch job.options.orientation {
        case .auto: structure.orientation != nil ? .irot : isTold ? .exif : .none
        case .container: structure.orientation != nil ? .irot : .none
        case .exif: isTold ? .exif : .none
        case .ignore: .none
        }
    }

    func prepare(to output: borrowing Descriptor) throws(Failure) -> Report {
        let plan = try plan()
        let (outcome, colours): (PixelPipeline.Outcome, Colours)
        do throws(CodecError) { (outcome, colours) = try run(plan, to: output) } catch {
            throw Failure(error, limits: job.limits)
        }
        switch outcome {
        case .done(let size, let quality): return report(size: size, quality: quality, colours)
        case .overBudget(let bytesMin): throw Failure(budget: plan.maxBytes, bytesMin: bytesMin)
        }
    }

    /// What `prepare` would do. The first tile is decoded, or a picture that is no grid, since the colours may be told
    /// there alone; whether the rest of the data holds is not looked at.
    func inspect() throws(Failure) -> Report {
        let plan = try plan()
        do throws(CodecError) {
            // On one thread: others would begin with tiles that nobody looks at.
            let source = try open(plan, threads: 1)
            return report(size: plan.size, quality: plan.quality, Colours(of: source, self))
        } catch {
            throw Failure(error, limits: job.limits)
        }
    }

    private func plan() throws(Failure) -> Plan {
        try Plan.make(
            PictureFacts(
                size: structure.displaySize, turn: turn, isGrey: false, subsampling: nil, isConverted: false, jpeg: nil),
            job.options)
    }

    /// What the decoder knows.
    private struct Colours {
        let output: OutputColour
        let isGrey: Bool
        let hasAlpha: Bool

        init(of source: borrowing HEICSource, _ photo: HEICPhoto) {
            let format = source.format
            isGrey = format.layout == .grey
            hasAlpha = source.hasAlpha
            output = OutputColour.of(
                photo.photo.profile(photo.structure.colour.profile), colour: format.colour, isGrey: isGrey,
                rule: photo.job.options.color)
        }
    }

    private func open(_ plan: Plan, threads: Int) throws(CodecError) -> HEICSource {
        let source = try HEICSource.opening(
            photo.bytes, limits: job.limits, colour: structure.colour.description,
            part: plan.sourceCrop.widened(in: structure.displaySize), tiles: structure.primary.grid?.coded,
            threads: threads)
        let size = source.format.size
        guard size == structure.displaySize else {
            throw CodecError(.corrupt, "the decoder makes \(size) of \(structure.displaySize)")
        }
        return source
    }

    private func run(
        _ plan: Plan, to output: borrowing Descriptor
    ) throws(CodecError) -> (PixelPipeline.Outcome, Colours) {
        let source = try open(plan, threads: job.threads)
        let colours = Colours(of: source, self)
        let pipeline = PixelPipeline(
            plan: plan, colour: colours.output, metadata: metadata, stored: source.format.layout, limits: job.limits)
        return (try pipeline.run(source, to: output), colours)
    }

    private func report(size: PixelSize, quality: Int, _ colours: Colours) -> Report {
        var warnings = structure.warnings.union(metadata.warnings).union(colours.output.warnings)
        if colours.hasAlpha { warnings.insert(.alphaFlattened) }
        if let told = metadata.orientation, let stated = structure.orientation, told != stated {
            warnings.insert(.orientationConflict)
        }
        var found = metadata.found(beside: structure.found)
        if colours.hasAlpha { found.note(.alpha, bytes: 0) }
        if structure.colour.profile != .absent, colours.output.icc == nil {
            found.note(.iccProfile, bytes: structure.colour.profile.byteCount)
        }
        if colours.output.profileTextBytes > 0 { found.note(.iccText, bytes: colours.output.profileTextBytes) }
        let picture = ExifBuilder.Picture(size: size, isSRGB: colours.output.isSRGB, isGrey: colours.isGrey)
        return Report(
            path: .reencode, size: size, quality: quality,
            source: Report.Source(
                format: .heic, size: structure.primary.size,
                orientation: (structure.orientation ?? .upright).followed(by: turn),
                orientationSource: turnSource),
            color: colours.output.names, found: found, kept: metadata.kept(for: picture)?.kept ?? [],
            disclosure: metadata.disclosure, warnings: warnings)
    }
}

extension HEIFGrid {
    /// What it takes to decode the tiles one by one; nil where they have no decoder configuration in common.
    fileprivate var coded: CodedTiles? {
        configuration.map { CodedTiles(configuration: $0, items: tiles, data: data.map(\.ranges)) }
    }
}
