import CHEIF
package import Core

/// The primary picture of a HEIC file, upright, in bands.
///
/// A grid of tiles is decoded by display rows of tiles, so that memory follows the picture's width. Everything else is
/// decoded at once, within the limit: single pictures, cropped ones (clap), ones with alpha, grids whose chroma samples
/// would not lie on one lattice. FFmpeg decodes; what its plug-in does not take, libde265.
package struct HEICSource: BandSource, ~Copyable {
    package let format: PictureFormat
    /// The size as stored (`ispe`), before irot, imir and clap.
    package let storedSize: PixelSize
    /// Whether the picture had alpha; the bands show it over white, in encoded values.
    package let hasAlpha: Bool
    /// The ICC profile that the container holds for the picture or, as some iPhones write it, for its tiles.
    package let iccProfile: [UInt8]?

    private var tiles: HEICTiles?
    private var whole: HEICWhole?

    private init(_ facts: HEICFacts, _ format: PictureFormat, tiles: consuming HEICTiles?, whole: consuming HEICWhole?)
    {
        self.format = format
        storedSize = facts.storedSize
        hasAlpha = facts.hasAlpha
        iccProfile = facts.iccProfile
        self.tiles = tiles
        self.whole = whole
    }

    /// Opens a file and decodes its first tile, or all of a picture that is no grid.
    ///
    /// - Parameters:
    ///   - bytes: the file; the caller keeps it where it is for as long as the source lives.
    ///   - colour: what the container's `colr` box says, where the caller has read it; else libheif is asked.
    /// - Throws: `truncated` and `corrupt` for broken files, damaged picture data among them; `unsupported` where the
    ///   primary picture is not HEVC; `outOfMemory` where the picture is over the limits.
    package static func opening(
        _ bytes: UnsafeRawBufferPointer, limits: Limits, colour: ColourDescription? = nil
    ) throws(CodecError) -> HEICSource {
        try HEIFLibrary.prepare()
        let context = try HEIFContext.reading(bytes, limits: limits)
        let handle = try context.primaryHandle()
        let facts = try HEICFacts(handle, limits: limits, colour: colour)
        guard let tiling = handle.tiling, !facts.hasAlpha, let grid = try tileable(tiling, handle, context),
            grid.displaySize == facts.displaySize
        else { return try whole(handle, context, facts) }

        var decoder = HEIFDecoder.ffmpeg
        let cell = grid.line(0).cells[0]
        let first = try decode(handle, .tile(column: cell.column, row: cell.row), as: .source, &decoder)
        let colour = facts.colour(coded: first.nclx)
        let planes = try HEICPlanes(first, matrix: colour.matrix)
        guard let layout = grid.turned(planes.layout) else { return try whole(handle, context, facts) }
        let format = PictureFormat(size: facts.displaySize, layout: layout, depth: planes.depth, colour: colour)
        let tiles = HEICTiles(
            handle, grid: grid, tile: tiling.tile, decoder: decoder, planes: planes, format: format, first: first)
        return HEICSource(facts, format, tiles: tiles, whole: nil)
    }

    package mutating func nextBand() throws(CodecError) -> Band? {
        guard tiles != nil else { return whole?.nextBand() }
        return try tiles?.nextBand()
    }

    /// The grid's geometry, where its tiles are plain HEVC pictures and nothing but irot and imir is applied to it.
    private static func tileable(
        _ tiling: HEIFTiling, _ handle: borrowing HEIFHandle, _ context: borrowing HEIFContext
    ) throws(CodecError) -> HEICGrid? {
        for row in 0..<tiling.rows {
            for column in 0..<tiling.columns {
                guard let item = handle.tileItem(column: column, row: row) else { return nil }
                guard context.isHEVC(item) else { throw CodecError(.unsupported, "a tile that is not HEVC") }
                guard context.orientation(of: item) == .upright else { return nil }
            }
        }
        return context.orientation(of: handle.item).flatMap { HEICGrid(tiling, orientation: $0) }
    }

    private static func whole(
        _ handle: borrowing HEIFHandle, _ context: borrowing HEIFContext, _ facts: HEICFacts
    ) throws(CodecError) -> HEICSource {
        guard context.isHEVC(handle.item) || context.isGrid(handle.item) else {
            throw CodecError(.unsupported, "a primary item that is not HEVC")
        }
        try facts.checkMemory()
        var decoder = HEIFDecoder.ffmpeg
        let target: HEIFTarget = facts.hasAlpha && !facts.coding.isGrey ? .rgb : .source
        let image = try decode(handle, .whole, as: target, &decoder)
        var colour = facts.colour(coded: image.nclx)
        if target == .rgb {
            colour.matrix = 0
            colour.isFullRange = true
        }
        let kind = try HEICPlanes(image, matrix: colour.matrix)
        let planes = try kind.planes(of: image, size: facts.displaySize)
        let alpha =
            facts.hasAlpha
            ? try HEICAlpha(
                image, planes: kind, size: facts.displaySize, isFullRange: colour.isFullRange,
                isPremultiplied: handle.isPremultiplied) : nil
        let format = PictureFormat(size: facts.displaySize, layout: kind.layout, depth: kind.depth, colour: colour)
        return HEICSource(
            facts, format, tiles: nil, whole: HEICWhole(image, planes: planes, format: format, alpha: alpha))
    }

    /// Decodes by FFmpeg or, where its plug-in refuses, by libde265, silently; says by which.
    private static func decode(
        _ handle: borrowing HEIFHandle, _ region: HEIFRegion, as target: HEIFTarget, _ decoder: inout HEIFDecoder
    ) throws(CodecError) -> HEIFImage {
        do throws(HEIFFailure) {
            decoder = .ffmpeg
            return try handle.decode(region, by: decoder, as: target)
        } catch {
            guard case .refused = error else { throw error.error }
        }
        do throws(HEIFFailure) {
            decoder = .libde265
            return try handle.decode(region, by: decoder, as: target)
        } catch {
            throw error.error
        }
    }
}

