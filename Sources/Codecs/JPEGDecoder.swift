import CJPEG
import Core

extension CodecError {
    /// What the border to libjpeg reports, or nil where all is well.
    init?(_ status: cjpeg_status, _ message: UnsafePointer<CChar>) {
        let kind: Kind
        switch status {
        case .ok: return nil
        case .corrupt: kind = .corrupt
        case .truncated: kind = .truncated
        case .unsupported: kind = .unsupported
        case .outOfMemory: kind = .outOfMemory
        case .output: kind = .output
        case .outputLimit: kind = .outputLimit
        }
        self.init(kind, String(cString: message))
    }
}

/// Owns one decoder of libjpeg. It stops at the first damage to the picture's data; oddities of headers are noted.
struct JPEGDecoder: ~Copyable {
    private let raw: OpaquePointer

    private init(adopting raw: OpaquePointer) { self.raw = raw }

    deinit { cjpeg_decoder_free(raw) }

    /// - Parameters:
    ///   - bytes: the caller keeps them alive and unchanged as long as the decoder lives.
    ///   - bytesMax: what libjpeg may hold in memory.
    static func opening(_ bytes: UnsafeRawBufferPointer, bytesMax: Int) throws(CodecError) -> JPEGDecoder {
        let base = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        guard let base, let raw = cjpeg_decoder_create(base, bytes.count, max(0, bytesMax)) else {
            throw bytes.isEmpty ? CodecError(.truncated, "no bytes") : CodecError(.outOfMemory, "no JPEG decoder")
        }
        return JPEGDecoder(adopting: raw)
    }

    /// Harmless oddities were met so far: stray bytes, unlawful but unused parameters, no EOI.
    var isIrregular: Bool { cjpeg_decoder_is_irregular(raw) != 0 }

    mutating func readHeader() throws(CodecError) -> cjpeg_header {
        var header = cjpeg_header()
        try check(cjpeg_decoder_read_header(raw, &header))
        return header
    }

    /// - Parameter divisor: 1, 2, 4 or 8.
    mutating func start(_ output: cjpeg_output, divisor: Int) throws(CodecError) {
        try check(cjpeg_decoder_start(raw, output, Int32(divisor)))
    }

    /// After `start`: how many samples a side a block of each component yields.
    func blockSides(components: Int) -> [Int] {
        let raw = raw
        return (0..<components).map { Int(cjpeg_decoder_block_side(raw, Int32($0))) }
    }

    /// Reads one iMCU row into `planes`: of each component, block side × its vertical factor rows of whole blocks.
    mutating func readPlanes(into planes: borrowing JPEGPlanes) throws(CodecError) {
        let status = planes.withTable { table in cjpeg_decoder_read_planes(raw, table) }
        try check(status)
    }

    /// Reads `rows` interleaved rows into plane 0 of `planes`.
    mutating func readRows(_ rows: Int, into planes: borrowing JPEGPlanes) throws(CodecError) {
        try check(cjpeg_decoder_read_rows(raw, planes.row(0, of: 0, rows: rows)))
    }

    /// Reads on to EOI, after the last row.
    mutating func finish() throws(CodecError) {
        try check(cjpeg_decoder_finish(raw))
    }

    /// Entropy-decodes all scans without computing a sample; instead of `start`, reading and `finish`.
    mutating func prove() throws(CodecError) {
        try check(cjpeg_decoder_prove(raw))
    }

    /// Writes the picture that `turn` makes of this one's coefficients; after `readHeader` and instead of `start`.
    ///
    /// - Returns: the picture, to be given back to `free`; nil where it has coefficients for which there are no codes.
    mutating func move(_ turn: JPEGMCUTurn, size: PixelSize) throws(CodecError) -> cjpeg_picture? {
        var picture = cjpeg_picture()
        let status = withExtendedLifetime(turn) {
            cjpeg_decoder_move(
                raw, turn.orientation.swapsAxes ? 1 : 0, Int32(size.width), Int32(size.height),
                { context, row, blocks in
                    guard let context, let blocks else { return -1 }
                    let turn = Unmanaged<JPEGMCUTurn>.fromOpaque(context).takeUnretainedValue()
                    let rows = (0..<turn.componentCount).compactMap { index in
                        blocks[index].map { UnsafeMutableRawPointer($0).assumingMemoryBound(to: Int16.self) }
                    }
                    return turn.fill(Int(row), rows) ? 0 : -1
                }, Unmanaged.passUnretained(turn).toOpaque(), &picture)
        }
        if status == .unsupported { return nil }
        try check(status)
        return picture
    }

    private func check(_ status: cjpeg_status) throws(CodecError) {
        if let error = CodecError(status, cjpeg_decoder_message(raw)) { throw error }
    }
}
