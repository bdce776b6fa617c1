import CAVLog
import CHEIF
import Core

/// Owns a `heif_context`. The caller keeps the file's bytes where they are for as long as the context or a handle of it
/// lives.
struct HEIFContext: ~Copyable {
    /// Cells of a grid, and items of a file: the largest phone photos have 800.
    private static let itemsMax = 4096

    private let raw: OpaquePointer

    private init(adopting raw: OpaquePointer) { self.raw = raw }

    deinit { heif_context_free(raw) }

    /// Reads the boxes of a file; its pictures' data is left where it is.
    static func reading(_ bytes: UnsafeRawBufferPointer, limits: Limits) throws(CodecError) -> HEIFContext {
        guard let raw = heif_context_alloc() else { throw CodecError(.outOfMemory, "heif_context_alloc") }
        let context = HEIFContext(adopting: raw)
        context.apply(limits)
        // Tiles are asked for one by one; threads of libheif's own would also hide FFmpeg's complaints (see CAVLog).
        heif_context_set_max_decoding_threads(raw, 0)
        try check(heif_context_read_from_memory_without_copy(raw, bytes.baseAddress, bytes.count, nil))
        return context
    }

    /// Sets the limits in place, since a newer libheif has more of them than this one's header knows.
    private func apply(_ limits: Limits) {
        guard let bounds = heif_context_get_security_limits(raw) else { return }
        bounds.pointee.max_image_size_pixels = UInt64(limits.pixelsMax)
        bounds.pointee.max_number_of_tiles = UInt64(Self.itemsMax)
        bounds.pointee.max_items = UInt32(Self.itemsMax)
        bounds.pointee.max_color_profile_size = 4 << 20
        bounds.pointee.max_memory_block_size = UInt64(limits.workerBytesMax)
        cheif_limit_total_memory(bounds, UInt64(limits.workerBytesMax))
    }

    func primaryHandle() throws(CodecError) -> HEIFHandle {
        var handle: OpaquePointer?
        try check(heif_context_get_primary_image_handle(raw, &handle))
        guard let handle else { throw CodecError(.corrupt, "no primary item") }
        return HEIFHandle(adopting: handle)
    }

    /// - Throws: `unsupported` where a picture is neither an HEVC item nor a grid of such items; `outOfMemory` where
    ///   the grid has too many.
    func checkCoding(of picture: borrowing HEIFHandle) throws(CodecError) {
        guard heif_item_get_item_type(raw, picture.item) == Self.code("grid") else {
            return try checkHEVC(picture.item)
        }
        guard let tiling = picture.tiling else { throw CodecError(.corrupt, "a grid without cells") }
        let (tiles, overflow) = tiling.columns.multipliedReportingOverflow(by: tiling.rows)
        guard !overflow, tiles <= Self.itemsMax else { throw CodecError(.outOfMemory, "\(tiles) cells in a grid") }
        for row in 0..<tiling.rows {
            for column in 0..<tiling.columns {
                guard let item = picture.tileItem(column: column, row: row) else {
                    throw CodecError(.corrupt, "a grid without its cell \(column),\(row)")
                }
                try checkHEVC(item)
            }
        }
    }

    private func checkHEVC(_ item: heif_item_id) throws(CodecError) {
        guard heif_item_get_item_type(raw, item) == Self.code("hvc1") else {
            throw CodecError(.unsupported, "a picture that is not HEVC")
        }
    }

    private static func code(_ name: StaticString) -> UInt32 {
        name.withUTF8Buffer { $0.reduce(0) { code, byte in code << 8 | UInt32(byte) } }
    }

    /// How an item's clap, irot and imir, in their order, show its picture of `size`; nil where one of them is unknown
    /// here or does not fit the picture.
    func placement(of item: heif_item_id, size: PixelSize) -> HEICPlacement? {
        var placement = HEICPlacement(all: size)
        let count = heif_item_get_transformation_properties(raw, item, nil, 0)
        guard count > 0 else { return count == 0 ? placement : nil }
        var properties = [heif_property_id](repeating: 0, count: Int(count))
        guard heif_item_get_transformation_properties(raw, item, &properties, count) == count else { return nil }
        for property in properties {
            guard let next = apply(property, of: item, to: placement) else { return nil }
            placement = next
        }
        return placement
    }

    private func apply(
        _ property: heif_property_id, of item: heif_item_id, to placement: HEICPlacement
    ) -> HEICPlacement? {
        switch heif_item_get_property_type(raw, item, property) {
        case heif_item_property_type_transform_rotation:
            let degrees = heif_item_get_property_transform_rotation_ccw(raw, item, property)
            return degrees >= 0 ? placement.turned(Orientation(irot: UInt8(degrees / 90))) : nil
        case heif_item_property_type_transform_mirror:
            switch heif_item_get_property_transform_mirror(raw, item, property) {
            case heif_transform_mirror_direction_vertical: return placement.turned(Orientation(imir: 0))
            case heif_transform_mirror_direction_horizontal: return placement.turned(Orientation(imir: 1))
            default: return nil
            }
        case heif_item_property_type_transform_crop: return crop(placement, by: property, of: item)
        default: return nil
        }
    }

    private func crop(
        _ placement: HEICPlacement, by property: heif_property_id, of item: heif_item_id
    ) -> HEICPlacement? {
        let size = placement.displaySize
        guard let width = Int32(exactly: size.width), let height = Int32(exactly: size.height) else { return nil }
        var (left, top, right, bottom): (Int32, Int32, Int32, Int32) = (-1, -1, -1, -1)
        heif_item_get_property_transform_crop_borders(raw, item, property, width, height, &left, &top, &right, &bottom)
        return placement.cropped(left: Int(left), top: Int(top), right: Int(right), bottom: Int(bottom))
    }
}

/// Owns a `heif_image_handle`: one picture of a file, not yet decoded.
struct HEIFHandle: ~Copyable {
    private let raw: OpaquePointer

    fileprivate init(adopting raw: OpaquePointer) { self.raw = raw }

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

/// Owns a `heif_image`: decoded planes.
struct HEIFImage: ~Copyable {
    private let raw: OpaquePointer

    fileprivate init(adopting raw: OpaquePointer) { self.raw = raw }

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
    fileprivate init?(adopting profile: UnsafeMutablePointer<heif_color_profile_nclx>?) {
        guard let profile else { return nil }
        defer { heif_nclx_color_profile_free(profile) }
        self.init(
            primaries: UInt16(truncatingIfNeeded: profile.pointee.color_primaries.rawValue),
            transfer: UInt16(truncatingIfNeeded: profile.pointee.transfer_characteristics.rawValue),
            matrix: UInt16(truncatingIfNeeded: profile.pointee.matrix_coefficients.rawValue),
            isFullRange: profile.pointee.full_range_flag != 0)
    }
}
