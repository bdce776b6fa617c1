import CAVLog
import CHEVC
import Core

/// Owns a decoder of FFmpeg that takes tile after tile of one grid. It takes only what it surely decodes as libheif
/// with FFmpeg's plug-in would; everything else it leaves to that.
struct HEVCDecoder: ~Copyable {
    private let raw: OpaquePointer

    private init(adopting raw: OpaquePointer) { self.raw = raw }

    deinit { chevc_decoder_free(raw) }

    /// - Parameter configuration: the content of the tiles' `hvcC` box.
    /// - Returns: nil where there is no such FFmpeg, or no memory.
    static func opening(_ configuration: UnsafeRawBufferPointer) -> HEVCDecoder? {
        let bytes = configuration.bindMemory(to: UInt8.self)
        return chevc_decoder_create(bytes.baseAddress, bytes.count).map { HEVCDecoder(adopting: $0) }
    }

    /// Decodes one tile and shows its planes to `body`; they are gone afterwards.
    ///
    /// - Parameters:
    ///   - pieces: the tile's bytes, in pieces that belong together.
    ///   - kind: the planes that are wanted.
    ///   - mayHaveSlices: whether a tile of several slices is taken; else it is libheif's matter.
    /// - Returns: false where this tile is not one for this decoder, or is damaged. Then the decoder must be let go.
    func decode(
        _ pieces: [UnsafeRawBufferPointer], as kind: HEICPlanes, size: PixelSize,
        mayHaveSlices: Bool = HEIFLibrary.passesEverySlice, _ body: ([Plane]) -> Bool
    ) -> Bool {
        let count = pieces.reduce(0) { $0 + $1.count }
        guard let input = chevc_decoder_input(raw, count) else { return false }
        let units = UnsafeMutableRawBufferPointer(start: input, count: count)
        var filled = 0
        for piece in pieces {
            UnsafeMutableRawBufferPointer(rebasing: units[filled...]).copyMemory(from: piece)
            filled += piece.count
        }
        guard HEVCUnits.isPicturePlain(.init(units), mayHaveSlices: mayHaveSlices) else { return false }
        var picture = chevc_picture()
        cavlog_clear()
        guard chevc_decoder_decode(raw, &picture) == 0, cavlog_complaint() == nil,
            let planes = planes(of: picture, as: kind, size: size), body(planes)
        else { return false }
        chevc_decoder_wipe(raw)
        return true
    }

    private func planes(of picture: chevc_picture, as kind: HEICPlanes, size: PixelSize) -> [Plane]? {
        guard kind.chromaFormat == Int(picture.chroma), kind.depth == Int(picture.depth),
            Int(picture.width) == size.width, Int(picture.height) == size.height
        else { return nil }
        let bases = [picture.base.0, picture.base.1, picture.base.2]
        let strides = [picture.stride.0, picture.stride.1, picture.stride.2]
        var planes: [Plane] = []
        for index in kind.channels.indices {
            guard let base = bases[index] else { return nil }
            let size = index == 0 ? size : kind.subsampling.chromaSize(of: size)
            planes.append(
                Plane(base: UnsafeRawPointer(base), stride: strides[index], width: size.width, height: size.height))
        }
        return planes
    }
}

extension HEICPlanes {
    /// HEVC's number for planes that are coded as they are shown (H.265, table 6-1); nil for R, G and B.
    fileprivate var chromaFormat: Int? {
        switch layout {
        case .grey: 0
        case .ycbcr(.s420): 1
        case .ycbcr(.s422): 2
        case .ycbcr(.s444): 3
        case .ycbcr, .rgb: nil
        }
    }
}
