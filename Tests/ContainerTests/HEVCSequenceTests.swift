import Container
import Core
import Support
import Testing

/// A HEVC sequence header that tells another picture than the container would make a decoder allocate that one.
@Suite struct HEVCSequenceTests {
    private func failure(_ bytes: [UInt8]) -> Failure? {
        do {
            _ = try HEIFStructure(parsing: bytes.span, limits: Limits())
            return nil
        } catch {
            return error
        }
    }

    /// A file of one item of 64×48 pixels, or of 4 such tiles.
    private func shape(_ sequence: SequenceHeader?, data: [UInt8] = [1, 2, 3, 4], isGrid: Bool = false) -> HEIFShape {
        var shape = isGrid ? HEIFShape.grid : HEIFShape()
        shape.properties[0] = HEIFShape.ispe(64, 48)
        shape.properties[1] = HEIFShape.hvcC(units: sequence.map { [$0.unit] } ?? [])
        if isGrid {
            shape.properties[2] = HEIFShape.ispe(100, 80)
            shape.items[2].data = data
        } else {
            shape.items[0].data = data
        }
        return shape
    }

    @Test(
        arguments: [
            SequenceHeader(64, 48), SequenceHeader(72, 56, window: (0, 4, 2, 2)),
            SequenceHeader(64, 48, chroma: 3), SequenceHeader(64, 48, subLayers: 6),
            SequenceHeader(0x0101, 48, layer: 1),
        ])
    func theSamePictureIsTaken(sequence: SequenceHeader) {
        for isGrid in [false, true] {
            #expect(failure(shape(sequence, isGrid: isGrid).bytes) == nil)
            #expect(failure(shape(nil, data: inBand(sequence), isGrid: isGrid).bytes) == nil)
        }
    }

    /// Canon's thumbnails are so. Tiles would be written past the picture that the container tells.
    @Test(arguments: [SequenceHeader(64, 56, chroma: 0), SequenceHeader(191, 175), SequenceHeader(64, 49)])
    func onlyASingleItemMayBeCodedALittleLarger(sequence: SequenceHeader) {
        #expect(failure(shape(sequence).bytes) == nil)
        #expect(failure(shape(nil, data: inBand(sequence)).bytes) == nil)
        for bytes in [shape(sequence, isGrid: true).bytes, shape(nil, data: inBand(sequence), isGrid: true).bytes] {
            #expect(failure(bytes)?.detail.contains("its sequence header says \(sequence.size)") == true)
        }
    }

    @Test(
        arguments: [
            SequenceHeader(16384, 16384), SequenceHeader(192, 48), SequenceHeader(64, 176), SequenceHeader(56, 48),
            SequenceHeader(64, 40), SequenceHeader(64, 48, window: (1, 0, 0, 0)), SequenceHeader(65535, 1),
            SequenceHeader(64, 16384, subLayers: 6), SequenceHeader(0xFFFF_FFFE, 0xFFFF_FFFE, chroma: 3),
        ])
    func anotherPictureIsRefused(sequence: SequenceHeader) {
        for isGrid in [false, true] {
            for bytes in [
                shape(sequence, isGrid: isGrid).bytes, shape(nil, data: inBand(sequence), isGrid: isGrid).bytes,
            ] {
                let found = failure(bytes)
                #expect(found?.code == .corrupt)
                #expect(found?.detail.contains("its sequence header says \(sequence.size)") == true)
            }
        }
    }

    /// x265's own header: its picture is there, whole, but the container tells a smaller one.
    @Test func anEncodersOwnHeaderIsRead() throws {
        var bytes = try HEICPicture(250, 208).make()
        #expect(failure(bytes) == nil)
        let size = HEIFShape.big(250, 4) + HEIFShape.big(208, 4)
        let ispe = try #require(bytes.firstRange(of: Array("ispe".utf8) + [0, 0, 0, 0] + size))
        bytes.replaceSubrange(
            (ispe.upperBound - 8)..<ispe.upperBound, with: HEIFShape.big(16, 4) + HEIFShape.big(16, 4))
        let detail = failure(bytes)?.detail ?? "passed"
        #expect(detail.contains("16x16 pixels large, its sequence header says 256x208"), "\(detail)")
    }

    @Test func brokenHeadersAreRefused() {
        let unit = SequenceHeader(64, 48).unit
        for count in 2..<(unit.count - 1) {
            var shape = HEIFShape()
            shape.properties[1] = HEIFShape.hvcC(units: [Array(unit.prefix(count))])
            #expect(failure(shape.bytes)?.detail.contains("breaks its rules") == true, "\(count) bytes")
        }
        var long = HEIFShape()
        long.properties[1] = HEIFShape.box("hvcC", Array(HEIFShape.hvcC(units: [unit]).dropFirst(8).dropLast()))
        #expect(failure(long.bytes)?.detail.contains("'hvcC' ends too early") == true)
        let wide = SequenceHeader(64, 48, window: (16, 16, 0, 0))
        #expect(failure(shape(wide).bytes)?.detail.contains("breaks its rules") == true)
    }

