/// Where each MCU of a sequential scan begins, and from what its DC values count: with it MCUs can be decoded in any
/// order.
final class JPEGScanIndex {
    private struct Entry {
        var buffer: UInt64
        var position: Int
        var count: Int32
        var predictors: (Int16, Int16, Int16)
    }

    let blocks: [JPEGHuffmanScan.Block]
    private let bytes: UnsafeRawBufferPointer
    private let entries: UnsafeMutableBufferPointer<Entry>

    private init(_ blocks: [JPEGHuffmanScan.Block], of bytes: UnsafeRawBufferPointer, mcus: Int) {
        self.blocks = blocks
        self.bytes = bytes
        entries = .allocate(capacity: mcus)
    }

    deinit { entries.deallocate() }

    /// - Returns: nil where it would take more than `bytesMax`.
    static func making(
        of bytes: UnsafeRawBufferPointer, _ blocks: [JPEGHuffmanScan.Block], mcus: Int, bytesMax: Int
    ) -> JPEGScanIndex? {
        guard mcus * MemoryLayout<Entry>.stride <= bytesMax else { return nil }
        return JPEGScanIndex(blocks, of: bytes, mcus: mcus)
    }

    /// MCU `mcu` begins where `bits` stand.
    @inline(__always) func note(_ mcu: Int, _ bits: JPEGBits, _ predictors: (Int, Int, Int)) {
        let values = (
            Int16(truncatingIfNeeded: predictors.0), Int16(truncatingIfNeeded: predictors.1),
            Int16(truncatingIfNeeded: predictors.2)
        )
        entries.initializeElement(
            at: mcu,
            to: Entry(
                buffer: bits.buffer, position: bits.position, count: Int32(truncatingIfNeeded: bits.count),
                predictors: values))
    }

    /// A reader that stands where an MCU begins, and the DC values before it.
    func start(of mcu: Int) -> (bits: JPEGBits, predictors: (Int, Int, Int)) {
        let entry = entries[mcu]
        let bits = JPEGBits(bytes, at: entry.position, buffer: entry.buffer, count: Int(entry.count))
        return (bits, (Int(entry.predictors.0), Int(entry.predictors.1), Int(entry.predictors.2)))
    }
}
