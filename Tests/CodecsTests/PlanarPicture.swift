@testable import Codecs
import Core
import Foundation

/// A whole picture in memory, one array of samples a plane.
struct PlanarPicture: Equatable {
    var format: PictureFormat
    var planes: [[UInt16]]

    /// Fills the planes by `sample(plane, x, y)`, co-ordinates in the plane's own grid.
    init(_ format: PictureFormat, sample: (Int, Int, Int) -> Int) {
        self.format = format
        planes = (0..<format.planeCount).map { plane in
            let size = format.planeSize(plane)
            return (0..<size.height).flatMap { y in (0..<size.width).map { x in UInt16(sample(plane, x, y)) } }
        }
    }

    /// What a source or converter yields, put together.
    init<Source: BandSource & ~Copyable>(drawing source: inout Source) throws {
        format = source.format
        planes = Array(repeating: [], count: format.planeCount)
        var row = 0
        while let band = try source.nextBand() {
            guard band.firstRow == row else { throw Disorder() }
            row += band.rows
            for (index, plane) in band.planes.enumerated() { planes[index] += Self.samples(of: plane, in: format) }
        }
    }

    struct Disorder: Error {}

    private static func samples(of plane: Plane, in format: PictureFormat) -> [UInt16] {
        (0..<plane.height).flatMap { y in
            (0..<plane.width).map { x in
                format.bytesPerSample == 1
                    ? UInt16(plane.base.load(fromByteOffset: y * plane.stride + x, as: UInt8.self))
                    : plane.base.load(fromByteOffset: y * plane.stride + 2 * x, as: UInt16.self)
            }
        }
    }

    func sample(_ plane: Int, _ x: Int, _ y: Int) -> Int { Int(planes[plane][y * format.planeSize(plane).width + x]) }

    /// The greatest difference of two samples of the same place.
    func distance(to other: PlanarPicture) -> Int {
        guard planes.map(\.count) == other.planes.map(\.count) else { return .max }
        return zip(planes.joined(), other.planes.joined()).map { abs(Int($0) - Int($1)) }.max() ?? 0
    }

    func psnr(of plane: Int, against other: PlanarPicture) -> Double {
        let errors = zip(planes[plane], other.planes[plane]).map { Double($0) - Double($1) }
        let mean = errors.reduce(0) { $0 + $1 * $1 } / Double(errors.count)
        let peak = Double(1 << format.depth - 1)
        return mean == 0 ? .infinity : 10 * log10(peak * peak / mean)
    }
}

/// Yields a picture in bands of `rows`, which it overwrites as soon as the next one is asked for.
struct PlanarPictureSource: BandSource, ~Copyable {
    let format: PictureFormat
    private let picture: PlanarPicture
    private let rows: Int
    /// Where the source stops though its format promises more.
    private let end: Int
    private let stride: Int
    private let memory: UnsafeMutableRawBufferPointer
    private var row = 0

    init(_ picture: PlanarPicture, rows: Int, endingAt end: Int? = nil) {
        self.picture = picture
        self.rows = rows
        self.end = end ?? picture.format.size.height
        format = picture.format
        stride = format.size.width * format.bytesPerSample + 6
        memory = .allocate(byteCount: stride * (rows + 1) * format.planeCount, alignment: 16)
    }

    deinit { memory.deallocate() }

    mutating func nextBand() throws(CodecError) -> Band? {
        for index in memory.indices { memory[index] = 0xA5 }
        let count = min(rows, end - row)
        guard count > 0, let base = memory.baseAddress else { return nil }
        var planes: [Plane] = []
        for index in 0..<format.planeCount {
            let size = format.planeSize(index)
            let vertical = format.subsampling(ofPlane: index).vertical
            let height = (count + vertical - 1) / vertical
            let start = base + index * (rows + 1) * stride
            for y in 0..<height {
                for x in 0..<size.width {
                    let value = picture.planes[index][(row / vertical + y) * size.width + x]
                    if format.bytesPerSample == 1 {
                        start.storeBytes(of: UInt8(value), toByteOffset: y * stride + x, as: UInt8.self)
                    } else {
                        start.storeBytes(of: value, toByteOffset: y * stride + 2 * x, as: UInt16.self)
                    }
                }
            }
            planes.append(Plane(base: start, stride: stride, width: size.width, height: height))
        }
        defer { row += count }
        return Band(firstRow: row, rows: count, planes: planes)
    }
}
