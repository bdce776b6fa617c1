package import Core

/// A picture of a HEIF file: one HEVC item, or a grid of them (ISO/IEC 23008-12, section 6.6.2.3).
package struct HEIFPicture: Sendable, Equatable {
    package let id: UInt32
    /// As declared (`ispe`), before rotation, mirroring and clean aperture.
    package let size: PixelSize
    /// The tiles, or nil where the picture is one item.
    package let grid: HEIFGrid?
    /// Of the item, or of all tiles alike.
    package let format: HEVCFormat
}

/// Tiles in rows from the top left. Each row and each column holds a part of the picture; the last ones may hang over.
package struct HEIFGrid: Sendable, Equatable {
    package let columns: Int
    package let rows: Int
    package let tileSize: PixelSize
    /// Item numbers by rows, `columns * rows` of them.
    package let tiles: [UInt32]
    /// The bytes of each tile.
    package let data: [Extents]
    /// The content of the box `hvcC` that all tiles share; nil where they do not share one.
    package let configuration: Range<Int>?
}

extension HEIFPicture {
    /// Checks all that a decoder will rely on.
    ///
    /// - Throws: `corrupt`, `truncated`, `too_many_pixels`; `unsupported_media_type` where the coding is not HEVC.
    init(_ id: UInt32, of meta: HEIFMeta, in bytes: Span<UInt8>, limits: Limits) throws(Failure) {
        guard let item = meta.items[id] else { throw Failure(.corrupt, "HEIF: there is no item \(id)") }
        guard item.type == "hvc1" || item.type == "grid" else {
            throw Failure(
                .unsupportedMedia, "HEIF: the picture is coded as '\(item.type.text)'; 'hvc1' or a grid of it is read")
        }
        guard let size = item.size else { throw Failure(.corrupt, "HEIF: item \(id) has no property 'ispe'") }
        try limits.check(size, "the picture")
        let data = try meta.extents(of: id, in: bytes)
        self.id = id
        self.size = size
        if item.type == "grid" {
            let grid = try HEIFGrid(id, data: data, size: size, of: meta, in: bytes, limits: limits)
            self.grid = grid
            format = try HEIFPicture.commonFormat(of: grid, meta, bytes)
        } else {
            grid = nil
            format = try HEIFPicture.format(of: id, size, isTile: false, meta, bytes)
        }
    }

    /// What the decoder of an item is told, once that is found to speak of a picture of `size`.
    private static func format(
        of id: UInt32, _ size: PixelSize, isTile: Bool, _ meta: HEIFMeta, _ bytes: Span<UInt8>
    ) throws(Failure) -> HEVCFormat {
        guard let configuration = meta.items[id]?.configuration else {
            throw Failure(.corrupt, "HEIF: item \(id) has no property 'hvcC'")
        }
        try configuration.check(size, of: id, isTile: isTile, data: try meta.extents(of: id, in: bytes), in: bytes)
        return configuration.format
    }

    private static func commonFormat(
        of grid: HEIFGrid, _ meta: HEIFMeta, _ bytes: Span<UInt8>
    ) throws(Failure) -> HEVCFormat {
        var common: HEVCFormat?
        // One tile may fill many cells.
        for id in Set(grid.tiles).sorted() {
            let format = try format(of: id, grid.tileSize, isTile: true, meta, bytes)
            guard common == nil || common == format else {
                throw Failure(.corrupt, "HEIF: the tiles differ in chroma format or depth")
            }
            common = format
        }
        guard let common else { throw Failure(.corrupt, "HEIF: the grid has no tiles") }
        return common
    }
}

