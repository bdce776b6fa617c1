package import Codecs
import Core
import Posix

extension Transcoder {
    /// Loads what the work needs and does it once, small, so that nothing is opened later: plug-ins, but also what
    /// libraries read at their first use, such as the time zone for the date of a colour profile. Once, at a worker's
    /// start.
    package static func prepare() throws(CodecError) {
        try HEIFLibrary.prepare()
        let jpeg = try rehearse(HEIFLibrary.sample) { options in
            options.color = .srgb
            options.maxWidth = 48
        }
        _ = try rehearse(jpeg) { options in
            options.isProgressive = true
            options.maxWidth = 32
        }
    }

    private static func rehearse(
        _ photo: [UInt8], _ adjust: (inout Options) -> Void
    ) throws(CodecError) -> [UInt8] {
        var options = Options()
        adjust(&options)
        let job = Job(options: options, limits: Limits())
        do {
            let output = try MemoryFile(name: "safelight-rehearsal")
            _ = try photo.withUnsafeBytes { photo in try transcode(photo, job, to: output.descriptor) }
            return try output.seal().withBytes { Array($0) }
        } catch {
            throw CodecError(.unsupported, "the rehearsal failed: \(error)")
        }
    }
}
