import CHEIF
package import Core

/// Makes HEIC files with libheif and x265: the test pattern, in any of the shapes that phones and cameras write.
package struct HEICPicture: Sendable {
    package enum Chroma: Sendable, CaseIterable {
        case grey, s420, s422, s444
    }

    /// A call of libheif that failed, and its words.
    package struct Failed: Error {
        package let message: String
    }

    /// As stored; turned by `orientation` on the display.
    package var size: PixelSize
    package var chroma = Chroma.s420
    package var depth = 8
    /// The size of a grid's cells; nil for a single item.
    package var tile: PixelSize?
    package var orientation = Orientation.upright
    /// The part that is shown, before it is turned (`clap`); of grids and of pictures that are not turned.
    package var part: Part?
    /// Written to a `colr` box of type nclx, and to the bitstream.
    package var nclx: ColourDescription?
    /// Written to a `colr` box of type prof: on the tiles, where there are any.
    package var icc: [UInt8] = []
    /// The opacity at a pixel, of 255; nil for none.
    package var alpha: (@Sendable (_ x: Int, _ y: Int) -> UInt8)?
    package var isPremultiplied = false
    /// Adds noise, coded with many quantiser steps: so that damage to the data soon breaks the code's rules.
    package var isTextured = false
    /// Fills with zeros what is not shown beyond the edge of a grid, as Xiaomi's encoder does, or of `part`.
    package var isEmptyOutside = false
    /// EXIF items of the picture, each a TIFF structure.
    package var exif: [[UInt8]] = []
    /// Slices of the single item, or of each cell.
    package var slices = 1

    /// A rectangle of whole pixels.
    package struct Part: Sendable, CustomStringConvertible {
        package var left: Int
        package var top: Int
        package var size: PixelSize

        package init(_ left: Int, _ top: Int, _ width: Int, _ height: Int) {
            self.left = left
            self.top = top
            size = PixelSize(width: width, height: height)
        }

        package var description: String { "\(size) at \(left),\(top)" }
    }

    package init(_ width: Int, _ height: Int) { size = PixelSize(width: width, height: height) }

    /// The sample that is encoded at a place of plane `index`, in the plane's own co-ordinates: full-range BT.601 of
    /// the test pattern.
    package func sample(plane index: Int, x: Int, y: Int) -> Int {
        let step = index == 0 ? (x: 1, y: 1) : chroma.step
        let pattern = TestPattern(size.width, size.height)
        let (r, g, b) = pattern.rgb(x: min(x * step.x, size.width - 1), y: min(y * step.y, size.height - 1))
        let (red, green, blue) = (Double(r), Double(g), Double(b))
        let value =
            switch index {
            case 0: 0.299 * red + 0.587 * green + 0.114 * blue
            case 1: 128 - 0.168736 * red - 0.331264 * green + 0.5 * blue
            default: 128 + 0.5 * red - 0.418688 * green - 0.081312 * blue
            }
        let hash: Int = x * 7919 + y * 104_729 + x * y * 31
        let noise = isTextured ? Double(hash % 49 - 24) : 0
        return Int(((value + noise) * Double(1 << (depth - 8))).rounded())
    }

    /// The file.
    package func make() throws -> [UInt8] {
        try Self.loadPlugins.get()
        let context = try Handle(heif_context_alloc(), heif_context_free)
        var encoder: OpaquePointer?
        try check(heif_context_get_encoder_for_format(context.raw, heif_compression_HEVC, &encoder))
        let owned = try Handle(encoder, heif_encoder_release)
        try check(heif_encoder_set_lossy_quality(owned.raw, isTextured ? 60 : 90))
        var parameters = [("preset", isTextured ? "slow" : "ultrafast")]
        if isTextured { parameters += [("x265:qg-size", "8"), ("x265:aq-strength", "3"), ("x265:ctu", "16")] }
        if chroma != .grey { parameters.append(("chroma", chroma.name)) }
        if slices > 1 { parameters.append(("x265:slices", "\(slices)")) }
        for (name, value) in parameters { try check(heif_encoder_set_parameter_string(owned.raw, name, value)) }
        try encode(into: context, by: owned)
        return try write(context)
    }

    private func encode(into context: borrowing Handle, by encoder: borrowing Handle) throws {
        guard let options = heif_encoding_options_alloc() else { throw Failed(message: "no memory") }
        defer { heif_encoding_options_free(options) }
        options.pointee.save_two_colr_boxes_when_ICC_and_nclx_available = 1
        let profile = heif_nclx_color_profile_alloc()
        defer { heif_nclx_color_profile_free(profile) }
        if let nclx, let profile {
            fill(profile, nclx)
            options.pointee.output_nclx_profile = profile
        } else {
            options.pointee.macOS_compatibility_workaround_no_nclx_profile = 1
        }
        guard let tile else {
            let orientation = heif_orientation(rawValue: UInt32(orientation.rawValue))
            options.pointee.image_orientation = orientation
            let image = try image(PixelSize(width: 0, height: 0), size)
            var single: OpaquePointer?
            try check(heif_context_encode_image(context.raw, image.raw, encoder.raw, options, &single))
            let handle = try Handle(single) { heif_image_handle_release($0) }
            try describe(handle, in: context)
            return try crop(heif_image_handle_get_item_id(handle.raw), in: context)
        }
        let columns = (size.width + tile.width - 1) / tile.width
        let rows = (size.height + tile.height - 1) / tile.height
        var grid: OpaquePointer?
        try check(
            heif_context_add_grid_image(
                context.raw, UInt32(size.width), UInt32(size.height), UInt32(columns), UInt32(rows), options, &grid))
        let handle = try Handle(grid) { heif_image_handle_release($0) }
        for row in 0..<rows {
            for column in 0..<columns {
                let tileImage = try image(PixelSize(width: column * tile.width, height: row * tile.height), tile)
                try check(
                    heif_context_add_image_tile(
                        context.raw, handle.raw, UInt32(column), UInt32(row), tileImage.raw, encoder.raw))
            }
        }
        try describe(handle, in: context)
        try crop(heif_image_handle_get_item_id(handle.raw), in: context)
        try turn(heif_image_handle_get_item_id(handle.raw), in: context)
        try check(heif_context_set_primary_image(context.raw, handle.raw))
    }

    private func describe(_ handle: borrowing Handle, in context: borrowing Handle) throws {
        for block in exif {
            try check(heif_context_add_exif_metadata(context.raw, handle.raw, block, Int32(block.count)))
        }
    }

    /// Width, height and how far the centres lie apart, each as numerator and denominator (ISO/IEC 14496-12, section
    /// 12.1.4).
    private func crop(_ item: heif_item_id, in context: borrowing Handle) throws {
        guard let part else { return }
        let fields = [
            part.size.width, 1, part.size.height, 1, 2 * part.left + part.size.width - size.width, 2,
            2 * part.top + part.size.height - size.height, 2,
        ]
        let bytes = fields.flatMap { field in
            withUnsafeBytes(of: Int32(field).bigEndian) { Array($0) }
        }
        let code = "clap".utf8.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        try check(heif_item_add_raw_property(context.raw, item, code, nil, bytes, bytes.count, 1, nil))
    }

    /// libheif writes no irot and imir for grids: they are added as raw properties, as ISO/IEC 23008-12 has them.
    private func turn(_ item: heif_item_id, in context: borrowing Handle) throws {
        let (irot, imir): (UInt8?, UInt8?) =
            switch orientation {
            case .upright: (nil, nil)
            case .mirrored: (nil, 1)
            case .rotated180: (2, nil)
            case .flipped: (nil, 0)
            case .transposed: (3, 1)
            case .rotated90: (3, nil)
            case .transversed: (3, 0)
            case .rotated270: (1, nil)
            }
        for (name, value) in [("irot", irot), ("imir", imir)] {
            guard let value else { continue }
            let code = name.utf8.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            try check(heif_item_add_raw_property(context.raw, item, code, nil, [value], 1, 1, nil))
        }
    }

    /// A piece of the picture; what lies over its edge repeats the edge.
    private func image(_ origin: PixelSize, _ size: PixelSize) throws -> Handle {
        var raw: OpaquePointer?
        let colourspace = chroma == .grey ? heif_colorspace_monochrome : heif_colorspace_YCbCr
        try check(heif_image_create(Int32(size.width), Int32(size.height), colourspace, chroma.code, &raw))
        let image = try Handle(raw) { heif_image_release($0) }
        let channels = [heif_channel_Y, heif_channel_Cb, heif_channel_Cr].prefix(chroma == .grey ? 1 : 3)
        for (index, channel) in channels.enumerated() {
            let step = index == 0 ? (x: 1, y: 1) : chroma.step
            let start = PixelSize(width: origin.width / step.x, height: origin.height / step.y)
            let part = PixelSize(
                width: (size.width + step.x - 1) / step.x, height: (size.height + step.y - 1) / step.y)
            try fill(image, channel, part, depth) { x, y in
                let (x, y) = (start.width + x, start.height + y)
                return isEmptyOutside && isOutside(x * step.x, y * step.y) ? 0 : sample(plane: index, x: x, y: y)
            }
        }
        if let alpha {
            try fill(image, heif_channel_Alpha, size, 8) { x, y in Int(alpha(x, y)) }
            heif_image_set_premultiplied_alpha(image.raw, isPremultiplied ? 1 : 0)
        }
        if !icc.isEmpty { try check(heif_image_set_raw_color_profile(image.raw, "prof", icc, icc.count)) }
        if let nclx, let profile = heif_nclx_color_profile_alloc() {
            defer { heif_nclx_color_profile_free(profile) }
            fill(profile, nclx)
            try check(heif_image_set_nclx_color_profile(image.raw, profile))
        }
        return image
    }

    private func isOutside(_ x: Int, _ y: Int) -> Bool {
        let shown = part ?? Part(0, 0, size.width, size.height)
        return x >= shown.left + shown.size.width || y >= shown.top + shown.size.height
    }

    private func fill(
        _ image: borrowing Handle, _ channel: heif_channel, _ size: PixelSize, _ depth: Int,
        _ sample: (_ x: Int, _ y: Int) -> Int
    ) throws {
        try check(heif_image_add_plane(image.raw, channel, Int32(size.width), Int32(size.height), Int32(depth)))
        var stride: Int32 = 0
        guard let base = heif_image_get_plane(image.raw, channel, &stride) else { throw Failed(message: "no plane") }
        for y in 0..<size.height {
            let row = UnsafeMutableRawPointer(base + y * Int(stride))
            for x in 0..<size.width {
                if depth > 8 {
                    row.storeBytes(of: UInt16(sample(x, y)), toByteOffset: x * 2, as: UInt16.self)
                } else {
                    row.storeBytes(of: UInt8(clamping: sample(x, y)), toByteOffset: x, as: UInt8.self)
                }
            }
        }
    }

    private func fill(_ profile: UnsafeMutablePointer<heif_color_profile_nclx>, _ colour: ColourDescription) {
        profile.pointee.color_primaries = heif_color_primaries(rawValue: UInt32(colour.primaries))
        profile.pointee.transfer_characteristics = heif_transfer_characteristics(rawValue: UInt32(colour.transfer))
        profile.pointee.matrix_coefficients = heif_matrix_coefficients(rawValue: UInt32(colour.matrix))
        profile.pointee.full_range_flag = colour.isFullRange ? 1 : 0
    }

    private func write(_ context: borrowing Handle) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var writer = heif_writer()
        writer.writer_api_version = 1
        writer.write = { _, data, size, target in
            if let target, let data {
                target.assumingMemoryBound(to: [UInt8].self).pointee += UnsafeRawBufferPointer(start: data, count: size)
            }
            // libheif wants words for success, too, and keeps the pointer.
            let success: StaticString = "Success"
            let words = UnsafeRawPointer(success.utf8Start).assumingMemoryBound(to: CChar.self)
            return heif_error(code: heif_error_Ok, subcode: heif_suberror_Unspecified, message: words)
        }
        try withUnsafeMutablePointer(to: &bytes) { try check(heif_context_write(context.raw, &writer, $0)) }
        return bytes
    }

    private static let loadPlugins = Result<Void, any Error> { try check(heif_init(nil)) }
}

