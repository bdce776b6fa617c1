import CAVLog
import CHEIF
import Core

/// How the cells of a picture lie, as its grid item states it.
struct HEIFTiling: Equatable {
    let columns: Int
    let rows: Int
    let tile: PixelSize
    /// The picture as stored, before irot and imir.
    let size: PixelSize
}

/// What of a picture is to be decoded.
enum HEIFRegion: Equatable {
    /// Everything, in display orientation, cropped and turned by libheif.
    case shown
    /// Everything, as it is stored.
    case stored
    /// One cell of the grid, as it is stored: neither turned nor cropped.
    case tile(column: Int, row: Int)
}

/// In which planes a picture is to be given.
enum HEIFTarget {
    /// As they are coded.
    case source
    /// Converted to R, G and B of equal size.
    case rgb
}

/// Why a decoder gave no picture that may be used.
enum HEIFFailure: Error {
    /// This decoder does not take such pictures; another may.
    case refused(CodecError)
    /// No decoder would do better.
    case failed(CodecError)

    var error: CodecError {
        switch self {
        case .refused(let error), .failed(let error): error
        }
    }
}

/// Owns a `heif_image_handle`: one picture of a file, not yet decoded.
struct HEIFHandle: ~Copyable {
    private let raw: OpaquePointer

    init(adopting raw: OpaquePointer) { self.raw = raw }

    deinit { heif_image_handle_release(raw) }

    var item: heif_item_id { heif_image_handle_get_item_id(raw) }

    /// The size after irot, imir and clap; 0x0 where the file does not say.
    var displaySize: PixelSize {
        PixelSize(width: Int(heif_image_handle_get_width(raw)), height: Int(heif_image_handle_get_height(raw)))
    }

    /// The size that `ispe` states.
    var storedSize: PixelSize {
        PixelSize(
            width: Int(heif_image_handle_get_ispe_width(raw)), height: Int(heif_image_handle_get_ispe_height(raw)))
    }

    var hasAlpha: Bool { heif_image_handle_has_alpha_channel(raw) != 0 }

    var isPremultiplied: Bool { heif_image_handle_is_premultiplied_alpha(raw) != 0 }

    /// What the decoder configuration says of the coded planes: samples for each pixel (4:2:0 has 1.5), bytes for each
    /// sample.
    var coding: (isGrey: Bool, samplesPerPixel: Double, bytesPerSample: Int) {
        var colourspace = heif_colorspace_undefined
        var chroma = heif_chroma_undefined
        let error = heif_image_handle_get_preferred_decoding_colorspace(raw, &colourspace, &chroma)
        let bytes = heif_image_handle_get_luma_bits_per_pixel(raw) > 8 ? 2 : 1
        guard error.code == heif_error_Ok else { return (false, 3, bytes) }
        switch (colourspace, chroma) {
        case (heif_colorspace_monochrome, _): return (true, 1, bytes)
        case (_, heif_chroma_420): return (false, 1.5, bytes)
        case (_, heif_chroma_422): return (false, 2, bytes)
        default: return (false, 3, bytes)
        }
    }

    /// How the picture is divided; a single item is one cell.
    var tiling: HEIFTiling? {
        var tiling = heif_image_tiling()
        tiling.version = 1
        guard heif_image_handle_get_image_tiling(raw, 0, &tiling).code == heif_error_Ok else { return nil }
        return HEIFTiling(
            columns: Int(tiling.num_columns), rows: Int(tiling.num_rows),
            tile: PixelSize(width: Int(tiling.tile_width), height: Int(tiling.tile_height)),
            size: PixelSize(width: Int(tiling.image_width), height: Int(tiling.image_height)))
    }

    func tileItem(column: Int, row: Int) -> heif_item_id? {
        var item: heif_item_id = 0
        let error = heif_image_handle_get_grid_image_tile_id(raw, 0, UInt32(column), UInt32(row), &item)
        return error.code == heif_error_Ok ? item : nil
    }

    /// The `colr` box of type nclx, of the picture or else of its first tile.
    var nclx: ColourDescription? {
        var profile: UnsafeMutablePointer<heif_color_profile_nclx>?
        guard heif_image_handle_get_nclx_color_profile(raw, &profile).code == heif_error_Ok else { return nil }
        return ColourDescription(adopting: profile)
    }

    /// The ICC profile of the `colr` box, of the picture or else of its first tile.
    func iccProfile() throws(CodecError) -> [UInt8]? {
        let count = heif_image_handle_get_raw_color_profile_size(raw)
        guard count > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: count)
        try check(heif_image_handle_get_raw_color_profile(raw, &bytes))
        return bytes
    }

    /// Decodes by one decoder, strictly. What libheif itself calls decoding warnings speaks of properties (a colr box
    /// that contradicts the VUI, one that cannot be read), never of picture data, and is not asked for.
    func decode(
        _ region: HEIFRegion, by decoder: HEIFDecoder, as target: HEIFTarget = .source
    ) throws(HEIFFailure) -> HEIFImage {
        guard let options = heif_decoding_options_alloc() else {
            throw .failed(CodecError(.outOfMemory, "heif_decoding_options_alloc"))
        }
        defer { heif_decoding_options_free(options) }
        options.pointee.strict_decoding = 1
        options.pointee.convert_hdr_to_8bit = 0
        cheif_keep_colours(options)
        cavlog_clear()
        var image: OpaquePointer?
        let error = decoder.rawValue.withCString { name in
            options.pointee.decoder_id = name
            return run(region, target, options, &image)
        }
        let complaint = cavlog_complaint().map { CodecError(.corrupt, String(cString: $0)) }
        guard error.code == heif_error_Ok, let image else { throw failure(error, complaint) }
        let decoded = HEIFImage(adopting: image)
        if let complaint { throw .failed(complaint) }
        return decoded
    }

    private func run(
        _ region: HEIFRegion, _ target: HEIFTarget, _ options: UnsafeMutablePointer<heif_decoding_options>,
        _ image: inout OpaquePointer?
    ) -> heif_error {
        let colourspace = target == .rgb ? heif_colorspace_RGB : heif_colorspace_undefined
        let chroma = target == .rgb ? heif_chroma_444 : heif_chroma_undefined
        switch region {
        case .shown, .stored:
            options.pointee.ignore_transformations = region == .stored ? 1 : 0
            return heif_decode_image(raw, &image, colourspace, chroma, options)
        case .tile(let column, let row):
            options.pointee.ignore_transformations = 1
            return heif_image_handle_decode_image_tile(
                raw, &image, colourspace, chroma, options, UInt32(column), UInt32(row))
        }
    }

    private func failure(_ error: heif_error, _ complaint: CodecError?) -> HEIFFailure {
        guard error.code != heif_error_Ok else { return .failed(CodecError(.corrupt, "no picture")) }
        switch error.code {
        case heif_error_Decoder_plugin_error, heif_error_Unsupported_feature, heif_error_Plugin_loading_error:
            if let complaint, HEIFLibrary.passesEverySlice { return .failed(complaint) }
            return .refused(CodecError(error))
        default: return .failed(CodecError(error))
        }
    }
}
