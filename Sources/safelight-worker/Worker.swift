import Codecs
import Core
import Glibc
import Posix
import Sandbox
import Transcoding

/// Answers one job after the other, as `WorkerProtocol` has it, until the front lets go of the socket.
///
/// - Returns: the exit code: 0 at the socket's end, 1 where the worker cannot work.
func run() -> Int32 {
    Signals.dieWithParent()
    Signals.outliveFileSizeLimit()
    guard fcntl(WorkerProtocol.socket, F_GETFD) != -1 else {
        return complain("is started by safelight, not by hand")
    }
    let socket = Socket(adopting: Descriptor(adopting: WorkerProtocol.socket))
    do throws(PosixError) { try MemoryLimit.limitHeaps(heapsMax) } catch {
        return complain("cannot start: \(error)")
    }
    do throws(CodecError) { try Transcoder.prepare() } catch {
        return complain("cannot start: \(error.message)")
    }
    let isFiltered: Bool
    do throws(PosixError) {
        isFiltered = try Sandbox.enter(
            socket: socket, mark: WorkerProtocol.trapMark, fileBytesMax: Limits().outputBytesMax)
    } catch {
        return complain("cannot enter its sandbox: \(error)")
    }
    do throws(PosixError) {
        try socket.send(isFiltered ? WorkerProtocol.hello : WorkerProtocol.helloUnfiltered)
        while let message = try socket.receive(
            bytesMax: JobMessage.bytesMax, descriptorsMax: WorkerProtocol.descriptorsPerJob)
        {
            try socket.send(JobMessage.encode(answer(message)))
        }
        return 0
    } catch {
        return complain(error.description)
    }
}

/// Beside what a job may plan for: the worker's code and its libraries, what earlier jobs have left in the heap, and
/// what decoders keep for themselves. With it a picture that the plan allows finds its memory, and one whose decoder is
/// told another size than the container's (a HEVC sequence header may ask for gigabytes) does not.
private let ownBytesMax = 256 << 20

/// Pools of malloc. Threads share them, which costs little: pictures' memory is mapped piece by piece, beside the pools.
private let heapsMax: Int32 = 4

private func answer(_ message: consuming Message) -> Reply {
    guard let job = try? JobMessage.decodeJob(message.bytes), let input = message.takeDescriptor(),
        let output = message.takeDescriptor()
    else { return .failed(Failure(.internalError, "the worker was given no job that it knows")) }
    do throws(PosixError) {
        try MemoryLimit.set(job.limits.workerBytesMax + ownBytesMax)
        return try SealedFile.received(input).withBytes { bytes in
            do throws(Failure) { return .done(try Transcoder.transcode(bytes, job, to: output)) } catch {
                return .failed(error)
            }
        }
    } catch {
        return .failed(Failure(.internalError, "the upload could not be read", diagnosis: error.description))
    }
}

private func complain(_ text: String) -> Int32 {
    let line = Array("safelight-worker: \(text)\n".utf8)
    _ = Glibc.write(2, line, line.count)
    return 1
}
