package import Core
import Glibc

/// Yields another source's picture turned upright. It holds the whole picture, since a turned picture's first row may be
/// the source's last: the samples go to their final places as they come, so bands are handed out without a copy.
///
/// Chroma is taken as sited in the middle of the luma samples that it covers, as JFIF has it. Where a mirrored side is
/// not a multiple of the subsampling, the grid's incomplete end comes to lie at the start, where JPEG cannot have it: the
/// chroma samples then lie between the new grid's, and are interpolated to it linearly. For 4:2:0 that is the mean of two
/// neighbours, precisely what libjpeg's smooth upsampling, mirroring and averaging would give.
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
        while let band = try source.nextBand() {
            for (index, plane) in band.planes.enumerated() {
                let factor = index > 0 ? sourceFormat.layout.verticalFactor : 1
                let placement = Placement(
                    orientation: orientation, source: sourceFormat.planeSize(index),
                    target: picture.address(of: index), stride: picture.shapes[index].stride)
                if format.bytesPerSample == 1 {
                    placement.place8(plane, firstRow: band.firstRow / factor)
                } else {
                    placement.place16(plane, firstRow: band.firstRow / factor)
                }
            }
        }
        guard case .ycbcr = sourceFormat.layout else { return }
        let shift = orientation.chromaShift(sourceFormat)
        for index in 1...2 {
            let size = format.planeSize(index)
            if format.bytesPerSample == 1 {
                picture.shift(index, size, shift, as: UInt8.self)
            } else {
                picture.shift(index, size, shift, as: UInt16.self)
            }
        }
    }
}

extension PictureFormat {
    /// What `TurnedSource` holds in memory for a picture of this format, turned or not.
    package var turnedBytesNeeded: Int { JPEGPlanes.bytesNeeded(pictureShapes) }

