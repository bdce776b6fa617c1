import Codecs
import Container
import Core
import FuzzPromises
import Posix
import Transcoding

/// The whole way of a photo, with all its libraries. The first two bytes choose what is asked, the rest is the upload.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard case .success = prepared else { fatalError("no decoder to be fuzzed") }
    guard count > 1, let data else { return 0 }
    let job = Job(
        data[1] & 32 == 0 ? .prepare : .inspect, options: Options(choosing: data[0], metadata: data[1]),
        limits: limits, threads: data[1] & 64 == 0 ? 1 : 2)
    let upload = UnsafeRawBufferPointer(start: data + 2, count: count - 2)
    do throws(PosixError) {
        let output = try MemoryFile(name: "fuzz-output")
        guard let report = transcode(upload, job, to: output.descriptor) else { return 0 }
        checkReport(report, job)
        try output.seal().withBytes { bytes in
            switch job.kind {
            case .prepare: check(bytes, report, job)
            case .inspect: promise(bytes.isEmpty, "\(bytes.count) bytes were written unasked")
            }
        }
    } catch {
        fatalError("broken promise: \(error)")
    }
    return 0
}

private let prepared = Result<Void, CodecError> { () throws(CodecError) in try Transcoder.prepare() }

/// Small enough that each picture is done in milliseconds, and that a decoder which asks for more than its picture takes
/// is found by libFuzzer's own limit (`scripts/fuzz` sets it).
private let limits: Limits = {
    var limits = Limits()
    limits.pixelsMax = 300 * 300
    limits.workerBytesMax = 96 << 20
    limits.outputBytesMax = 8 << 20
    return limits
}()

extension Options {
    fileprivate init(choosing byte: UInt8, metadata: UInt8) {
        self.init()
        isProgressive = byte & 1 != 0
        if byte & 2 != 0 { maxWidth = 40 }
        if byte & 4 != 0 { crop = .ratio(3, 2) }
        if byte & 8 != 0 { color = .srgb }
        if byte & 16 != 0 { maxBytes = 2_000 }
        if byte & 32 != 0 { subsampling = .s444 }
        orientation = OrientationRule.allCases[Int(byte >> 6)]
        let handlings = MetadataPolicy.Handling.allCases
        self.metadata = MetadataPolicy(
            exif: handlings[Int(metadata & 3) % handlings.count],
            gps: handlings[Int(metadata >> 2 & 3) % handlings.count],
            gpsPrecision: metadata & 16 == 0 ? .exact : .city)
    }
}

private func transcode(_ upload: UnsafeRawBufferPointer, _ job: Job, to output: borrowing Descriptor) -> Report? {
    do throws(Failure) { return try Transcoder.transcode(upload, job, to: output) } catch {
        error.promiseRefusal(or: [.cropOutside, .budgetUnreachable])
        return nil
    }
}

/// What is told is what may be told, and it arrives.
private func checkReport(_ report: Report, _ job: Job) {
    let (policy, told) = (job.options.metadata, report.disclosure)
    promise(policy.exif != .strip || told.exif == nil && told.capture == nil, "EXIF is told against the policy")
    promise(policy.gps != .strip || told.gpsStatus == nil && told.position == nil, "a place is told against the policy")
    promise(report.kept.allSatisfy(policy.kept.contains), "\(report.kept) are kept against the policy")
    promise(Set(report.removed).isDisjoint(with: report.kept), "what is kept is removed")
    promise((try? JobMessage.decodeReply(JobMessage.encode(.done(report)))) == .done(report), "a report gets lost")
}

/// A success is a picture and nothing else, of the size that is reported, and whole.
private func check(_ bytes: UnsafeRawBufferPointer, _ report: Report, _ job: Job) {
    bytes.withMemoryRebound(to: UInt8.self) { typed in
        do throws(Failure) {
            try OutputCheck.verify(typed.span, size: report.size, kept: report.kept, policy: job.options.metadata)
        } catch {
            fatalError("broken promise: \(error.detail)")
        }
    }
    if let bytesMax = job.options.maxBytes { promise(bytes.count <= bytesMax, "\(bytes.count) bytes of \(bytesMax)") }
    if let maxWidth = job.options.maxWidth { promise(report.size.width <= maxWidth, "\(report.size) is too wide") }
    do throws(CodecError) {
        let proof = try EntropyProof.prove(bytes)
        promise(!proof.hasStrayData && proof.frame.size == report.size, "the finished picture has stray data")
    } catch {
        fatalError("broken promise: the finished picture is damaged: \(error.message)")
    }
}