extension HEICPicture.Chroma {
    /// Luma columns and rows for each chroma sample.
    package var step: (x: Int, y: Int) {
        switch self {
        case .grey, .s444: (1, 1)
        case .s422: (2, 1)
        case .s420: (2, 2)
        }
    }

    fileprivate var name: String {
        switch self {
        case .grey: ""
        case .s420: "420"
        case .s422: "422"
        case .s444: "444"
        }
    }

    fileprivate var code: heif_chroma {
        switch self {
        case .grey: cheif_chroma_grey
        case .s420: heif_chroma_420
        case .s422: heif_chroma_422
        case .s444: heif_chroma_444
        }
    }
}

/// A picture decoded by libheif at once, by libde265 and with libheif's own turning: what bands are compared with.
package struct HEICReference: Sendable {
    package let size: PixelSize
    /// Rows without padding; two bytes a sample where the depth is above 8.
    package let planes: [[UInt8]]
    package let chroma: HEICPicture.Chroma

    package init(decoding bytes: [UInt8]) throws {
        try check(heif_init(nil))
        let context = try Handle(heif_context_alloc(), heif_context_free)
        var raw: OpaquePointer?
        try check(heif_context_read_from_memory(context.raw, bytes, bytes.count, nil))
        try check(heif_context_get_primary_image_handle(context.raw, &raw))
        let handle = try Handle(raw) { heif_image_handle_release($0) }
        guard let options = heif_decoding_options_alloc() else { throw HEICPicture.Failed(message: "no memory") }
        defer { heif_decoding_options_free(options) }
        cheif_keep_colours(options)
        var decoded: OpaquePointer?
        try "libde265".withCString { name in
            options.pointee.decoder_id = name
            try check(
                heif_decode_image(handle.raw, &decoded, heif_colorspace_undefined, heif_chroma_undefined, options))
        }
        let image = try Handle(decoded) { heif_image_release($0) }
        let chroma = heif_image_get_chroma_format(image.raw)
        guard let known = HEICPicture.Chroma.allCases.first(where: { $0.code == chroma }) else {
            throw HEICPicture.Failed(message: "chroma \(chroma)")
        }
        self.chroma = known
        size = PixelSize(
            width: Int(heif_image_get_primary_width(image.raw)), height: Int(heif_image_get_primary_height(image.raw)))
        planes = try [heif_channel_Y, heif_channel_Cb, heif_channel_Cr].prefix(known == .grey ? 1 : 3).map { channel in
            var stride: Int32 = 0
            guard let base = heif_image_get_plane_readonly(image.raw, channel, &stride) else {
                throw HEICPicture.Failed(message: "no plane")
            }
            let bytes = heif_image_get_bits_per_pixel_range(image.raw, channel) > 8 ? 2 : 1
            let count = Int(heif_image_get_width(image.raw, channel)) * bytes
            return (0..<Int(heif_image_get_height(image.raw, channel))).flatMap { row in
                UnsafeBufferPointer(start: base + row * Int(stride), count: count)
            }
        }
    }
}

/// Owns an object of libheif.
private struct Handle: ~Copyable {
    let raw: OpaquePointer
    private let free: (OpaquePointer) -> Void

    init(_ raw: OpaquePointer?, _ free: @escaping (OpaquePointer) -> Void) throws {
        guard let raw else { throw HEICPicture.Failed(message: "no object") }
        self.raw = raw
        self.free = free
    }

    deinit { free(raw) }
}

private func check(_ error: heif_error) throws {
    guard error.code != heif_error_Ok else { return }
    throw HEICPicture.Failed(message: error.message.map { String(cString: $0) } ?? "\(error.code)")
}