    fileprivate var pictureShapes: [JPEGPlanes.Shape] {
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

/// How far mirrored chroma samples lie before the places where the turned grid has its own, in parts of a sample.
private struct ChromaShift {
    var horizontal: (part: Int, of: Int)
    var vertical: (part: Int, of: Int)
}

extension Orientation {
    /// Whether the source's left edge comes to lie at the right, or at the bottom if the axes are swapped.
    fileprivate var mirrorsColumns: Bool {
        switch self {
        case .mirrored, .rotated180, .transversed, .rotated270: true
        case .upright, .flipped, .transposed, .rotated90: false
        }
    }

    /// Whether the source's top edge comes to lie at the bottom, or at the right if the axes are swapped.
    fileprivate var mirrorsRows: Bool {
        switch self {
        case .flipped, .rotated180, .transversed, .rotated90: true
        case .upright, .mirrored, .transposed, .rotated270: false
        }
    }

    /// The luma samples that the last chroma sample covers beyond the picture's edge, where that edge becomes the first.
    fileprivate func chromaShift(_ source: PictureFormat) -> ChromaShift {
        let chroma = source.planeSize(1)
        let horizontal = source.layout.horizontalFactor
        let vertical = source.layout.verticalFactor
        let columns = (
            part: mirrorsColumns ? chroma.width * horizontal - source.size.width : 0, of: horizontal
        )
        let rows = (part: mirrorsRows ? chroma.height * vertical - source.size.height : 0, of: vertical)
        return swapsAxes
            ? ChromaShift(horizontal: rows, vertical: columns) : ChromaShift(horizontal: columns, vertical: rows)
    }
}

extension JPEGPlanes {
    /// Moves a plane's samples to a grid that lies a part of a sample further, by linear interpolation; the last column
    /// and row have no further neighbour and stay.
    fileprivate func shift<Sample: FixedWidthInteger & UnsignedInteger>(
        _ plane: Int, _ size: PixelSize, _ shift: ChromaShift, as: Sample.Type
    ) {
        func mean(_ first: Sample, _ second: Sample, _ shift: (part: Int, of: Int)) -> Sample {
            let sum = Int(first) * (shift.of - shift.part) + Int(second) * shift.part
            return Sample(truncatingIfNeeded: (sum + shift.of / 2) / shift.of)
        }
        for row in 0..<size.height {
            let samples = address(row: row, of: plane).assumingMemoryBound(to: Sample.self)
            if shift.vertical.part > 0, row + 1 < size.height {
                let next = address(row: row + 1, of: plane).assumingMemoryBound(to: Sample.self)
                for column in 0..<size.width {
                    samples[column] = mean(samples[column], next[column], shift.vertical)
                }
            }
            if shift.horizontal.part > 0 {
                for column in 0..<(size.width - 1) {
                    samples[column] = mean(samples[column], samples[column + 1], shift.horizontal)
                }
            }
        }
    }
}

/// Where the samples of one plane go.
private struct Placement {
    let orientation: Orientation
    /// The source plane's size.
    let source: PixelSize
    let target: UnsafeMutableRawPointer
    let stride: Int

    func place8(_ plane: Plane, firstRow: Int) {
        if orientation.swapsAxes {
            transpose8(plane, firstRow: firstRow)
        } else {
            keepRows(plane, firstRow: firstRow, as: UInt8.self)
        }
    }

    func place16(_ plane: Plane, firstRow: Int) {
        if orientation.swapsAxes {
            transpose(plane, firstRow: firstRow, columns: 0..<plane.width, rows: 0..<plane.height, as: UInt16.self)
        } else {
            keepRows(plane, firstRow: firstRow, as: UInt16.self)
        }
    }

    /// The row or column where a source row goes.
    private func mirroredRow(_ row: Int) -> Int { orientation.mirrorsRows ? source.height - 1 - row : row }

    private func mirroredColumn(_ column: Int) -> Int {
        orientation.mirrorsColumns ? source.width - 1 - column : column
    }

    private func keepRows<Sample: FixedWidthInteger>(_ plane: Plane, firstRow: Int, as: Sample.Type) {
        for row in 0..<plane.height {
            let from = plane.base + row * plane.stride
            let to = target + mirroredRow(firstRow + row) * stride
            guard orientation.mirrorsColumns else {
                memcpy(to, from, plane.width * MemoryLayout<Sample>.size)
                continue
            }
            let samples = from.assumingMemoryBound(to: Sample.self)
            let mirrored = to.assumingMemoryBound(to: Sample.self)
            for column in 0..<plane.width { mirrored[plane.width - 1 - column] = samples[column] }
        }
    }

    private func transpose<Sample: FixedWidthInteger>(
        _ plane: Plane, firstRow: Int, columns: Range<Int>, rows: Range<Int>, as: Sample.Type
    ) {
        for column in columns {
            let to = (target + mirroredColumn(column) * stride).assumingMemoryBound(to: Sample.self)
            for row in rows {
                let from = (plane.base + row * plane.stride).assumingMemoryBound(to: Sample.self)
                to[mirroredRow(firstRow + row)] = from[column]
            }
        }
    }

    /// By blocks of 8 × 8, so that each line of memory is touched once for eight samples.
    private func transpose8(_ plane: Plane, firstRow: Int) {
        let wholeRows = plane.height / 8 * 8
        let wholeColumns = plane.width / 8 * 8
        for row in stride(from: 0, to: wholeRows, by: 8) {
            for column in stride(from: 0, to: wholeColumns, by: 8) {
                transposeBlock(plane, row: row, column: column, firstRow: firstRow)
            }
        }
        let restColumns = wholeColumns..<plane.width
        transpose(plane, firstRow: firstRow, columns: restColumns, rows: 0..<wholeRows, as: UInt8.self)
        transpose(plane, firstRow: firstRow, columns: 0..<plane.width, rows: wholeRows..<plane.height, as: UInt8.self)
    }

    @inline(__always)
    private func transposeBlock(_ plane: Plane, row: Int, column: Int, firstRow: Int) {
        var block = Block8()
        for index in 0..<8 {
            // Mirrored rows become columns from right to left: taken in reverse, they come out in order.
            let source = row + (orientation.mirrorsRows ? 7 - index : index)
            block[index] = (plane.base + source * plane.stride + column).loadUnaligned(as: UInt64.self)
        }
        block.transpose()
        let left = orientation.mirrorsRows ? mirroredRow(firstRow + row + 7) : firstRow + row
        for index in 0..<8 {
            let to = target + mirroredColumn(column + index) * self.stride + left
            to.storeBytes(of: block[index], as: UInt64.self)
        }
    }

    private func stride(from: Int, to: Int, by: Int) -> StrideTo<Int> { Swift.stride(from: from, to: to, by: by) }
}

/// Eight rows of eight bytes, each row in one word, its first byte lowest.
private struct Block8 {
    private var rows = (UInt64(0), UInt64(0), UInt64(0), UInt64(0), UInt64(0), UInt64(0), UInt64(0), UInt64(0))

    @inline(__always) subscript(row: Int) -> UInt64 {
        get {
            switch row {
            case 0: rows.0
            case 1: rows.1
            case 2: rows.2
            case 3: rows.3
            case 4: rows.4
            case 5: rows.5
            case 6: rows.6
            default: rows.7
            }
        }
        set {
            switch row {
            case 0: rows.0 = newValue
            case 1: rows.1 = newValue
            case 2: rows.2 = newValue
            case 3: rows.3 = newValue
            case 4: rows.4 = newValue
            case 5: rows.5 = newValue
            case 6: rows.6 = newValue
            default: rows.7 = newValue
            }
        }
    }

    /// Exchanges the two off-diagonal quarters, then those of each quarter, then of those: three steps in place of 64
    /// moves (H. S. Warren, Hacker's Delight, 7-3).
    @inline(__always) mutating func transpose() {
        Self.exchange(&rows.0, &rows.4, 32, 0x0000_0000_FFFF_FFFF)
        Self.exchange(&rows.1, &rows.5, 32, 0x0000_0000_FFFF_FFFF)
        Self.exchange(&rows.2, &rows.6, 32, 0x0000_0000_FFFF_FFFF)
        Self.exchange(&rows.3, &rows.7, 32, 0x0000_0000_FFFF_FFFF)
        Self.exchange(&rows.0, &rows.2, 16, 0x0000_FFFF_0000_FFFF)
        Self.exchange(&rows.1, &rows.3, 16, 0x0000_FFFF_0000_FFFF)
        Self.exchange(&rows.4, &rows.6, 16, 0x0000_FFFF_0000_FFFF)
        Self.exchange(&rows.5, &rows.7, 16, 0x0000_FFFF_0000_FFFF)
        Self.exchange(&rows.0, &rows.1, 8, 0x00FF_00FF_00FF_00FF)
        Self.exchange(&rows.2, &rows.3, 8, 0x00FF_00FF_00FF_00FF)
        Self.exchange(&rows.4, &rows.5, 8, 0x00FF_00FF_00FF_00FF)
        Self.exchange(&rows.6, &rows.7, 8, 0x00FF_00FF_00FF_00FF)
    }

    /// Exchanges the upper part of each lane of `upper` with the lower part of each lane of `lower`.
    @inline(__always)
    private static func exchange(_ upper: inout UInt64, _ lower: inout UInt64, _ shift: UInt64, _ mask: UInt64) {
        let difference = ((upper &>> shift) ^ lower) & mask
        lower ^= difference
        upper ^= difference &<< shift
    }
}
