import Core
import Glibc

/// Some rows of every plane of a picture, owned, laid out as zimg wants them: bases and strides are multiples of 64
/// bytes, and rows and columns are filled up to the chroma grid, which zimg asks of subsampled pictures.
struct PlanarSlice: ~Copyable {
    private struct Storage {
        let offset: Int
        let stride: Int
        /// Samples of a row that belong to the picture.
        let width: Int
        /// Samples of a row with the padding.
        let paddedWidth: Int
        /// Luma rows per row of this plane.
        let vertical: Int
    }

    private static let alignment = 64

    private let memory: UnsafeMutableRawPointer
    private let planes: [Storage]
    private let bytesPerSample: Int
    var planeCount: Int { planes.count }
    /// Luma rows that fit.
    let capacity: Int
    /// The picture's row that stands first.
    private(set) var firstRow = 0
    /// Luma rows held.
    private(set) var rows = 0

    deinit { free(memory) }

    private init(adopting memory: UnsafeMutableRawPointer, planes: [Storage], bytesPerSample: Int, capacity: Int) {
        self.memory = memory
        self.planes = planes
        self.bytesPerSample = bytesPerSample
        self.capacity = capacity
    }

    /// Room for `capacity` rows of a picture of `format`, `paddedWidth` luma samples each; both are multiples of the
    /// chroma subsampling.
    ///
    /// - Throws: `outOfMemory`.
    static func allocating(
        _ format: PictureFormat, paddedWidth: Int, capacity: Int
    ) throws(CodecError) -> PlanarSlice {
        var planes: [Storage] = []
        var size = 0
        for index in 0..<format.planeCount {
            let step = format.subsampling(ofPlane: index)
            let width = paddedWidth / step.horizontal
            let stride = roundedUp(width * format.bytesPerSample, to: alignment)
            planes.append(
                Storage(
                    offset: size, stride: stride, width: format.planeSize(index).width, paddedWidth: width,
                    vertical: step.vertical))
            size += stride * (capacity / step.vertical)
        }
        guard let memory = aligned_alloc(alignment, max(size, alignment)) else {
            throw CodecError(.outOfMemory, "\(size) bytes for \(capacity) rows of \(format.size)")
        }
        return PlanarSlice(
            adopting: memory, planes: planes, bytesPerSample: format.bytesPerSample, capacity: capacity)
    }

    /// Where plane `index` begins, and the bytes between its rows.
    func storage(_ index: Int) -> (base: UnsafeMutableRawPointer, stride: Int) {
        (memory + planes[index].offset, planes[index].stride)
    }

    /// The picture's part of `rows` luma rows, `skipped` rows below the first one.
    func planes(skipping skipped: Int, rows: Int) -> [Plane] {
        planes.map { plane in
            Plane(
                base: memory + plane.offset + skipped / plane.vertical * plane.stride, stride: plane.stride,
                width: plane.width, height: (rows + plane.vertical - 1) / plane.vertical)
        }
    }

    /// Lets go of the rows above `row`, a multiple of the chroma subsampling, which becomes the first one.
    mutating func discard(before row: Int) {
        let dropped = row - firstRow
        precondition((0...rows).contains(dropped), "slices overlap or touch, and go downwards")
        for plane in planes where dropped > 0 {
            let base = memory + plane.offset
            memmove(
                base, base + dropped / plane.vertical * plane.stride, (rows - dropped) / plane.vertical * plane.stride)
        }
        firstRow += dropped
        rows -= dropped
    }

    /// Copies `count` rows of `band`, from its row `skipped`, below the rows held. Only the picture's last rows may be
    /// a number that the chroma subsampling does not divide.
    mutating func append(_ band: Band, skipping skipped: Int, count: Int) {
        precondition(rows + count <= capacity && band.planes.count == planes.count)
        for (source, plane) in zip(band.planes, planes) {
            precondition(source.width == plane.width, "the band has the width that its source announced")
            let first = rows / plane.vertical
            for row in 0..<(count + plane.vertical - 1) / plane.vertical {
                let target = memory + plane.offset + (first + row) * plane.stride
                memcpy(
                    target, source.base + (skipped / plane.vertical + row) * source.stride, plane.width * bytesPerSample
                )
                repeatLastSample(of: plane, in: target)
            }
        }
        rows += count
    }

    /// Repeats the last row until `count` luma rows are held, so that what lies beyond the picture looks like its edge.
    mutating func pad(to count: Int) {
        precondition(count <= capacity && rows > 0)
        for plane in planes {
            let held = (rows + plane.vertical - 1) / plane.vertical
            let last = memory + plane.offset + (held - 1) * plane.stride
            for row in held..<max(held, count / plane.vertical) {
                memcpy(memory + plane.offset + row * plane.stride, last, plane.stride)
            }
        }
        rows = max(rows, count)
    }

    private func repeatLastSample(of plane: Storage, in row: UnsafeMutableRawPointer) {
        for column in plane.width..<plane.paddedWidth {
            memcpy(row + column * bytesPerSample, row + (plane.width - 1) * bytesPerSample, bytesPerSample)
        }
    }
}

extension PictureFormat {
    /// Luma columns and rows per sample of plane `index`.
    func subsampling(ofPlane index: Int) -> (horizontal: Int, vertical: Int) {
        guard index > 0, case .ycbcr(let chroma) = layout else { return (1, 1) }
        return (chroma.horizontal, chroma.vertical)
    }
}

/// The least multiple of `step` that is not below `value`.
func roundedUp(_ value: Int, to step: Int) -> Int { (value + step - 1) / step * step }
