import CHEIF
import Core

/// Owns a `heif_image`: decoded planes.
struct HEIFImage: ~Copyable {
    private let raw: OpaquePointer

    init(adopting raw: OpaquePointer) { self.raw = raw }

    deinit { heif_image_release(raw) }

    /// Where the samples are, by what libheif says of its planes.
    enum Coding: Equatable {
        case grey
        case ycbcr(ChromaSubsampling)
        case rgb
    }

    /// Nil for interleaved planes, which no HEVC decoder yields.
    var coding: Coding? {
        switch (heif_image_get_colorspace(raw), heif_image_get_chroma_format(raw)) {
        case (heif_colorspace_monochrome, _): .grey
        case (heif_colorspace_YCbCr, heif_chroma_420): .ycbcr(.s420)
        case (heif_colorspace_YCbCr, heif_chroma_422): .ycbcr(.s422)
        case (heif_colorspace_YCbCr, heif_chroma_444): .ycbcr(.s444)
        case (heif_colorspace_RGB, heif_chroma_444): .rgb
        default: nil
        }
    }

    /// What the decoded data says of its colours: the container's nclx where there is one, else the bitstream's VUI.
    var nclx: ColourDescription? {
        var profile: UnsafeMutablePointer<heif_color_profile_nclx>?
        guard heif_image_get_nclx_color_profile(raw, &profile).code == heif_error_Ok else { return nil }
        return ColourDescription(adopting: profile)
    }

    /// Bits of a sample of `channel`; nil where it does not exist.
    func depth(of channel: heif_channel) -> Int? {
        let bits = heif_image_get_bits_per_pixel_range(raw, channel)
        return bits > 0 ? Int(bits) : nil
    }

    /// A plane; valid as long as this image lives. Nil where it does not exist.
    func plane(_ channel: heif_channel) -> Plane? {
        var stride: Int32 = 0
        guard let base = heif_image_get_plane_readonly(raw, channel, &stride) else { return nil }
        return Plane(
            base: UnsafeRawPointer(base), stride: Int(stride), width: Int(heif_image_get_width(raw, channel)),
            height: Int(heif_image_get_height(raw, channel)))
    }

    /// The samples of `plane`, a plane of this image, to be changed in place.
    func mutableBase(of channel: heif_channel) -> UnsafeMutableRawPointer? {
        var stride: Int32 = 0
        return heif_image_get_plane(raw, channel, &stride).map { UnsafeMutableRawPointer($0) }
    }
}

extension ColourDescription {
    /// Copies what a profile says, and frees it.
    init?(adopting profile: UnsafeMutablePointer<heif_color_profile_nclx>?) {
        guard let profile else { return nil }
        defer { heif_nclx_color_profile_free(profile) }
        self.init(
            primaries: UInt16(truncatingIfNeeded: profile.pointee.color_primaries.rawValue),
            transfer: UInt16(truncatingIfNeeded: profile.pointee.transfer_characteristics.rawValue),
            matrix: UInt16(truncatingIfNeeded: profile.pointee.matrix_coefficients.rawValue),
            isFullRange: profile.pointee.full_range_flag != 0)
    }
}
