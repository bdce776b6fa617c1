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
