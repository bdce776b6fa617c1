package import Core

/// Yields a rectangle of another source's picture. Nothing is copied: bands are handed on with their planes' edges
/// moved.
package struct CropSource<Source: BandSource & ~Copyable>: BandSource, ~Copyable {
    package let format: PictureFormat
    private let sourceFormat: PictureFormat
    private let part: PixelRectangle
    private var source: Source
    private var nextRow = 0

    /// Whether a part's left and top edges fall between chroma samples, which is where the picture can be cut.
    package static func canCrop(_ format: PictureFormat, to part: PixelRectangle) -> Bool {
        part.x % format.layout.horizontalFactor == 0 && part.y % format.layout.verticalFactor == 0
    }

    /// - Parameter part: inside the picture, and one that `canCrop` allows; others take a picture in full chroma.
    package static func cropping(_ source: consuming Source, to part: PixelRectangle) -> CropSource {
        let sourceFormat = source.format
        precondition(canCrop(sourceFormat, to: part), "\(part) cuts chroma samples")
        precondition(
            part.x >= 0 && part.y >= 0 && part.width > 0 && part.height > 0
                && part.x + part.width <= sourceFormat.size.width
                && part.y + part.height <= sourceFormat.size.height, "\(part) lies inside \(sourceFormat.size)")
        var format = sourceFormat
        format.size = part.size
        return CropSource(source: source, sourceFormat: sourceFormat, format: format, part: part)
    }

    private init(
        source: consuming Source, sourceFormat: PictureFormat, format: PictureFormat, part: PixelRectangle
    ) {
        self.source = source
        self.sourceFormat = sourceFormat
        self.format = format
        self.part = part
    }

    /// After the part's last row the source is read on to its end: damage is damage, wherever it lies.
    package mutating func nextBand() throws(CodecError) -> Band? {
        while let band = try source.nextBand() {
            let first = max(band.firstRow, part.y)
            let end = min(band.firstRow + band.rows, part.y + part.height)
            guard first < end else { continue }
            nextRow = end - part.y
            return Band(
                firstRow: first - part.y, rows: end - first,
                planes: band.planes.enumerated().map { index, plane in
                    cut(plane, index, skipping: first - band.firstRow, rows: end - first)
                })
        }
        guard nextRow == part.height else {
            throw CodecError(.truncated, "the source has \(part.y + nextRow) of \(sourceFormat.size.height) rows")
        }
        return nil
    }

    private func cut(_ plane: Plane, _ index: Int, skipping skipped: Int, rows: Int) -> Plane {
        let step = format.subsampling(ofPlane: index)
        return Plane(
            base: plane.base + skipped / step.vertical * plane.stride
                + part.x / step.horizontal * format.bytesPerSample,
            stride: plane.stride, width: format.planeSize(index).width,
            height: rows.dividedUp(by: step.vertical))
    }
}