    /// FFmpeg looks for start codes, whatever the lengths say, and would find a header behind one.
    @Test(arguments: [1, 2, 3, 32]) func hiddenUnitsAreRefused(extents: Int) {
        let hidden = [0x26, 1, 9, 0, 0, 1] + SequenceHeader(16384, 16384).unit
        var shape = shape(nil, data: HEIFShape.big(hidden.count, 4) + hidden)
        shape.items[0].extents = extents
        #expect(failure(shape.bytes)?.detail.contains("a start code among its data") == true)
        // A length looks like one and is none.
        #expect(failure(self.shape(nil, data: HEIFShape.big(256, 4) + Array(repeating: 7, count: 256)).bytes) == nil)
    }

    @Test func unitsWithoutEndAreRefused() {
        #expect(failure(shape(nil, data: Array(repeating: 0, count: 4 * 1024)).bytes) == nil)
        let found = failure(shape(nil, data: Array(repeating: 0, count: 4 * 1025)).bytes)
        #expect(found?.detail.contains("more than 1024 units") == true)
    }

    /// A slice, a unit without bytes, and the header, as an item's data.
    private func inBand(_ sequence: SequenceHeader) -> [UInt8] {
        [0, 0, 0, 3, 0x26, 1, 9, 0, 0, 0, 0] + HEIFShape.big(sequence.unit.count, 4) + sequence.unit
    }
}

/// A sequence header, written by the standard (ITU-T H.265, section 7.3.2.2.1) up to its bit depths.
struct SequenceHeader: Sendable, CustomTestStringConvertible {
    let size: PixelSize
    private let chroma: Int
    private let window: [Int]?
    private let subLayers: Int
    private let layer: UInt8

    init(
        _ width: Int, _ height: Int, chroma: Int = 1, window: (Int, Int, Int, Int)? = nil, subLayers: Int = 0,
        layer: UInt8 = 0
    ) {
        size = PixelSize(width: width, height: height)
        self.chroma = chroma
        self.window = window.map { [$0.0, $0.1, $0.2, $0.3] }
        self.subLayers = subLayers
        self.layer = layer
    }

    var testDescription: String { "\(size), chroma \(chroma), \(subLayers) sub-layers, layer \(layer)" }

    /// The NAL unit.
    var unit: [UInt8] {
        var bits: [Int] = []
        func put(_ value: Int, _ width: Int) { bits += (0..<width).reversed().map { value >> $0 & 1 } }
        func exponential(_ value: Int) {
            let width = Int.bitWidth - (value + 1).leadingZeroBitCount
            put(0, width - 1)
            put(value + 1, width)
        }
        put(0, 4)
        put(subLayers, 3)
        put(1, 1)
        for _ in 0..<12 { put(0, 8) }
        // Sub-layers with a profile, with a level, with both, in turn.
        for index in 0..<subLayers { put(index % 3 + 1, 2) }
        if subLayers > 0 { put(0, 2 * (8 - subLayers)) }
        for index in 0..<subLayers { put(0, [8, 88, 96][index % 3]) }
        exponential(0)
        exponential(chroma)
        if chroma == 3 { put(0, 1) }
        exponential(size.width)
        exponential(size.height)
        put(window == nil ? 0 : 1, 1)
        for border in window ?? [] { exponential(border) }
        put(0b11_1111, 6)
        put(0, 8 - bits.count % 8)
        return [0x42 | layer >> 5, layer << 3 | 1] + escaped(bits)
    }

    private func escaped(_ bits: [Int]) -> [UInt8] {
        var bytes: [UInt8] = []
        var zeros = 0
        for start in stride(from: 0, to: bits.count, by: 8) {
            let byte = bits[start..<(start + 8)].reduce(0) { $0 << 1 | UInt8($1) }
            if zeros == 2, byte <= 3 {
                bytes.append(3)
                zeros = 0
            }
            zeros = byte == 0 ? zeros + 1 : 0
            bytes.append(byte)
        }
        return bytes
    }
}

extension HEIFShape {
    /// A decoder configuration with these NAL units, in an array each.
    fileprivate static func hvcC(units: [[UInt8]]) -> [UInt8] {
        let record = hvcC().dropFirst(8).dropLast()
        let arrays = units.map { unit -> [UInt8] in [0x21] + big(1, 2) + big(unit.count, 2) + unit }
        return box("hvcC", record + [UInt8(units.count)] + arrays.joined())
    }
}
