import CJPEG
import CTurboJPEG
package import Core
import Glibc

/// Turns and crops a JPEG by moving its DCT coefficients: no sample is computed, nothing is lost.
package enum LosslessTransform {
    /// Whether `run` turns such a picture (`OutputGeometry` has the rule).
    package static func canTurn(_ frame: JPEGGeometry, _ orientation: Orientation) -> Bool {
        guard frame.components.count == 1 || canMove(frame.subsampling) else { return false }
        return OutputGeometry.canTurnLosslessly(frame.size, frame.subsampling, mcu: frame.mcuSize, orientation)
    }

    /// Whether `run` moves the coefficients of a picture in colour: TurboJPEG has a name for 4:1:0 nowhere, and for 4:4:1
    /// from version 3 on.
    package static func canMove(_ subsampling: ChromaSubsampling?) -> Bool {
        subsampling.map { $0 != .s410 && $0 != .s441 } ?? false
    }

    /// Turns the first picture in `bytes`, then crops it. `.upright` moves nothing, but codes anew: an arithmetic-coded
    /// picture comes out in Huffman coding. A progressive picture stays progressive.
    ///
    /// - Parameters:
    ///   - crop: of the turned picture, all edges on borders of MCUs or the picture's own, so that nothing of what was
    ///     cut off stays behind in a block.
    ///   - isProgressive: makes any picture progressive.
    ///   - bytesMax: what the work may hold in memory.
    /// - Returns: the picture without foreign segments, or nil where it cannot be had without loss: by its edges, in
    ///   this memory, because its coefficients are wider than those of 8-bit samples, or because TurboJPEG has no name
    ///   for its sampling factors.
    /// - Throws: `corrupt`, `truncated`, `unsupported`, `outOfMemory`, as `EntropyProof` does.
    package static func run(
        _ bytes: UnsafeRawBufferPointer, orientation: Orientation, crop: PixelRectangle? = nil,
        isProgressive: Bool = false, bytesMax: Int = .max
    ) throws(CodecError) -> LosslessPicture? {
        var walk = JPEGWalk(bytes, indexBytesMax: isProgressive ? 0 : bytesMax)
        let proof = try EntropyProof.prove(bytes, by: &walk, bytesMax: bytesMax)
        let frame = proof.frame
        let turned = frame.size.applying(orientation)
        let part = crop.flatMap { $0.size == turned ? nil : $0 }
        if let part, !part.isAligned(to: frame.mcuSize.applying(orientation), in: turned) { return nil }
        guard canTurn(frame, orientation) else { return nil }
        let data = UnsafeRawBufferPointer(rebasing: bytes[..<proof.end])
        if let index = walk.index, JPEGMCUTurn.canTurn(frame) {
            let turn = JPEGMCUTurn(
                index, walk.tables, frame: frame, orientation, part: part ?? PixelRectangle(all: turned))
            let picture = try data.moved(by: turn, size: part?.size ?? turned, bytesMax: bytesMax)
            guard let picture else { return nil }
            return LosslessPicture(adopting: picture, proof: proof)
        }
        guard bytesNeeded(frame, orientation) <= bytesMax else { return nil }
        let picture = try data.turned(
            orientation, crop: part, isProgressive: isProgressive || frame.isProgressive)
        guard let picture else { return nil }
        return LosslessPicture(adopting: picture, proof: proof)
    }

    /// What `run` holds in memory where not all is in one sequential scan: all coefficients, twice if they move,
    /// without the picture that it returns.
    package static func bytesNeeded(_ frame: JPEGGeometry, _ orientation: Orientation) -> Int {
        frame.coefficientBytes * (orientation == .upright ? 1 : 2) + 1 << 20
    }
}

/// A picture as `LosslessTransform` leaves it: SOI, JFIF or Adobe marker, tables, scans, EOI.
package struct LosslessPicture: ~Copyable {
    private let buffer: MovedBytes
    /// Of the source: what was odd but harmless there.
    package let proof: EntropyProof
    /// How many bytes before the body a writer of its own preamble leaves out: SOI, and JFIF where there is one.
    private let preambleBytes: Int

    /// The picture's body has no Adobe marker and may stand behind a JFIF marker. Where it has one (RGB), it begins
    /// with it and must not.
    package let takesJFIF: Bool

    fileprivate init(adopting buffer: consuming MovedBytes, proof: EntropyProof) {
        let length = buffer.jfifBytes
        self.buffer = buffer
        self.proof = proof
        takesJFIF = length > 0
        preambleBytes = 2 + length
    }

    /// The whole picture. The bytes are valid inside `body` only.
    package borrowing func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(buffer.bytes)
    }

    /// What follows SOI and JFIF, to be written behind segments of one's own. Valid inside `body` only.
    package borrowing func withBody<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(rebasing: buffer.bytes[preambleBytes...]))
    }
}

/// Owns the bytes of a picture in the memory of the library that wrote it.
private struct MovedBytes: ~Copyable {
    private let base: UnsafeMutablePointer<UInt8>
    private let count: Int
    private let release: @convention(c) (UnsafeMutablePointer<UInt8>?) -> Void

