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
    private let exif: ExifFindings
    private let colour: OutputColour
    private let turn: Orientation

    init(_ photo: Photo, _ job: Job) throws(Failure) {
        self.photo = photo
        self.job = job
        structure = try photo.withSpan { (bytes) throws(Failure) in
            try JPEGStructure(parsing: bytes, limits: job.limits)
        }
        guard structure.hasEOI else {
            throw Failure(.truncated, "JPEG: the file ends before its end marker")
        }
        exif = ExifFindings(structure.exif, xmp: structure.xmp, of: photo)
        turn = exif.facts?.orientation ?? .upright
        colour = JPEGPhoto.colour(of: structure, profile: photo.profile(structure.profile), exif: exif)
    }

    private static func colour(
        of structure: JPEGStructure, profile: [UInt8]?, exif: ExifFindings
    ) -> OutputColour {
        switch structure.colourModel {
        case .cmyk, .ycck:
            let name = profile.flatMap(ColourProfile.checking).map(\.name)
            return .converted(from: name ?? "CMYK", warnings: profile != nil && name == nil ? [.iccInvalid] : [])
        case .grey, .ycbcr, .rgb:
            return .kept(
                profile, colour: .jfif, isGrey: structure.colourModel == .grey,
                isAdobeRGB: exif.facts?.isAdobeRGB == true)
        }
    }

    func prepare(to output: borrowing Descriptor) throws(Failure) -> Report {
        do throws(CodecError) {
            return report(try run(to: output))
        } catch {
            throw Failure(error, limits: job.limits)
        }
    }

    private struct Done {
        let path: TranscodePath
        let size: PixelSize
        let isIrregular: Bool
    }

    private func run(to output: borrowing Descriptor) throws(CodecError) -> Done {
        if isCopyable {
            let proof = try EntropyProof.prove(photo.bytes, bytesMax: job.limits.workerBytesMax)
            if !proof.hasStrayData {
                try write(structure.carried, to: output)
                return Done(path: .copy, size: structure.frame.size, isIrregular: proof.isIrregular)
            }
        }
        if isMovable, let done = try moveCoefficients(to: output) { return done }
        return try encodeAgain(to: output)
    }

    /// Only what every reader reads is carried over: Huffman coding, baseline or progressive, grey or YCbCr.
    private var isCopyable: Bool {
        turn == .upright && isMovable && !structure.frame.isArithmetic && structure.frame.process != .extended
    }

    /// Lossless coding has no coefficients.
    private var isMovable: Bool {
        structure.frame.process != .lossless && (structure.colourModel == .grey || structure.colourModel == .ycbcr)
    }

    private func write(_ carried: Extents, to output: borrowing Descriptor) throws(CodecError) {
        let preamble = try preamble()
        do throws(PosixError) {
            try output.writeAll(preamble)
            for range in carried.ranges {
                try output.writeAll(UnsafeRawBufferPointer(rebasing: photo.bytes[range]))
            }
            try output.writeAll([0xFF, 0xD9])
        } catch {
            throw CodecError(.output, error.description)
        }
    }

    private func preamble() throws(CodecError) -> [UInt8] {
        do throws(Failure) { return try JPEGPreamble.bytes(.jfif, profile: colour.icc ?? []) } catch {
            throw CodecError(.unsupported, error.detail)
        }
    }

    /// - Returns: nil where coefficients alone do not do it: incomplete MCUs in the way, or a result that is no baseline
    ///   or progressive picture.
    private func moveCoefficients(to output: borrowing Descriptor) throws(CodecError) -> Done? {
        let moved = try LosslessTransform.run(
            photo.bytes, orientation: turn, bytesMax: job.limits.workerBytesMax)
        guard let moved, moved.takesJFIF else { return nil }
        let isCommon = moved.withBytes { bytes in
            let result = Photo(bytes: bytes).withSpan { try? JPEGStructure(parsing: $0, limits: job.limits) }
            return result.map { $0.frame.process != .extended } ?? false
        }
        guard isCommon else { return nil }
        let preamble = try preamble()
        do throws(PosixError) {
            try output.writeAll(preamble)
            try moved.withBody { (body) throws(PosixError) in try output.writeAll(body) }
        } catch {
            throw CodecError(.output, error.description)
        }
        return Done(
            path: .lossless, size: structure.frame.size.applying(turn), isIrregular: moved.proof.isIrregular)
    }

    private func encodeAgain(to output: borrowing Descriptor) throws(CodecError) -> Done {
        let pipeline = PixelPipeline(
            turn: turn, quality: job.options.quality, icc: colour.icc, output: output.raw, limits: job.limits)
        if structure.frame.process == .lossless {
            let source = try LosslessJPEGSource.opening(photo.bytes, isRGB: structure.colourModel == .rgb)
            let isIrregular = source.isIrregular
            return Done(path: .reencode, size: try pipeline.run(source), isIrregular: isIrregular)
        }
        let frame = structure.frame.forCodecs
        // Grids that have no name once they are turned are brought to full chroma first.
        let chroma: JPEGSource.Chroma =
            frame.subsampling.map { PlaneLayout.ycbcr($0).turned(turn) == nil } ?? false ? .full : .asStored
        let source = try JPEGSource.opening(
            photo.bytes, chroma: chroma, inks: try inks(), bytesMax: job.limits.workerBytesMax)
        // All that could be odd has been read by now: by the proof, or by libjpeg, which reads all scans before the first
        // row of a picture that has several.
        let isIrregular = source.isIrregular
        let size = try pipeline.run(source)
        return Done(path: .reencode, size: size, isIrregular: isIrregular)
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
        var warnings = structure.warnings.union(exif.warnings).union(colour.warnings)
        if done.isIrregular { warnings.insert(.headerIrregular) }
        var removed = structure.removed.union(exif.found)
        if structure.profile != .absent, colour.icc == nil { removed.insert(.iccProfile) }
        return Report(
            path: done.path, size: done.size, quality: done.path == .reencode ? job.options.quality : nil,
            source: Report.Source(
                format: .jpeg, size: structure.frame.size, orientation: turn,
                orientationSource: exif.facts?.orientation == nil ? .none : .exif),
            color: colour.names, removed: removed, warnings: warnings)
    }
}

/// Keeps a transform alive for the closure that uses it.
private final class InkTransform {
    let transform: ColourTransform

    init(_ transform: consuming ColourTransform) { self.transform = transform }
}

extension Container.JPEGFrame {
    /// The frame as codecs see it. A single component has no scans beside it.
    fileprivate var forCodecs: Codecs.JPEGFrame {
        Codecs.JPEGFrame(
            size: size, components: components.map { .init(horizontal: $0.horizontal, vertical: $0.vertical) },
            isProgressive: process == .progressive, hasMultipleScans: process == .progressive)
    }
}
