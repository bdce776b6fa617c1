import Core

/// How far chroma samples lie before the places where the grid of a cropped or mirrored picture has its own, in parts
/// of a sample: as many as the luma samples by which the first chroma sample reaches over the edge.
struct ChromaShift {
    let horizontal: (part: Int, of: Int)
    let vertical: (part: Int, of: Int)

    /// Of a whole picture that is turned.
    ///
    /// - Parameter format: of the turned picture.
    init(_ format: PictureFormat, _ orientation: Orientation) {
        let chroma = format.planeSize(1)
        let (width, height) = (format.layout.horizontalFactor, format.layout.verticalFactor)
        self.init(
            horizontal: (orientation.reversesColumns ? chroma.width * width - format.size.width : 0, width),
            vertical: (orientation.reversesRows ? chroma.height * height - format.size.height : 0, height))
    }

    init(horizontal: (part: Int, of: Int), vertical: (part: Int, of: Int)) {
        self.horizontal = horizontal
        self.vertical = vertical
    }
}

extension JPEGPlanes {
    /// Moves a plane's samples to a grid that lies a part of a sample further, by linear interpolation; the last column
    /// and row have no further neighbour and stay.
    func shift(_ plane: Int, _ size: PixelSize, _ shift: ChromaShift, bytesPerSample: Int) {
        if bytesPerSample == 1 {
            self.shift(plane, size, shift, as: UInt8.self)
        } else {
            self.shift(plane, size, shift, as: UInt16.self)
        }
    }

    private func shift<Sample: FixedWidthInteger & UnsignedInteger>(
        _ plane: Int, _ size: PixelSize, _ shift: ChromaShift, as: Sample.Type
    ) {
        /// Halves go up and down by turns, as libjpeg rounds when it subsamples: always up would tint the picture.
        func mean(_ first: Sample, _ second: Sample, _ shift: (part: Int, of: Int), _ turn: Int) -> Sample {
            let sum = Int(first) * (shift.of - shift.part) + Int(second) * shift.part
            return Sample(truncatingIfNeeded: (sum + (shift.of - 1 + turn & 1) / 2) / shift.of)
        }
        for row in 0..<size.height {
            let samples = address(row: row, of: plane).assumingMemoryBound(to: Sample.self)
            if shift.vertical.part > 0, row + 1 < size.height {
                let next = address(row: row + 1, of: plane).assumingMemoryBound(to: Sample.self)
                for column in 0..<size.width {
                    samples[column] = mean(samples[column], next[column], shift.vertical, row + column)
                }
            }
            if shift.horizontal.part > 0 {
                for column in 0..<(size.width - 1) {
                    samples[column] = mean(samples[column], samples[column + 1], shift.horizontal, row + column)
                }
            }
        }
    }
}
