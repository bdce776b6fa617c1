import Core

/// Converts bands by a profile to sRGB's primaries and transfer: RGB in RGB out, grey in grey out.
package struct ColourConverter<Source: BandSource & ~Copyable>: BandSource, ~Copyable {
    package let format: PictureFormat
    private var source: Source
    private let transform: ColourTransform
    private var output: PlanarSlice
    private var pixels: [UInt8]
    private var converted: [UInt8]

    /// - Parameters:
    ///   - source: of 8 bits over the full range, RGB or grey as the profile is.
    /// - Throws: `unsupported` for other sources, `outOfMemory`.
    package static func converting(
        _ source: consuming Source, by transform: consuming ColourTransform
    ) throws(CodecError) -> ColourConverter {
        var format = source.format
        let channels = transform.channels
        guard format.depth == 8, format.colour.isFullRange, format.layout == (channels == 1 ? .grey : .rgb),
            channels == 1 || channels == 3
        else { throw CodecError(.unsupported, "\(channels) channels for \(format.layout) of \(format.depth) bits") }
        format.colour.primaries = ColourDescription.jfif.primaries
        format.colour.transfer = ColourDescription.jfif.transfer
        let output = try PlanarSlice.allocating(format, paddedWidth: format.size.width, capacity: 64)
        return ColourConverter(source: source, transform: transform, format: format, output: output)
    }

    private init(
        source: consuming Source, transform: consuming ColourTransform, format: PictureFormat,
        output: consuming PlanarSlice
    ) {
        pixels = [UInt8](repeating: 0, count: format.size.width * transform.channels)
        converted = [UInt8](repeating: 0, count: format.size.width * 3)
        self.source = source
        self.transform = transform
        self.format = format
        self.output = output
    }

    /// - Throws: what the source throws, `outOfMemory`.
    package mutating func nextBand() throws(CodecError) -> Band? {
        guard let band = try source.nextBand() else { return nil }
        if output.capacity < band.rows {
            output = try .allocating(format, paddedWidth: format.size.width, capacity: band.rows)
        }
        for row in 0..<band.rows { convert(row, of: band) }
        return Band(firstRow: band.firstRow, rows: band.rows, planes: output.planes(skipping: 0, rows: band.rows))
    }

    private mutating func convert(_ row: Int, of band: Band) {
        let width = format.size.width
        let channels = band.planes.count
        for (channel, plane) in band.planes.enumerated() {
            let samples = (plane.base + row * plane.stride).assumingMemoryBound(to: UInt8.self)
            for column in 0..<width { pixels[column * channels + channel] = samples[column] }
        }
        transform.convert(pixels, &converted, pixels: width)
        for channel in 0..<channels {
            let plane = output.storage(channel)
            let samples = (plane.base + row * plane.stride).assumingMemoryBound(to: UInt8.self)
            for column in 0..<width { samples[column] = converted[column * 3 + channel] }
        }
    }
}
