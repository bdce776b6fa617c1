import Core

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
    func checkMemoryOfWhole() throws(CodecError) {
        try check(
            pixels: 2 * storedSize.width * storedSize.height, samplesPerPixel: hasAlpha ? 4 : coding.samplesPerPixel)
    }

    /// What bands take: the lines that are worked on, and for each thread a tile twice.
    ///
    /// - Throws: `outOfMemory` where that is more than the worker may have.
    func checkMemory(of grid: HEICGrid, tile: PixelSize, lines: Int = 1, threads: Int = 1) throws(CodecError) {
        guard let tilePixels = tile.pixels, tilePixels <= limits.pixelsMax else {
            throw CodecError(.outOfMemory, "tiles of \(tile) are over \(limits.pixelsMax) pixels")
        }
        let pixels = lines * displaySize.width * grid.lineRowsMax + 2 * threads * tilePixels
        try check(pixels: pixels, samplesPerPixel: coding.samplesPerPixel)
    }

    /// As many threads as there is memory for.
    func threads(for grid: HEICGrid, tile: PixelSize, atMost count: Int, lineAheadBytesMax: Int) -> Int {
        let lines = linesHeld(of: grid, threads: count, lineAheadBytesMax: lineAheadBytesMax)
        guard count > 1, (try? checkMemory(of: grid, tile: tile, lines: lines, threads: count)) != nil else { return 1 }
        return count
    }

    /// How many lines are worked on at once: with a second one helpers need not stand still while the caller looks at a
    /// finished band, which is worth some memory, but not any amount.
    func linesHeld(of grid: HEICGrid, threads: Int, lineAheadBytesMax: Int) -> Int {
        let lineBytes = bytes(pixels: displaySize.width * grid.lineRowsMax, samplesPerPixel: coding.samplesPerPixel)
        return threads > 1 && lineBytes <= lineAheadBytesMax ? 2 : 1
    }

    private func bytes(pixels: Int, samplesPerPixel: Double) -> Int {
        Int(Double(pixels) * samplesPerPixel) * coding.bytesPerSample
    }

    private func check(pixels: Int, samplesPerPixel: Double) throws(CodecError) {
        let bytes = bytes(pixels: pixels, samplesPerPixel: samplesPerPixel)
        guard bytes <= limits.workerBytesMax else {
            throw CodecError(.outOfMemory, "\(storedSize) takes \(bytes) bytes, over \(limits.workerBytesMax)")
        }
    }

    /// The picture's colours. Each code point comes from the container's nclx or, where that leaves it unspecified (2),
    /// from the bitstream's VUI, and last from the defaults of MIAF (ISO/IEC 23000-22, section 7.3.6.4). The range is
    /// the container's, else the VUI's, which counts as limited where it is silent (H.265, section E.3.1).
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