extension HEIFGrid {
    /// - Parameter size: the grid item's `ispe`.
    fileprivate init(
        _ id: UInt32, data: Extents, size: PixelSize, of meta: HEIFMeta, in bytes: Span<UInt8>, limits: Limits
    ) throws(Failure) {
        let wide = (data.byte(at: 1, in: bytes) ?? 0) & 1 == 1
        let field = wide ? 4 : 2
        guard data.byte(at: 0, in: bytes) == 0, let rows = data.byte(at: 2, in: bytes),
            let columns = data.byte(at: 3, in: bytes), let width = data.bigEndian(field, at: 4, in: bytes),
            let height = data.bigEndian(field, at: 4 + field, in: bytes)
        else { throw Failure(.corrupt, "HEIF: the grid's description is too short or of another version") }
        self.rows = rows + 1
        self.columns = columns + 1
        guard PixelSize(width: width, height: height) == size else {
            throw Failure(.corrupt, "HEIF: the grid is \(width)x\(height) pixels large, its 'ispe' says \(size)")
        }
        tiles = meta.references.targets("dimg", from: id)
        guard tiles.count == self.rows * self.columns else {
            throw Failure(.corrupt, "HEIF: the grid has \(self.columns)x\(self.rows) cells and \(tiles.count) tiles")
        }
        tileSize = try HEIFGrid.tileSize(of: tiles, meta)
        var data: [Extents] = []
        for id in tiles { data.append(try meta.extents(of: id, in: bytes)) }
        self.data = data
        configuration = HEIFGrid.configuration(of: tiles, meta)
        try checkCover(of: size, limits: limits)
    }

    private static func configuration(of tiles: [UInt32], _ meta: HEIFMeta) -> Range<Int>? {
        let first = tiles.first.flatMap { meta.items[$0]?.configurationContent }
        return tiles.allSatisfy { meta.items[$0]?.configurationContent == first } ? first : nil
    }

    /// The size that all tiles share, each of them a HEVC item.
    private static func tileSize(of tiles: [UInt32], _ meta: HEIFMeta) throws(Failure) -> PixelSize {
        var common: PixelSize?
        for id in tiles {
            guard let tile = meta.items[id], let size = tile.size else {
                throw Failure(.corrupt, "HEIF: tile \(id) has no property 'ispe'")
            }
            guard tile.type == "hvc1" else {
                throw Failure(.unsupportedMedia, "HEIF: the tiles are coded as '\(tile.type.text)'; 'hvc1' is read")
            }
            guard common == nil || common == size else {
                throw Failure(.corrupt, "HEIF: tile \(id) is \(size) pixels large, others \(common ?? size)")
            }
            common = size
        }
        return common ?? PixelSize(width: 0, height: 0)
    }

    /// The tiles cover the picture, none of them lies wholly outside, and what must be decoded meets the limit too.
    private func checkCover(of size: PixelSize, limits: Limits) throws(Failure) {
        guard tileSize.width > 0, tileSize.height > 0 else { throw Failure(.corrupt, "HEIF: the tiles are empty") }
        let covered = PixelSize(width: columns * tileSize.width, height: rows * tileSize.height)
        guard covered.width >= size.width, covered.height >= size.height else {
            throw Failure(.corrupt, "HEIF: the tiles cover \(covered) of \(size) pixels")
        }
        guard covered.width - tileSize.width < size.width, covered.height - tileSize.height < size.height else {
            throw Failure(.corrupt, "HEIF: tiles of \(tileSize) pixels lie outside the picture of \(size)")
        }
        try limits.check(covered, "the grid with its overhang")
    }
}

extension HEIFMeta.Item {
    var size: PixelSize? {
        for case .size(let size) in properties { return size }
        return nil
    }

    var configuration: HEVCConfiguration? {
        for case .hevc(let configuration) in properties { return configuration }
        return nil
    }

    /// The content of the box `hvcC`. Nil where there is more than one: readers may differ in which of them counts.
    var configurationContent: Range<Int>? {
        var found: [Range<Int>] = []
        for case .hevc(let configuration) in properties { found.append(configuration.content) }
        return found.count == 1 ? found[0] : nil
    }

    var auxiliaryType: String? {
        for case .auxiliaryType(let type) in properties { return type }
        return nil
    }
}
