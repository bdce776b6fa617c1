import Core

/// The memory of one band, used again for each.
final class HEICBandBuffer: @unchecked Sendable {
    // Threads write tiles, each to its own place, and the crew's lock stands between the last of them and who reads.
    private let base: UnsafeMutableRawPointer
    private let offsets: [Int]
    private let format: PictureFormat
    let strides: [Int]

    init(_ format: PictureFormat, rows: Int) {
        self.format = format
        var strides: [Int] = []
        var offsets: [Int] = []
        var total = 0
        for index in 0..<format.planeCount {
            // Rows begin where vector instructions like them.
            let stride = (format.planeSize(index).width * format.bytesPerSample + 63) & ~63
            strides.append(stride)
            offsets.append(total)
            total += stride * format.planeRows(index, of: rows)
        }
        self.strides = strides
        self.offsets = offsets
        base = .allocate(byteCount: total, alignment: 64)
    }

    deinit { base.deallocate() }

    /// Where the samples of luma column `x` begin in plane `index`.
    func column(_ x: Int, ofPlane index: Int) -> UnsafeMutableRawPointer {
        base + offsets[index] + x / format.horizontalFactor(index) * format.bytesPerSample
    }

    func band(firstRow: Int, rows: Int) -> Band {
        Band(
            firstRow: firstRow, rows: rows,
            planes: (0..<format.planeCount).map { index in
                Plane(
                    base: UnsafeRawPointer(base + offsets[index]), stride: strides[index],
                    width: format.planeSize(index).width, height: format.planeRows(index, of: rows))
            })
    }
}

extension PictureFormat {
    /// Luma columns for each column of plane `index`.
    fileprivate func horizontalFactor(_ index: Int) -> Int {
        if index > 0, case .ycbcr(let subsampling) = layout { return subsampling.horizontal }
        return 1
    }

    /// The rows of plane `index` in a band of `rows` rows.
    func planeRows(_ index: Int, of rows: Int) -> Int {
        guard index > 0, case .ycbcr(let subsampling) = layout else { return rows }
        return (rows + subsampling.vertical - 1) / subsampling.vertical
    }
}
