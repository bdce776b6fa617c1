import CAVLog
import CHEIF
import CHEVC
import CLinux

/// The decoders of HEVC that libheif loads as plug-ins, in the order in which they are tried.
enum HEIFDecoder: String {
    /// The faster and better fuzzed one.
    case ffmpeg
    /// Reads some kinds of picture that FFmpeg's plug-in of libheif does not take.
    case libde265
}

/// libheif as a whole: its plug-ins, loaded once in a process.
package enum HEIFLibrary {
    /// Loads the plug-ins and decodes a tiny picture by each decoder, so that nothing is left to be loaded later, when
    /// a worker may open no file. To be called once at a worker's start; later calls cost nothing.
    ///
    /// - Throws: `unsupported` where no HEVC decoder is installed or its complaints cannot be heard.
    package static func prepare() throws(CodecError) { try prepared.get() }

    /// A small HEIC in Display P3, to be prepared by a worker at its start.
    package static var sample: [UInt8] { HEIFSample.bytes }

    /// Whether FFmpeg's plug-in passes on all slices of a picture. Before 1.21 it passed on the last one alone, so that
    /// a refusal says nothing about the data.
    static var passesEverySlice: Bool { heif_get_version_number() >= 0x01_15_00_00 }

    /// Samples that no slice brings stay what the memory was before, and libde265's may have been another upload's
    /// picture: memory is wiped, for all libraries, and `HEICPlanes` finds the zeros.
    private static let prepared = Result<Void, CodecError> { () throws(CodecError) in
        clinux_wipe_heap()
        try load()
        try warmUp()
    }

    /// `heif_init` loads every plug-in of libheif's folder. Encoders and AV1 decoders add nothing measurable:
    /// libavcodec itself is linked against the libraries below them.
    private static func load() throws(CodecError) {
        try check(heif_init(nil))
        let decoders = installed()
        guard !decoders.isEmpty else { throw CodecError(.unsupported, "libheif has no HEVC decoder") }
        guard !decoders.contains(.ffmpeg) || listen() else {
            throw CodecError(.unsupported, "FFmpeg's complaints cannot be heard")
        }
    }

    private static func installed() -> [HEIFDecoder] {
        var descriptors = [OpaquePointer?](repeating: nil, count: 16)
        let count = heif_get_decoder_descriptors(heif_compression_HEVC, &descriptors, Int32(descriptors.count))
        return descriptors.prefix(Int(count)).compactMap { descriptor in
            heif_decoder_descriptor_get_id_name(descriptor).flatMap { HEIFDecoder(rawValue: String(cString: $0)) }
        }
    }

    private static func listen() -> Bool {
        guard let folders = heif_get_plugin_directories() else { return false }
        defer { heif_free_plugin_directories(folders) }
        var next = folders
        while let folder = next.pointee {
            let plugin = "\(String(cString: folder))/libheif-ffmpegdec.so"
            if cavlog_listen(plugin) == 0 {
                // Where it fails, the plug-in decodes all tiles.
                _ = chevc_load(plugin)
                return true
            }
            next += 1
        }
        return false
    }

    private static func warmUp() throws(CodecError) {
        var failure: CodecError?
        HEIFSample.bytes.withUnsafeBytes { bytes in
            do throws(CodecError) {
                for decoder in installed() { try HEIFSample.decode(bytes, by: decoder) }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }
}
