import Codecs
import Container
import Core
import Metadata
import Posix

/// A JPEG on its way: the cheapest path that keeps the promise.
struct JPEGPhoto {
    private let photo: Photo
    private let job: Job
    private let structure: JPEGStructure
    private let metadata: PhotoMetadata
    private let colour: OutputColour
    /// The orientation that counts, nil where none is told.
    private let told: Orientation?
    private let plan: Plan
    /// As the picture is coded, where that has a name.
    private let stored: PlaneLayout?

    init(_ photo: Photo, _ job: Job) throws(Failure) {
        self.photo = photo
        self.job = job
        structure = try photo.withSpan { (bytes) throws(Failure) in
            try JPEGStructure(parsing: bytes, limits: job.limits)
        }
        guard structure.hasEOI else {
            throw Failure(.truncated, "JPEG: the file ends before its end marker")
        }
        metadata = PhotoMetadata(structure.exif, xmp: structure.xmp, of: photo, policy: job.options.metadata)
        told = job.options.orientation.heedsExif ? metadata.orientation : nil
        colour = JPEGPhoto.colour(
            of: structure, profile: photo.profile(structure.profile), metadata, rule: job.options.color)
        let facts = PictureFacts(structure, turn: told ?? .upright, isConverted: colour.conversion != nil)
        plan = try Plan.make(facts, job.options)
        stored = facts.subsampling.map { .ycbcr($0) }
    }

    private static func colour(
        of structure: JPEGStructure, profile: [UInt8]?, _ metadata: PhotoMetadata, rule: ColorRule
    ) -> OutputColour {
        switch structure.colourModel {
        case .cmyk, .ycck:
            let name = profile.flatMap(ColourProfile.checking).map(\.name)
            return .converted(from: name ?? "CMYK", warnings: profile != nil && name == nil ? [.iccInvalid] : [])
        case .grey, .ycbcr, .rgb:
            return .of(
                profile, colour: .jfif, isGrey: structure.colourModel == .grey,
                isAdobeRGB: metadata.isAdobeRGB, rule: rule)
        }
    }

    func prepare(to output: borrowing Descriptor) throws(Failure) -> Report {
        let result: Result
        do throws(CodecError) { result = try run(to: output) } catch { throw Failure(error, limits: job.limits) }
        switch result {
        case .done(let done): return report(done)
        case .overBudget(let bytesMin): throw Failure(budget: plan.maxBytes, bytesMin: bytesMin)
        }
    }

    /// What `prepare` would do, as far as that can be told without decoding: whether the data holds is not looked at.
    func inspect() -> Report {
        let preamble = (try? preamble().count) ?? 0
        let isCopyAllowed = isInBudget(preamble + structure.carried.count + 2)
        let path = plan.paths.first { $0 != .copy || isCopyAllowed } ?? .reencode
        return report(
            Done(path: path, size: plan.size, quality: path == .reencode ? plan.quality : nil, isIrregular: false))
    }

    private struct Done {
        let path: TranscodePath
        let size: PixelSize
        var quality: Int?
        let isIrregular: Bool
    }

    private enum Result {
        case done(Done)
        case overBudget(bytesMin: Int)
    }

    /// Goes the plan's ways, cheapest first, until one holds.
    private func run(to output: borrowing Descriptor) throws(CodecError) -> Result {
        for path in plan.paths {
            switch path {
            case .copy: if let done = try carry(to: output) { return .done(done) }
            case .lossless: if let done = try moveCoefficients(to: output) { return .done(done) }
            case .reencode: break
            }
        }
        return try encodeAgain(to: output)
    }

    private func isInBudget(_ bytes: Int) -> Bool { plan.maxBytes.map { bytes <= $0 } ?? true }

    private var exif: ExifBuilder.Result? { exif(of: plan.size) }

    private func exif(of size: PixelSize) -> ExifBuilder.Result? {
        let isGrey = structure.colourModel == .grey
        return metadata.kept(for: ExifBuilder.Picture(size: size, isSRGB: colour.isSRGB, isGrey: isGrey))
    }

    /// - Returns: nil where there are stray bytes among the data, or more bytes than allowed.
    private func carry(to output: borrowing Descriptor) throws(CodecError) -> Done? {
        let preamble = try preamble()
        guard isInBudget(preamble.count + structure.carried.count + 2) else { return nil }
        let proof = try EntropyProof.prove(photo.bytes, bytesMax: job.limits.workerBytesMax)
        guard !proof.hasStrayData else { return nil }
        do throws(PosixError) {
            try output.writeAll(preamble)
            for range in structure.carried.ranges {
                try output.writeAll(UnsafeRawBufferPointer(rebasing: photo.bytes[range]))
            }
            try output.writeAll([0xFF, 0xD9])
        } catch {
            throw CodecError(writing: error)
        }
        return Done(path: .copy, size: plan.size, isIrregular: proof.isIrregular)
    }

    private func preamble() throws(CodecError) -> [UInt8] {
        do throws(Failure) {
            return try JPEGPreamble.bytes(exif: exif?.payload ?? [], profile: colour.icc ?? [])
        } catch {
            throw CodecError(.unsupported, error.detail)
        }
    }

