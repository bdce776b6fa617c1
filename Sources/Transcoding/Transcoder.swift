import Container
package import Core
package import Posix

/// The transcoding service: one photo in, one upright private JPEG out. It knows no HTTP and no disk.
///
/// sniff → validate → plan → decode → colour → encode → describe.
package enum Transcoder {
    /// Prepares `input` as `job` asks and writes the JPEG to `output`, from where it stands; or tells what would be
    /// done, and writes nothing, where `job` only inspects.
    ///
    /// - Parameter input: stays where it is and unchanged until this returns.
    /// - Throws: why the photo cannot be prepared; what `output` then holds is worthless.
    package static func transcode(
        _ input: UnsafeRawBufferPointer, _ job: Job, to output: borrowing Descriptor
    ) throws(Failure) -> Report {
        let source = Photo(bytes: input)
        switch (source.kind, job.kind) {
        case (.accepted(.jpeg), .prepare): return try JPEGPhoto(source, job).prepare(to: output)
        case (.accepted(.jpeg), .inspect): return try JPEGPhoto(source, job).inspect()
        case (.accepted(.heic), .prepare): return try HEICPhoto(source, job).prepare(to: output)
        case (.accepted(.heic), .inspect): return try HEICPhoto(source, job).inspect()
        case (.refused(let mediaType), _):
            throw Failure(.unsupportedMedia, "this is \(mediaType); HEIC and JPEG are taken")
        case (.unknown, _):
            throw Failure(.unsupportedMedia, "this is no picture that is known here; HEIC and JPEG are taken")
        }
    }
}

/// The uploaded bytes, seen both ways: as memory-safe Swift reads them, and as C libraries do.
struct Photo {
    let bytes: UnsafeRawBufferPointer

    func withSpan<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try bytes.withMemoryRebound(to: UInt8.self) { (typed) throws(Failure) in try body(typed.span) }
    }

    var kind: Sniffed { withSpan { Sniffer.sniff($0.extracting(first: Sniffer.prefixLength)) } }

    /// The bytes of `extents`, joined.
    func joined(_ extents: Extents) -> [UInt8] { withSpan { extents.bytes(in: $0) } }

    /// The embedded profile's bytes: nil where there is none, empty where it could not be put together.
    func profile(_ profile: EmbeddedProfile) -> [UInt8]? {
        switch profile {
        case .absent: nil
        case .damaged: []
        case .complete(let extents): joined(extents)
        }
    }
}
