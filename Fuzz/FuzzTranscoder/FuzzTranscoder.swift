import Codecs
import Container
import Core
import FuzzPromises
import Posix
import Transcoding

/// The whole way of a photo, with all its libraries. The first byte chooses options, the rest is the upload.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard case .success = prepared else { fatalError("no decoder to be fuzzed") }
    guard count > 0, let data else { return 0 }
    let job = Job(options: Options(choosing: data[0]), limits: limits)
    let upload = UnsafeRawBufferPointer(start: data + 1, count: count - 1)
    do throws(PosixError) {
        let output = try MemoryFile(name: "fuzz-output")
        guard let report = transcode(upload, job, to: output.descriptor) else { return 0 }
        try output.seal().withBytes { check($0, report, job) }
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
    fileprivate init(choosing byte: UInt8) {
        self.init()
        isProgressive = byte & 1 != 0
        if byte & 2 != 0 { maxWidth = 40 }
        if byte & 4 != 0 { crop = .ratio(3, 2) }
        if byte & 8 != 0 { color = .srgb }
        if byte & 16 != 0 { maxBytes = 2_000 }
        if byte & 32 != 0 { subsampling = .s444 }
        orientation = OrientationRule.allCases[Int(byte >> 6)]
    }
}

private func transcode(_ upload: UnsafeRawBufferPointer, _ job: Job, to output: borrowing Descriptor) -> Report? {
    do throws(Failure) { return try Transcoder.transcode(upload, job, to: output) } catch {
        error.promiseRefusal(or: [.cropOutside, .budgetUnreachable])
        return nil
    }
}

/// A success is a picture and nothing else, of the size that is reported, and whole.
private func check(_ bytes: UnsafeRawBufferPointer, _ report: Report, _ job: Job) {
    bytes.withMemoryRebound(to: UInt8.self) { typed in
        do throws(Failure) { try OutputCheck.verify(typed.span, size: report.size) } catch {
            fatalError("broken promise: \(error.detail)")
        }
    }
    if let bytesMax = job.options.maxBytes { promise(bytes.count <= bytesMax, "\(bytes.count) bytes of \(bytesMax)") }
    if let maxWidth = job.options.maxWidth { promise(report.size.width <= maxWidth, "\(report.size) is too wide") }
    promise((try? JobMessage.decodeReply(JobMessage.encode(.done(report)))) == .done(report), "a report gets lost")
    do throws(CodecError) {
        let proof = try EntropyProof.prove(bytes)
        promise(!proof.hasStrayData && proof.frame.size == report.size, "the finished picture has stray data")
    } catch {
        fatalError("broken promise: the finished picture is damaged: \(error.message)")
    }
}
