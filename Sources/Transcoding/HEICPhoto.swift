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

    /// What is left to be done after the decoder has applied the container's properties. EXIF counts only where the
    /// picture has no such property at all (ISO/IEC 23008-12, section 6.5.10 and annex A.2.1).
    private var turn: Orientation {
        structure.orientation == nil ? exif.facts?.orientation ?? .upright : .upright
    }

    func prepare(to output: borrowing Descriptor) throws(Failure) -> Report {
        do throws(CodecError) {
            let source = try HEICSource.opening(
                photo.bytes, limits: job.limits, colour: structure.colour.description)
            let hasAlpha = source.hasAlpha
            let colour = OutputColour.kept(
                photo.profile(structure.colour.profile), colour: source.format.colour,
                isGrey: source.format.layout == .grey)
            let pipeline = PixelPipeline(
                turn: turn, quality: job.options.quality, icc: colour.icc, output: output.raw, limits: job.limits)
            let size = try pipeline.run(source)
            guard size == structure.displaySize.applying(turn) else {
                throw CodecError(.corrupt, "the decoder made \(size) of \(structure.displaySize)")
            }
            return report(size: size, colour: colour, hasAlpha: hasAlpha)
        } catch {
            throw Failure(error, limits: job.limits)
        }
    }

    private func report(size: PixelSize, colour: OutputColour, hasAlpha: Bool) -> Report {
        var warnings = structure.warnings.union(exif.warnings).union(colour.warnings)
        if hasAlpha { warnings.insert(.alphaFlattened) }
        let told = exif.facts?.orientation
        if let told, let stated = structure.orientation, told != stated { warnings.insert(.orientationConflict) }
        var removed = structure.removed.union(exif.found)
        if hasAlpha { removed.insert(.alpha) }
        if structure.colour.profile != .absent, colour.icc == nil { removed.insert(.iccProfile) }
        let source: OrientationSource = structure.orientation != nil ? .irot : told != nil ? .exif : .none
        return Report(
            path: .reencode, size: size, quality: job.options.quality,
            source: Report.Source(
                format: .heic, size: structure.primary.size, orientation: structure.orientation ?? turn,
                orientationSource: source),
            color: colour.names, removed: removed, warnings: warnings)
    }
}
