import Core

/// Decodes a lossless JPEG (T.81, annex H) in bands of rows, as it is stored: not turned. libjpeg reads such pictures
/// from libjpeg-turbo 3 on.
///
/// Huffman codes, 8 bits, one component or three of equal size, in one scan or in scans of their own. Memory depends on
/// the width alone: scans are read side by side.
package struct LosslessJPEGSource: BandSource, ~Copyable {
    private static let bandRows = 16

    package let format: PictureFormat
    private let scans: [JPEGLosslessScan]
    private let readers: [JPEGLosslessReader]
    private let band: JPEGPlanes
    private var nextRow = 0

    /// - Parameters:
    ///   - bytes: begin with SOI; the caller keeps them alive and unchanged as long as the source lives.
    ///   - isRGB: whether three components are R, G and B; else they are YCbCr as JFIF has it.
    /// - Throws: `corrupt`, `truncated`, `outOfMemory`; `unsupported` for another process than lossless Huffman coding,
    ///   and for components that are not of one size.
    package static func opening(_ bytes: UnsafeRawBufferPointer, isRGB: Bool) throws(CodecError) -> LosslessJPEGSource {
        var walk = JPEGWalk(bytes)
        let isIrregular = try walk.run()
        guard walk.coding == .lossless, let frame = walk.frame else {
            throw CodecError(.unsupported, "no lossless picture")
        }
        let count = frame.components.count
        guard count == 1 || count == 3 && frame.components.allSatisfy({ $0.horizontal * $0.vertical == 1 }) else {
            throw CodecError(.unsupported, "\(count) components, or not of one size")
        }
        let layout: PlaneLayout = count == 1 ? .grey : isRGB ? .rgb : .ycbcr(.s444)
        var readers: [JPEGLosslessReader] = []
        for scan in walk.losslessScans {
            readers.append(try JPEGLosslessReader(scan, width: frame.size.width, of: bytes))
        }
        let shape = JPEGPlanes.Shape(bytesPerRow: frame.size.width, rows: bandRows)
        return LosslessJPEGSource(
            format: PictureFormat(size: frame.size, layout: layout, depth: 8, colour: layout == .rgb ? .rgb : .jfif),
            scans: walk.losslessScans, readers: readers,
            band: try .allocating([JPEGPlanes.Shape](repeating: shape, count: count)), isIrregular: isIrregular)
    }

    private init(
        format: PictureFormat, scans: [JPEGLosslessScan], readers: [JPEGLosslessReader], band: consuming JPEGPlanes,
        isIrregular: Bool
    ) {
        self.format = format
        self.scans = scans
        self.readers = readers
        self.band = band
        self.isIrregular = isIrregular
    }

    /// Odd but harmless bytes were met; final once the last band was asked for.
    package private(set) var isIrregular: Bool

    package mutating func nextBand() throws(CodecError) -> Band? {
        guard nextRow < format.size.height else { return nil }
        let first = nextRow
        let rows = min(Self.bandRows, format.size.height - first)
        for row in 0..<rows {
            for (scan, reader) in zip(scans, readers) {
                try reader.readRow(
                    into: scan.components.map { band.address(row: row, of: $0).assumingMemoryBound(to: UInt8.self) })
            }
        }
        nextRow += rows
        if nextRow == format.size.height {
            for reader in readers where try reader.finish() { isIrregular = true }
        }
        return Band(
            firstRow: first, rows: rows,
            planes: (0..<format.planeCount).map { band.plane($0, width: format.size.width, height: rows) })
    }
}
