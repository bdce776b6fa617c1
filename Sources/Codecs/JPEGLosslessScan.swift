/// A scan of a lossless JPEG (T.81, annex H), as its header tells it.
struct JPEGLosslessScan {
    /// Indices in the frame.
    var components: [Int]
    /// The definition of each component's Huffman table: code counts and values.
    var tables: [UnsafeRawBufferPointer]
    /// 1…7 (T.81, table H.1).
    var predictor: Int
    /// Bits that are cut off the samples: 0…7.
    var pointTransform: Int
    /// Samples of a component between restart markers, 0 for none.
    var restartInterval: Int
    /// Where the data begins.
    var position: Int
}

/// Decodes a lossless scan row by row.
final class JPEGLosslessReader {
    private let scan: JPEGLosslessScan
    private let bytes: UnsafeRawBufferPointer
    private let width: Int
    private let tables: JPEGHuffmanTables
    private var bits: JPEGBits
    /// The latest row and the one above it, the components of a sample side by side.
    private var row: [Int32]
    private var above: [Int32]
    private var rowsToRestart: Int
    private var restarts = 0
    private var isFirstRow = true

    /// - Throws: `corrupt` for unlawful tables, or a restart interval that does not end with a row (T.81, section
    ///   H.1.1).
    init(_ scan: JPEGLosslessScan, width: Int, of bytes: UnsafeRawBufferPointer) throws(CodecError) {
        guard scan.restartInterval % width == 0 else {
            throw CodecError(.corrupt, "a restart interval that does not end with a row")
        }
        let tables = JPEGHuffmanTables()
        for (index, definition) in scan.tables.enumerated() { try tables.define(index, definition) }
        self.tables = tables
        self.scan = scan
        self.bytes = bytes
        self.width = width
        bits = JPEGBits(bytes, at: scan.position)
        row = [Int32](repeating: 0, count: width * scan.components.count)
        above = row
        rowsToRestart = scan.restartInterval / width
    }

    /// Decodes the next row.
    ///
    /// - Parameter targets: where each component of the scan goes: `width` bytes.
    /// - Throws: `truncated` where the data ends or a marker comes too early; `corrupt` where a code is undefined, a
    ///   sample is out of range, or a restart marker is missing or wrong.
    func readRow(into targets: [UnsafeMutablePointer<UInt8>]) throws(CodecError) {
        try restartIfDue()
        swap(&row, &above)
        for x in 0..<width {
            for component in targets.indices {
                let sample = predict(x, component) &+ (try difference(component))
                // Differences count modulo 65,536 (section H.1.2.1).
                let value = sample & 0xFFFF
                guard value >> (8 - Int32(scan.pointTransform)) == 0 else {
                    throw CodecError(.corrupt, "a sample out of range")
                }
                row[x * targets.count + component] = value
                targets[component][x] = UInt8(truncatingIfNeeded: value << Int32(scan.pointTransform))
            }
        }
        isFirstRow = false
    }

    /// To be called after the last row.
    ///
    /// - Returns: whether padding stands between it and the next marker.
    /// - Throws: `corrupt` where data stand there.
    func finish() throws(CodecError) -> Bool { try bits.finish().strayBytes > 0 }

    private func restartIfDue() throws(CodecError) {
        guard scan.restartInterval > 0 else { return }
        if rowsToRestart == 0 {
            bits = JPEGBits(bytes, at: try bits.restart(restarts))
            restarts += 1
            rowsToRestart = scan.restartInterval / width
            isFirstRow = true
        }
        rowsToRestart -= 1
    }

    /// T.81, section H.1.2.1. The first row has no row above, and no other first column has a sample to its left.
    private func predict(_ x: Int, _ component: Int) -> Int32 {
        let step = scan.components.count
        let index = x * step + component
        guard x > 0 else { return isFirstRow ? 1 << (7 - Int32(scan.pointTransform)) : above[index] }
        let left = row[index - step]
        guard !isFirstRow else { return left }
        let (up, corner) = (above[index], above[index - step])
        return switch scan.predictor {
        case 1: left
        case 2: up
        case 3: corner
        case 4: left + up - corner
        case 5: left + (up - corner) >> 1
        case 6: up + (left - corner) >> 1
        default: (left + up) >> 1
        }
    }

    /// The next difference: a category, then as many bits (T.81, section H.1.2.2 and figure F.12).
    private func difference(_ component: Int) throws(CodecError) -> Int32 {
        bits.fill()
        var step = tables.shortSteps(component)[Int(bits.buffer >> UInt64(64 - JPEGHuffmanTables.shortBits))]
        if step == 0 { step = tables.longStep(component, bits: bits.buffer) }
        let (taken, category) = (Int(step & 31), Int(step >> 5))
        guard taken <= bits.count else { throw CodecError(.truncated, "premature end of entropy-coded data") }
        guard step != 0 else { throw CodecError(.corrupt, "undefined Huffman code") }
        guard category > 0 else {
            bits.drop(taken)
            return 0
        }
        let value = Int32(truncatingIfNeeded: bits.buffer >> UInt64(64 - taken)) & (1 << Int32(category) - 1)
        bits.drop(taken)
        return value >> Int32(category - 1) == 1 ? value : value - (1 << Int32(category) - 1)
    }
}
