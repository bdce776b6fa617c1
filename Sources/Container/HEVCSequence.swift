import Core

/// The sizes that a HEVC sequence header tells (ITU-T H.265, section 7.3.2.2.1). A decoder makes room by them, whatever
/// the container says: an item of 64x64 pixels can ask for gigabytes.
struct HEVCSequence: Sendable, Hashable {
    /// As coded, in whole coding blocks.
    let codedSize: PixelSize
    /// What the conformance window leaves of it.
    let size: PixelSize

    /// All fields up to the conformance window fit here, with their emulation prevention bytes.
    private static let bytesMax = 192
    private static let unitType = 33

    /// - Parameter unit: a NAL unit with its header.
    /// - Returns: nil where it is no sequence header, or one of another layer, which no decoder of stills looks at.
    /// - Throws: `corrupt` where it ends too early or makes no sense.
    init?(_ unit: Extents, of bytes: Span<UInt8>) throws(Failure) {
        guard let header = unit.bigEndian(2, at: 0, in: bytes), header >> 9 & 0x3F == HEVCSequence.unitType,
            header >> 3 & 0x3F == 0
        else { return nil }
        var bits = HEVCBits(unit.dropFirst(2), of: bytes, bytesMax: HEVCSequence.bytesMax)
        try HEVCSequence.skipProfile(&bits)
        _ = try bits.exponential()
        let chromaFormat = try bits.exponential()
        guard chromaFormat <= 3 else { throw HEVCBits.malformed }
        if chromaFormat == 3 { try bits.skip(1) }
        let (width, height) = (try bits.exponential(), try bits.exponential())
        codedSize = PixelSize(width: width, height: height)
        var (across, down) = (0, 0)
        if try bits.number(1) == 1 {
            // In units of chroma samples.
            across = (chromaFormat == 1 || chromaFormat == 2 ? 2 : 1) * (try bits.exponential() + bits.exponential())
            down = (chromaFormat == 1 ? 2 : 1) * (try bits.exponential() + bits.exponential())
        }
        guard width > across, height > down else { throw HEVCBits.malformed }
        size = PixelSize(width: width - across, height: height - down)
    }

    /// The fields up to `sps_seq_parameter_set_id`: among them a profile, and one of each sub-layer (section 7.3.3).
    private static func skipProfile(_ bits: inout HEVCBits) throws(Failure) {
        try bits.skip(4)
        let subLayers = try bits.number(3)
        try bits.skip(1 + 88 + 8)
        var present: [(profile: Bool, level: Bool)] = []
        for _ in 0..<subLayers { present.append((try bits.number(1) == 1, try bits.number(1) == 1)) }
        if subLayers > 0 { try bits.skip(2 * (8 - subLayers)) }
        for layer in present { try bits.skip((layer.profile ? 88 : 0) + (layer.level ? 8 : 0)) }
    }

    /// Coded pictures end with whole blocks of at most 64 samples; Canon's thumbnails of 214 rows have 106 more.
    private static let slack = 128

    /// - Parameter isTile: whether the item is part of a grid. Who lays tiles side by side makes room by what the
    ///   container tells of them, so that one which is larger would be written past it.
    /// - Throws: `corrupt` where the picture that it tells is not the one of `size` that the container tells.
    func check(_ size: PixelSize, of id: UInt32, isTile: Bool) throws(Failure) {
        let isClose =
            self.size.width >= size.width && self.size.height >= size.height
            && codedSize.width - size.width < HEVCSequence.slack && codedSize.height - size.height < HEVCSequence.slack
        guard isTile ? self.size == size : isClose else {
            throw Failure(
                .corrupt, "HEIF: item \(id) is \(size) pixels large, its sequence header says \(codedSize)")
        }
    }
}

/// Reads the bits of a NAL unit's payload, without its emulation prevention bytes (H.265, section 7.3.1.1).
struct HEVCBits {
    static let malformed = Failure(.corrupt, "HEIF: a HEVC sequence header breaks its rules")

    private var payload: [UInt8] = []
    private var position = 0

    init(_ unit: Extents, of bytes: Span<UInt8>, bytesMax: Int) {
        var zeros = 0
        for offset in 0..<bytesMax {
            guard let byte = unit.byte(at: offset, in: bytes) else { return }
            if zeros >= 2, byte == 3 {
                zeros = 0
                continue
            }
            zeros = byte == 0 ? zeros + 1 : 0
            payload.append(UInt8(byte))
        }
    }

    mutating func skip(_ count: Int) throws(Failure) {
        position += count
        guard position <= 8 * payload.count else { throw HEVCBits.malformed }
    }

    /// A number of at most 32 bits.
    mutating func number(_ width: Int) throws(Failure) -> Int {
        guard 8 * payload.count - position >= width else { throw HEVCBits.malformed }
        var value = 0
        for _ in 0..<width {
            value = value << 1 | Int(payload[position >> 3] >> UInt8(7 - position & 7)) & 1
            position += 1
        }
        return value
    }

    /// ue(v): an Exp-Golomb code (section 9.2), below 2³².
    mutating func exponential() throws(Failure) -> Int {
        var zeros = 0
        while try number(1) == 0 {
            zeros += 1
            guard zeros < 32 else { throw HEVCBits.malformed }
        }
        return (1 << zeros) - 1 + (try number(zeros))
    }
}
