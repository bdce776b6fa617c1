import Codecs
import Core
import Glibc
import Support
import Testing

/// The planes of a whole picture, 8 bits, without padding.
struct WholePicture: Equatable {
    var format: PictureFormat
    var planes: [[UInt8]]

    /// One after the other.
    var joined: [UInt8] { planes.flatMap { $0 } }
}

/// Yields given planes in bands of given heights.
struct PlanesSource: BandSource, ~Copyable {
    let format: PictureFormat
    private let planes: [[UInt8]]
    private let bandRows: Int
    private var nextRow = 0
    private var held: [UnsafeMutableRawBufferPointer] = []

    /// - Parameter planes: rows without padding; two bytes a sample for depths above 8.
    init(_ format: PictureFormat, _ planes: [[UInt8]], bandRows: Int) {
        self.format = format
        self.planes = planes
        self.bandRows = bandRows
    }

    deinit { for buffer in held { buffer.deallocate() } }

    mutating func nextBand() -> Band? {
        guard nextRow < format.size.height else { return nil }
        let first = nextRow
        let rows = min(bandRows, format.size.height - first)
        nextRow += rows
        for buffer in held { buffer.deallocate() }
        held = []
        var band: [Plane] = []
        for index in 0..<format.planeCount {
            var vertical = 1
            if index > 0, case .ycbcr(let subsampling) = format.layout { vertical = subsampling.vertical }
            let width = format.planeSize(index).width
            let rowBytes = width * format.bytesPerSample
            let start = first / vertical * rowBytes
            let height = (rows + vertical - 1) / vertical
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: rowBytes * height, alignment: 16)
            buffer.copyBytes(from: planes[index][start..<(start + rowBytes * height)])
            held.append(buffer)
            if let base = buffer.baseAddress {
                band.append(Plane(base: UnsafeRawPointer(base), stride: rowBytes, width: width, height: height))
            }
        }
        return Band(firstRow: first, rows: rows, planes: band)
    }
}

/// Draws all bands of a source.
func collect<Source: BandSource & ~Copyable>(_ source: inout Source) throws -> WholePicture {
    let format = source.format
    var planes = [[UInt8]](repeating: [], count: format.planeCount)
    var nextRow = 0
    while let band = try source.nextBand() {
        #expect(band.firstRow == nextRow)
        nextRow += band.rows
        for (index, plane) in band.planes.enumerated() {
            for row in 0..<plane.height {
                planes[index] += UnsafeRawBufferPointer(
                    start: plane.base + row * plane.stride, count: plane.width * format.bytesPerSample)
            }
        }
    }
    #expect(nextRow == format.size.height)
    return WholePicture(format: format, planes: planes)
}

func decode(
    _ jpeg: [UInt8], chroma: JPEGSource.Chroma = .asStored, inks: InkConverter? = nil, divisor: Int = 1,
    bytesMax: Int = .max
) throws -> (picture: WholePicture, isIrregular: Bool) {
    try jpeg.withUnsafeBytes { bytes in
        var source = try JPEGSource.opening(
            bytes, chroma: chroma, inks: inks, divisor: divisor, bytesMax: bytesMax)
        let picture = try collect(&source)
        return (picture, source.isIrregular)
    }
}

func prove(_ jpeg: [UInt8]) throws -> EntropyProof {
    try jpeg.withUnsafeBytes { bytes in try EntropyProof.prove(bytes) }
}

/// Encodes a picture in bands of `bandRows` rows.
func encode(
    _ picture: WholePicture, bandRows: Int, quality: Int = 90, progressive: Bool = false, icc: [UInt8]? = nil,
    outputBytesMax: Int = .max
) throws -> [UInt8] {
    let folder = try ScratchFolder()
    let path = try folder.file("out.jpg", [])
    let output = open(path, O_WRONLY)
    defer { close(output) }
    var source = PlanesSource(picture.format, picture.planes, bandRows: bandRows)
    var encoder = try JPEGEncoder.starting(
        format: picture.format, quality: quality, progressive: progressive, icc: icc, output: output,
        outputBytesMax: outputBytesMax)
    while let band = source.nextBand() { try encoder.write(band) }
    let count = try encoder.finish()
    let bytes = try folder.read("out.jpg")
    #expect(bytes.count == count)
    return bytes
}

/// A picture of the test texture with planes that a JPEG of the format would hold.
func texture(_ size: PixelSize, _ layout: PlaneLayout) -> WholePicture {
    let format = PictureFormat(size: size, layout: layout, depth: 8, colour: .jfif)
    let planes = (0..<format.planeCount).map { index in
        let plane = format.planeSize(index)
        let rgb = JPEGPictures.textured(plane.width, plane.height)
        return stride(from: index, to: rgb.count, by: 3).map { rgb[$0] }
    }
    return WholePicture(format: format, planes: planes)
}

/// Whether two pictures' bytes are equal; a failed expectation then does not print them.
func same(_ first: [UInt8]?, _ second: [UInt8]?) -> Bool { first == second }