/// What a file says of its primary picture, before any of it is decoded.
struct HEICFacts {
    let displaySize: PixelSize
    let storedSize: PixelSize
    let hasAlpha: Bool
    let iccProfile: [UInt8]?
    let coding: (isGrey: Bool, samplesPerPixel: Double, bytesPerSample: Int)
    private let stated: ColourDescription?
    private let limits: Limits

    /// - Throws: `corrupt` where the file does not say how large the picture is; `outOfMemory` where it is too large.
    init(_ handle: borrowing HEIFHandle, limits: Limits, colour: ColourDescription?) throws(CodecError) {
        displaySize = handle.displaySize
        storedSize = handle.storedSize
        hasAlpha = handle.hasAlpha
        iccProfile = try handle.iccProfile()
        coding = handle.coding
        stated = colour ?? handle.nclx
        self.limits = limits
        for size in [displaySize, storedSize] {
            guard size.width > 0, size.height > 0 else { throw CodecError(.corrupt, "no size is stated") }
            guard let pixels = size.pixels, pixels <= limits.pixelsMax else {
                throw CodecError(.outOfMemory, "\(size) is over \(limits.pixelsMax) pixels")
            }
        }
    }

    /// What a whole decode takes: the decoder's picture and libheif's copy; with alpha, R, G, B and alpha twice.
    ///
    /// - Throws: `outOfMemory` where that is more than the worker may have.
    func checkMemory() throws(CodecError) {
        let samples = hasAlpha ? 4 : coding.samplesPerPixel
        let bytes = Double(storedSize.width * storedSize.height) * samples * Double(coding.bytesPerSample) * 2
        guard bytes <= Double(limits.workerBytesMax) else {
            throw CodecError(.outOfMemory, "a whole decode of \(storedSize) takes \(Int(bytes)) bytes")
        }
    }

    /// The picture's colours. Each code point comes from the container's nclx or, where that leaves it unspecified (2),
    /// from the bitstream's VUI, and last from the defaults of MIAF (ISO/IEC 23000-22, section 7.3.6.4). The range is the
    /// container's, else the VUI's, which counts as limited where it is silent (H.265, section E.3.1).
    func colour(coded: ColourDescription?) -> ColourDescription {
        func first(_ keyPath: KeyPath<ColourDescription, UInt16>, _ fallback: UInt16) -> UInt16 {
            for description in [stated, coded] {
                if let value = description?[keyPath: keyPath], value != 2 { return value }
            }
            return fallback
        }
        var transfer = first(\.transfer, 13)
        // An ICC profile says how the picture looks; PQ or HLG in the bitstream alone do not overrule it.
        if iccProfile != nil, stated == nil, coded?.isHDR == true { transfer = 13 }
        return ColourDescription(
            primaries: first(\.primaries, 1), transfer: transfer, matrix: first(\.matrix, 6),
            isFullRange: stated?.isFullRange ?? coded?.isFullRange ?? true)
    }
}
