import Codecs
import Core
import Glibc
import Posix

extension Failure {
    /// What a caller reads of a codec's failure; the library's own words go to the log.
    init(_ error: CodecError, limits: Limits) {
        switch error.kind {
        case .corrupt:
            self.init(.corrupt, "the picture's data is damaged", diagnosis: error.message)
        case .truncated:
            self.init(.truncated, "the picture's data ends too early", diagnosis: error.message)
        case .unsupported:
            self.init(.undecodable, "the picture is of a kind that is not read here", diagnosis: error.message)
        case .outOfMemory:
            let megabytes = limits.workerBytesMax >> 20
            self.init(
                .tooManyPixels, "preparing this picture takes more than the \(megabytes) MiB that a worker may have",
                diagnosis: error.message)
        case .outputLimit: self.init(outputLimit: limits)
        case .output:
            self.init(.internalError, "the picture could not be written", diagnosis: error.message)
        }
    }

    /// A picture that is fine, and too long when it is written as it was asked for.
    private init(outputLimit limits: Limits) {
        self.init(
            .tooManyPixels,
            "the JPEG would have more than the \(limits.outputBytesMax) bytes that one may have; "
                + "ask for a lower quality or fewer pixels")
    }

    /// A budget that no picture keeps.
    init(budget: Int?, bytesMin: Int) {
        self.init(
            .budgetUnreachable,
            "max_bytes=\(budget ?? 0) is out of reach: the smallest JPEG of this picture has \(bytesMin) bytes")
    }
}

extension CodecError {
    init(writing error: PosixError) {
        self.init(error.errno == EFBIG ? .outputLimit : .output, error.description)
    }
}
