import CZimg
import Core
import Glibc

/// A zimg filter graph that converts one slice of a picture, with the scratch memory it works in.
struct PlanarGraph: ~Copyable {
    /// The part of a picture that a graph reads and writes.
    struct Shape: Equatable {
        /// Luma columns and rows of the slices, padded.
        var source: PixelSize
        var target: PixelSize
        /// What part of the source slice becomes the target slice, in luma samples; nil for all of it.
        var region: Region?
    }

    struct Region: Equatable {
        var top: Double
        var width: Double
        var height: Double
    }

    private let raw: OpaquePointer
    private let scratch: UnsafeMutableRawPointer

    deinit {
        zimg_filter_graph_free(raw)
        free(scratch)
    }

    private init(adopting raw: OpaquePointer, scratch: UnsafeMutableRawPointer) {
        self.raw = raw
        self.scratch = scratch
    }

    /// - Throws: `unsupported` for numbers whose meaning zimg does not know, `outOfMemory`.
    static func building(
        from source: PictureFormat, to target: PictureFormat, shape: Shape
    ) throws(CodecError) -> PlanarGraph {
        var sourceFormat = zimgFormat(source, size: shape.source)
        var targetFormat = zimgFormat(target, size: shape.target)
        if let region = shape.region {
            sourceFormat.active_region.left = 0
            sourceFormat.active_region.top = region.top
            sourceFormat.active_region.width = region.width
            sourceFormat.active_region.height = region.height
        }
        var parameters = zimg_graph_builder_params()
        zimg_graph_builder_params_default(&parameters, apiVersion)
        parameters.resample_filter = ZIMG_RESIZE_LANCZOS
        parameters.resample_filter_uv = source.size == target.size ? ZIMG_RESIZE_BILINEAR : ZIMG_RESIZE_LANCZOS
        // Fewer bits than the source had: a pattern hides the steps. Ordered, so that a pixel depends on its own place
        // alone. Eight bits have nothing below the last bit to show, and flat areas shall stay flat.
        parameters.dither_type = source.depth > target.depth ? ZIMG_DITHER_ORDERED : ZIMG_DITHER_NONE
        guard let raw = zimg_filter_graph_build(&sourceFormat, &targetFormat, &parameters) else { throw lastError() }
        var size = 0
        guard zimg_filter_graph_get_tmp_size(raw, &size) == ZIMG_ERROR_SUCCESS,
            let scratch = aligned_alloc(64, roundedUp(max(size, 1), to: 64))
        else {
            zimg_filter_graph_free(raw)
            throw CodecError(.outOfMemory, "\(size) bytes for a colour conversion")
        }
        return PlanarGraph(adopting: raw, scratch: scratch)
    }

    /// Reads the rows held by `source`, writes those of `target`; both have the shape that the graph was built for.
    func process(_ source: borrowing PlanarSlice, into target: borrowing PlanarSlice) throws(CodecError) {
        var input = zimg_image_buffer_const()
        var output = zimg_image_buffer()
        input.version = Self.apiVersion
        output.version = Self.apiVersion
        for index in 0..<source.planeCount {
            let plane = source.storage(index)
            czimg_set_source_plane(&input, UInt32(index), plane.base, plane.stride)
        }
        for index in 0..<target.planeCount {
            let plane = target.storage(index)
            czimg_set_target_plane(&output, UInt32(index), plane.base, plane.stride)
        }
        guard zimg_filter_graph_process(raw, &input, &output, scratch, nil, nil, nil, nil) == ZIMG_ERROR_SUCCESS else {
            throw Self.lastError()
        }
    }

    private static let apiVersion = UInt32(ZIMG_API_VERSION_MAJOR << 8 | ZIMG_API_VERSION_MINOR)

    private static func zimgFormat(_ format: PictureFormat, size: PixelSize) -> zimg_image_format {
        var result = zimg_image_format()
        zimg_image_format_default(&result, apiVersion)
        result.width = UInt32(size.width)
        result.height = UInt32(size.height)
        result.pixel_type = format.depth > 8 ? ZIMG_PIXEL_WORD : ZIMG_PIXEL_BYTE
        result.depth = UInt32(format.depth)
        result.pixel_range = format.colour.isFullRange ? ZIMG_RANGE_FULL : ZIMG_RANGE_LIMITED
        // Everything is taken as centred: JFIF is (T.871, section 9), HEIF writers leave the HEVC location at its
        // default without meaning it, and decoders ignore it. So a picture that is converted and one whose planes are
        // carried over as they are have their chroma in the same place.
        result.chroma_location = ZIMG_CHROMA_CENTER
        switch format.layout {
        case .grey:
            result.color_family = ZIMG_COLOR_GREY
        case .rgb:
            result.color_family = ZIMG_COLOR_RGB
            result.matrix_coefficients = ZIMG_MATRIX_RGB
        case .ycbcr(let chroma):
            result.color_family = ZIMG_COLOR_YUV
            result.subsample_w = UInt32(chroma.horizontal.trailingZeroBitCount)
            result.subsample_h = UInt32(chroma.vertical.trailingZeroBitCount)
            result.matrix_coefficients = .init(rawValue: Int32(format.colour.matrix))
        }
        return result
    }

    /// Copies the thread's last message at once.
    private static func lastError() -> CodecError {
        let message = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
            text.initialize(repeating: 0)
            let code = zimg_get_last_error(text.baseAddress, text.count - 1)
            return (code, text.baseAddress.map { String(cString: $0) } ?? "")
        }
        let kind: CodecError.Kind = message.0 == ZIMG_ERROR_OUT_OF_MEMORY ? .outOfMemory : .unsupported
        return CodecError(kind, "zimg: \(message.1)")
    }
}
