package import Core

/// Yields another source's picture turned upright. It holds the whole picture, since a turned picture's first row may
/// be the source's last: the samples go to their final places as they come, so bands are handed out without a copy.
///
/// Chroma is taken as sited in the middle of the luma samples that it covers, as JFIF has it. Where a mirrored side is
/// not a multiple of the subsampling, the grid's incomplete end comes to lie at the start, where JPEG cannot have it:
/// the chroma samples then lie between the new grid's, and are interpolated to it linearly. For 4:2:0 that is the mean
/// of two neighbours, precisely what libjpeg's smooth upsampling, mirroring and averaging would give.
package struct TurnedSource<Source: BandSource & ~Copyable>: BandSource, ~Copyable {
    package let format: PictureFormat
    private var source: Source
    private let orientation: Orientation
    private let picture: JPEGPlanes
    private let rowsPerBand: Int
    private var nextRow = 0
    private var isFilled = false

    /// - Parameter source: 4:1:0 and 4:4:1 cannot be turned by 90° as they are: ask for full chroma
    ///   (`canTurn` tells).
    /// - Throws: `outOfMemory`.
    package static func turning(
        _ source: consuming Source, _ orientation: Orientation
    ) throws(CodecError) -> TurnedSource {
        var format = source.format
        format.size = format.size.applying(orientation)
        guard let layout = format.layout.turned(orientation) else {
            preconditionFailure("\(format.layout) has no name when its axes are swapped")
        }
        format.layout = layout
        return TurnedSource(
            source: source, format: format, orientation: orientation, picture: try .allocating(format.pictureShapes))
    }

    private init(
        source: consuming Source, format: PictureFormat, orientation: Orientation, picture: consuming JPEGPlanes
    ) {
        self.source = source
        self.format = format
        self.orientation = orientation
        self.picture = picture
        rowsPerBand = 8 * format.layout.verticalFactor
    }

    package mutating func nextBand() throws(CodecError) -> Band? {
        if !isFilled {
            try fill()
            isFilled = true
        }
        guard nextRow < format.size.height else { return nil }
        let first = nextRow
        let rows = min(rowsPerBand, format.size.height - first)
        nextRow += rows
        return Band(
            firstRow: first, rows: rows,
            planes: (0..<format.planeCount).map { index in
                let factor = index > 0 ? format.layout.verticalFactor : 1
                return picture.plane(
                    index, firstRow: first / factor, width: format.planeSize(index).width,
                    height: rows.dividedUp(by: factor))
            })
    }

    /// The source, for what it knows once it is used up.
    package var turned: Source {
        _read { yield source }
    }

    private mutating func fill() throws(CodecError) {
        let sourceFormat = source.format
        var rows = 0
        while let band = try source.nextBand() {
            rows += band.rows
            for (index, plane) in band.planes.enumerated() {
                let firstRow = index > 0 ? band.firstRow / sourceFormat.layout.verticalFactor : band.firstRow
                SampleTurn.copy(
                    plane, bytesPerSample: format.bytesPerSample, by: orientation,
                    to: place(of: plane, firstRow: firstRow, in: sourceFormat.planeSize(index), index),
                    targetStride: picture.shapes[index].stride)
            }
        }
        // What no band has brought would be whatever the memory held.
        guard rows == sourceFormat.size.height else {
            throw CodecError(.truncated, "the source has \(rows) of \(sourceFormat.size.height) rows")
        }
        guard case .ycbcr = format.layout else { return }
        let shift = ChromaShift(format, orientation)
        for index in 1...2 {
            picture.shift(index, format.planeSize(index), shift, bytesPerSample: format.bytesPerSample)
        }
    }

    /// Where the upper left of some of the source's rows comes to lie, once they are turned.
    private func place(
        of rows: Plane, firstRow: Int, in size: PixelSize, _ index: Int
    ) -> UnsafeMutableRawPointer {
        let isReversed = orientation.swapsAxes ? orientation.reversesColumns : orientation.reversesRows
        let line = isReversed ? size.height - firstRow - rows.height : firstRow
        return orientation.swapsAxes
            ? picture.address(of: index) + line * format.bytesPerSample : picture.address(row: line, of: index)
    }
}

extension PictureFormat {
    var pictureShapes: [JPEGPlanes.Shape] {
        (0..<planeCount).map { index in
            let size = planeSize(index)
            return JPEGPlanes.Shape(bytesPerRow: size.width * bytesPerSample, rows: size.height)
        }
    }
}

extension PlaneLayout {
    /// The layout of a picture that is turned, or nil where it has no name: 4:1:0 with its axes swapped.
    package func turned(_ orientation: Orientation) -> PlaneLayout? {
        guard case .ycbcr(let subsampling) = self, orientation.swapsAxes else { return self }
        return ChromaSubsampling(horizontal: subsampling.vertical, vertical: subsampling.horizontal).map { .ycbcr($0) }
    }
}
