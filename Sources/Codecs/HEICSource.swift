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
    ///   - part: what the caller will look at, upright; what the bands show elsewhere is undefined. Nil for all.
    ///   - tiles: where the primary picture's tiles are, where the caller has read it; else libheif decodes each by a
    ///     decoder of its own.
    ///   - threads: how many may decode the tiles. The bands are the same for any number.
    ///   - lineAheadBytesMax: where a line of tiles takes more, several threads do not work ahead of the band that the
    ///     caller has. Tiles of 512 rows come to the default at a width of 7800 pixels.
    /// - Throws: `truncated` and `corrupt` for broken files, damaged picture data among them; `unsupported` where the
    ///   primary picture is not HEVC; `outOfMemory` where the picture is over the limits.
    package static func opening(
        _ bytes: UnsafeRawBufferPointer, limits: Limits, colour: ColourDescription? = nil,
        part: PixelRectangle? = nil, tiles: CodedTiles? = nil, threads: Int = 1,
        lineAheadBytesMax: Int = 6_000_000
    ) throws(CodecError) -> HEICSource {
        try HEIFLibrary.prepare()
        let context = try HEIFContext.reading(bytes, limits: limits)
        let handle = try context.primaryHandle()
        try context.checkCoding(of: handle)
        let facts = try HEICFacts(handle, limits: limits, colour: colour)
        let placement = try placement(of: handle, facts, context)
        guard let tiling = handle.tiling, let grid = tileable(tiling, facts, placement) else {
            return try whole(handle, facts, placement)
        }

        try facts.checkMemory(of: grid, tile: tiling.tile)
        var decoder = HEIFDecoder.ffmpeg
        let cell = grid.line(0).cells[0]
        let first = try decode(handle, .tile(column: cell.column, row: cell.row), as: .source, &decoder)
        let colour = facts.colour(coded: first.nclx)
        let planes = try HEICPlanes(first, matrix: colour.matrix)
        _ = try planes.planes(of: first, size: tiling.tile)
        guard let layout = grid.turned(planes.layout) else { return try whole(handle, facts, placement) }
        let format = PictureFormat(size: facts.displaySize, layout: layout, depth: planes.depth, colour: colour)
        let coded = decoder == .ffmpeg ? tiles.flatMap { handle.agrees(with: $0, tiling) ? $0 : nil } : nil
        let threads =
            coded == nil
            ? 1
            : facts.threads(for: grid, tile: tiling.tile, atMost: threads, lineAheadBytesMax: lineAheadBytesMax)
        let canvas = HEICCanvas(
            grid, tile: tiling.tile, planes: planes, format: format, part: part ?? PixelRectangle(all: format.size),
            linesHeld: facts.linesHeld(of: grid, threads: threads, lineAheadBytesMax: lineAheadBytesMax))
        let crew = coded.flatMap { HEICTileCrew.gathering($0, of: bytes, for: canvas, threads: threads) }
        return HEICSource(
            facts, format,
            tiles: HEICTiles(handle, decoder: decoder, canvas: canvas, crew: crew, first: first), whole: nil)
    }

    package mutating func nextBand() throws(CodecError) -> Band? {
        guard tiles != nil else { return whole?.nextBand() }
        return try tiles?.nextBand()
    }

    /// How the picture is shown, or nil where tiles have transformations of their own: those are libheif's matter.
    ///
    /// - Throws: `corrupt` where that is not what the file's size says.
    private static func placement(
        of handle: borrowing HEIFHandle, _ facts: HEICFacts, _ context: borrowing HEIFContext
    ) throws(CodecError) -> HEICPlacement? {
        if let tiling = handle.tiling, tiling.columns > 1 || tiling.rows > 1 {
            let asStored = HEICPlacement(all: tiling.tile)
            for row in 0..<tiling.rows {
                for column in 0..<tiling.columns {
                    guard let item = handle.tileItem(column: column, row: row),
                        context.placement(of: item, size: tiling.tile) == asStored
                    else { return nil }
                }
            }
        }
        guard let placement = context.placement(of: handle.item, size: facts.storedSize),
            placement.displaySize == facts.displaySize
        else { throw CodecError(.corrupt, "transformations that do not fit the picture") }
        return placement
    }

    /// The grid's geometry, where there is more than one tile and all that they cover is shown.
    private static func tileable(_ tiling: HEIFTiling, _ facts: HEICFacts, _ placement: HEICPlacement?) -> HEICGrid? {
        guard tiling.columns > 1 || tiling.rows > 1, !facts.hasAlpha, let placement, placement.size == facts.storedSize
        else { return nil }
        let grid = HEICGrid(tiling, orientation: placement.orientation)
        return grid?.displaySize == facts.displaySize ? grid : nil
    }

    private static func whole(
        _ handle: borrowing HEIFHandle, _ facts: HEICFacts, _ placement: HEICPlacement?
    ) throws(CodecError) -> HEICSource {
        try facts.checkMemoryOfWhole()
        var decoder = HEIFDecoder.ffmpeg
        let target: HEIFTarget = facts.hasAlpha && !facts.coding.isGrey ? .rgb : .source
        let region: HEIFRegion = placement == nil ? .shown : .stored
        let size = placement == nil ? facts.displaySize : facts.storedSize
        if target == .rgb { try check(handle, facts, placement, &decoder) }
        let image = try decode(handle, region, as: target, &decoder)
        var colour = facts.colour(coded: image.nclx)
        if target == .rgb {
            colour.matrix = 0
            colour.isFullRange = true
        }
        let kind = try HEICPlanes(image, matrix: colour.matrix)
        let planes = try kind.planes(of: image, size: size)
        let format = PictureFormat(size: size, layout: kind.layout, depth: kind.depth, colour: colour)
        try kind.checkDecoded(placement?.parts(of: planes, format) ?? planes)
        let alpha =
            facts.hasAlpha
            ? try HEICAlpha(
                image, planes: kind, size: size, isFullRange: colour.isFullRange,
                isPremultiplied: handle.isPremultiplied) : nil
        guard let placement, placement != HEICPlacement(all: size) else {
            return HEICSource(
                facts, format, tiles: nil, whole: HEICWhole(image, planes: planes, format: format, alpha: alpha))
        }
        alpha?.flatten(rows: 0..<size.height)
        let shown = try placement.apply(to: planes, format)
        return HEICSource(facts, shown.format, tiles: nil, whole: shown)
    }

    /// Decodes a picture as it is coded and drops it: once it is RGB nobody sees whether all of it was decoded.
    private static func check(
        _ handle: borrowing HEIFHandle, _ facts: HEICFacts, _ placement: HEICPlacement?, _ decoder: inout HEIFDecoder
    ) throws(CodecError) {
        let size = placement == nil ? facts.displaySize : facts.storedSize
        let image = try decode(handle, placement == nil ? .shown : .stored, as: .source, &decoder)
        let colour = facts.colour(coded: image.nclx)
        let kind = try HEICPlanes(image, matrix: colour.matrix)
        let planes = try kind.planes(of: image, size: size)
        let format = PictureFormat(size: size, layout: kind.layout, depth: kind.depth, colour: colour)
        try kind.checkDecoded(placement?.parts(of: planes, format) ?? planes)
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

extension HEIFHandle {
    /// Whether the caller has found the same tiles in the file as libheif has.
    fileprivate func agrees(with coded: CodedTiles, _ tiling: HEIFTiling) -> Bool {
        guard coded.items.count == tiling.columns * tiling.rows else { return false }
        return coded.items.indices.allSatisfy { index in
            tileItem(column: index % tiling.columns, row: index / tiling.columns) == coded.items[index]
        }
    }
}