    init(
        adopting base: UnsafeMutablePointer<UInt8>, count: Int,
        release: @escaping @convention(c) (UnsafeMutablePointer<UInt8>?) -> Void
    ) {
        self.base = base
        self.count = count
        self.release = release
    }

    deinit { release(base) }

    /// Valid as long as the buffer is.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

    /// Whether it ends with EOI, which is written last of all and cannot stand in the data of a scan.
    var isComplete: Bool { count >= 2 && base[count - 2] == 0xFF && base[count - 1] == 0xD9 }

    /// The length of the JFIF segment after SOI, marker included; 0 where there is none.
    var jfifBytes: Int {
        guard count > 6, base[2] == 0xFF, base[3] == 0xE0 else { return 0 }
        return 2 + Int(base[4]) << 8 + Int(base[5])
    }
}

/// Owns a TurboJPEG instance for transforms.
private struct TurboTransformer: ~Copyable {
    private let raw: tjhandle

    private init(adopting raw: tjhandle) { self.raw = raw }

    deinit { tjDestroy(raw) }

    static func starting() throws(CodecError) -> TurboTransformer {
        guard let raw = tjInitTransform() else { throw CodecError(.outOfMemory, "no JPEG transformer") }
        return TurboTransformer(adopting: raw)
    }

    /// - Returns: nil where TurboJPEG does not do it. It says why in words alone; the data is sound, since it was
    ///   proved.
    func run(_ bytes: UnsafeRawBufferPointer, _ transform: tjtransform) -> MovedBytes? {
        var transform = transform
        var output: UnsafeMutablePointer<UInt8>?
        var count: UInt = 0
        let status = tjTransform(
            raw, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt(bytes.count), 1, &output, &count,
            &transform, TJFLAG_LIMITSCANS)
        guard let output else { return nil }
        let buffer = MovedBytes(adopting: output, count: Int(count), release: tjFree)
        // A warning can be about a header only, since the data has been proved; the picture is there. But a failure
        // after a warning is told as a warning too.
        let isWarned = tjGetErrorCode(raw) == Int32(bitPattern: TJERR_WARNING.rawValue)
        guard status == 0 || (isWarned && buffer.isComplete) else { return nil }
        return buffer
    }
}

extension UnsafeRawBufferPointer {
    /// Moves the coefficients MCU by MCU.
    ///
    /// - Returns: nil where some have no code.
    fileprivate func moved(
        by turn: JPEGMCUTurn, size: PixelSize, bytesMax: Int
    ) throws(CodecError) -> MovedBytes? {
        var decoder = try JPEGDecoder.opening(self, bytesMax: bytesMax)
        _ = try decoder.readHeader()
        guard let picture = try decoder.move(turn, size: size), let bytes = picture.bytes else { return nil }
        return MovedBytes(adopting: bytes, count: picture.count, release: { free($0) })
    }
}

/// Called by TurboJPEG with each row of moved blocks. The values that 8-bit samples have are those for which there are
/// codes, in whatever order the blocks come to lie: DC values less than 2048 apart, and AC values below 1024 (T.81,
/// tables F.1 and F.2). Of others, which decoders read without a word and a bit that fell over can make, libjpeg-turbo
/// would write data that nobody can read.
private let refuseWideCoefficients:
    @convention(c) (
        UnsafeMutablePointer<Int16>?, tjregion, tjregion, Int32, Int32, UnsafeMutablePointer<tjtransform>?
    ) -> Int32 = { coefficients, region, _, _, _, _ in
        guard let coefficients else { return -1 }
        var isWide = false
        for block in stride(from: 0, to: Int(region.w) * Int(region.h), by: 64) {
            isWide = isWide || !(-1024...1023).contains(coefficients[block])
            var largest: UInt16 = 0
            for index in 1..<64 { largest = max(largest, coefficients[block + index].magnitude) }
            isWide = isWide || largest > 1023
        }
        return isWide ? -1 : 0
    }

extension UnsafeRawBufferPointer {
    fileprivate func turned(
        _ orientation: Orientation, crop: PixelRectangle?, isProgressive: Bool
    ) throws(CodecError) -> MovedBytes? {
        var transform = tjtransform()
        transform.op = Int32(bitPattern: orientation.operation.rawValue)
        transform.customFilter = refuseWideCoefficients
        transform.options = TJXOPT_PERFECT | TJXOPT_COPYNONE | (isProgressive ? TJXOPT_PROGRESSIVE : 0)
        if let crop {
            transform.options |= TJXOPT_CROP
            transform.r = tjregion(x: Int32(crop.x), y: Int32(crop.y), w: Int32(crop.width), h: Int32(crop.height))
        }
        return try TurboTransformer.starting().run(self, transform)
    }
}

extension Orientation {
    fileprivate var operation: TJXOP {
        switch self {
        case .upright: TJXOP_NONE
        case .mirrored: TJXOP_HFLIP
        case .rotated180: TJXOP_ROT180
        case .flipped: TJXOP_VFLIP
        case .transposed: TJXOP_TRANSPOSE
        case .rotated90: TJXOP_ROT90
        case .transversed: TJXOP_TRANSVERSE
        case .rotated270: TJXOP_ROT270
        }
    }
}
