package import Core

/// What a JPEG begins with: SOI, the JFIF marker, which makes its components grey or YCbCr (ITU-T T.871), its EXIF block
/// and its ICC profile.
package enum JPEGPreamble {
    /// Bytes of a profile that fit in one segment: 65,535 less its length and the chunk's head (ICC.1:2022, annex B.4).
    package static let profileChunkMax = 65_519
    package static let exifBytesMax = 65_533
    /// The chunks are numbered by a byte.
    package static let profileBytesMax = 255 * profileChunkMax

    /// The bytes from SOI on; a DQT or SOF segment can follow them.
    ///
    /// - Parameters:
    ///   - exif: of the APP1 segment, `Exif\0\0` first, at most `exifBytesMax`; empty for none.
    ///   - profile: an ICC profile; empty for none.
    /// - Throws: `undecodable` where the profile is longer than a JPEG can hold.
    package static func bytes(exif: [UInt8] = [], profile: [UInt8]) throws(Failure) -> [UInt8] {
        precondition(exif.count <= exifBytesMax, "an EXIF block of ours fits one segment")
        guard profile.count <= profileBytesMax else {
            throw Failure(
                .undecodable, "the ICC profile has \(profile.count) bytes; a JPEG holds at most \(profileBytesMax)")
        }
        var bytes: [UInt8] = [0xFF, 0xD8]
        // Version 1.01, a pixel aspect of 1:1, no thumbnail.
        append(0xE0, ascii("JFIF\0") + [1, 1, 0, 0, 1, 0, 1, 0, 0], to: &bytes)
        if !exif.isEmpty { append(0xE1, exif, to: &bytes) }
        let total = (profile.count + profileChunkMax - 1) / profileChunkMax
        for index in 0..<total {
            let chunk = profile[(index * profileChunkMax)..<min((index + 1) * profileChunkMax, profile.count)]
            append(0xE2, ICCChunks.signature + [UInt8(index + 1), UInt8(total)] + chunk, to: &bytes)
        }
        return bytes
    }

    private static func append(_ marker: UInt8, _ payload: [UInt8], to bytes: inout [UInt8]) {
        let length = payload.count + 2
        bytes += [0xFF, marker, UInt8(length >> 8), UInt8(length & 0xFF)] + payload
    }
}