    /// - Returns: nil where coefficients alone do not do it: incomplete MCUs in the way, a result that is no baseline
    ///   or progressive picture, or one that has more bytes than allowed.
    private func moveCoefficients(to output: borrowing Descriptor) throws(CodecError) -> Done? {
        let moved = try LosslessTransform.run(
            photo.bytes, orientation: plan.turn, crop: plan.crop, isProgressive: plan.isProgressive,
            bytesMax: job.limits.workerBytesMax)
        guard let moved, moved.takesJFIF else { return nil }
        let isCommon = moved.withBytes { bytes in
            let result = Photo(bytes: bytes).withSpan { try? JPEGStructure(parsing: $0, limits: job.limits) }
            return result.map { $0.frame.process != .extended } ?? false
        }
        let preamble = try preamble()
        let count = preamble.count + moved.withBody { $0.count }
        guard isCommon, isInBudget(count) else { return nil }
        do throws(PosixError) {
            try output.writeAll(preamble)
            try moved.withBody { (body) throws(PosixError) in try output.writeAll(body) }
        } catch {
            throw CodecError(writing: error)
        }
        return Done(path: .lossless, size: plan.size, isIrregular: moved.proof.isIrregular)
    }

    private func encodeAgain(to output: borrowing Descriptor) throws(CodecError) -> Result {
        if structure.frame.process == .lossless {
            let source = try LosslessJPEGSource.opening(photo.bytes, isRGB: structure.colourModel == .rgb)
            let isIrregular = source.isIrregular
            return try encode(source, isIrregular: isIrregular, to: output)
        }
        let source = try JPEGSource.opening(
            photo.bytes, inks: try inks(), divisor: plan.divisor, bytesMax: job.limits.workerBytesMax)
        // All that could be odd has been read by now: by the proof, or by libjpeg, which reads all scans before the
        // first row of a picture that has several.
        let isIrregular = source.isIrregular
        return try encode(source, isIrregular: isIrregular, to: output)
    }

    private func encode<Source: BandSource & ~Copyable>(
        _ source: consuming Source, isIrregular: Bool, to output: borrowing Descriptor
    ) throws(CodecError) -> Result {
        let pipeline = PixelPipeline(
            plan: plan, colour: colour, metadata: metadata, stored: stored ?? source.format.layout, limits: job.limits)
        switch try pipeline.run(source, to: output) {
        case .done(let size, let quality):
            return .done(Done(path: .reencode, size: size, quality: quality, isIrregular: isIrregular))
        case .overBudget(let bytesMin): return .overBudget(bytesMin: bytesMin)
        }
    }

    /// How C, M, Y and K become sRGB: by the profile where there is a sound one. Numbers are taken as inverted even
    /// without Adobe's marker, as browsers take them: unmarked files that hold plain ink are not met.
    private func inks() throws(CodecError) -> InkConverter? {
        guard structure.frame.components.count == 4 else { return nil }
        let transform: ColourTransform
        if let profile = photo.profile(structure.profile).flatMap(ColourProfile.checking), profile.space == .cmyk {
            transform = try .toSRGB(from: profile)
        } else {
            transform = .toSRGBFromUntaggedCMYK()
        }
        let owner = InkTransform(transform)
        return InkConverter(isInverted: true) { owner.transform.convert($0, $1, pixels: $2) }
    }

    private func report(_ done: Done) -> Report {
        var warnings = structure.warnings.union(metadata.warnings).union(colour.warnings)
        if done.isIrregular { warnings.insert(.headerIrregular) }
        var found = metadata.found(beside: structure.found)
        if structure.profile != .absent, colour.icc == nil {
            found.note(.iccProfile, bytes: structure.profile.byteCount)
        }
        if colour.profileTextBytes > 0 { found.note(.iccText, bytes: colour.profileTextBytes) }
        return Report(
            path: done.path, size: done.size, quality: done.quality,
            source: Report.Source(
                format: .jpeg, size: structure.frame.size, orientation: plan.turn,
                orientationSource: told == nil ? .none : .exif),
            color: colour.names, found: found, kept: exif(of: done.size)?.kept ?? [],
            disclosure: metadata.disclosure, warnings: warnings)
    }
}

/// Keeps a transform alive for the closure that uses it.
private final class InkTransform {
    let transform: ColourTransform

    init(_ transform: consuming ColourTransform) { self.transform = transform }
}

extension PictureFacts {
    /// What a JPEG's headers say of it.
    fileprivate init(_ structure: JPEGStructure, turn: Orientation, isConverted: Bool) {
        let frame = JPEGGeometry(structure.frame)
        let isGrey = structure.colourModel == .grey
        let isPlain = isGrey || structure.colourModel == .ycbcr
        let subsampling = structure.colourModel == .ycbcr ? frame.subsampling : nil
        let factors = frame.components.reduce(into: PixelSize(width: 1, height: 1)) { largest, component in
            largest.width = max(largest.width, component.horizontal)
            largest.height = max(largest.height, component.vertical)
        }
        // Lossless coding has no coefficients, and nothing of it is decoded to a part of its size.
        let hasCoefficients = structure.frame.process != .lossless
        self.init(
            size: frame.size, turn: turn, isGrey: isGrey, subsampling: subsampling, isConverted: isConverted,
            jpeg: !hasCoefficients
                ? nil
                : JPEG(
                    isMovable: isGrey || LosslessTransform.canMove(subsampling),
                    fitsBaseline: !structure.hasWideQuantization,
                    isCommon: isPlain && !structure.frame.isArithmetic && structure.frame.process != .extended
                        && structure.isCopyable,
                    isProgressive: structure.frame.process == .progressive, factors: factors))
    }
}

extension JPEGGeometry {
    /// The frame as codecs see it. A single component has no scans beside it.
    fileprivate init(_ frame: JPEGFrame) {
        self.init(
            size: frame.size,
            components: frame.components.map { .init(horizontal: $0.horizontal, vertical: $0.vertical) },
            isProgressive: frame.process == .progressive, hasMultipleScans: frame.process == .progressive)
    }
}
