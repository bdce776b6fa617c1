import Core
import Foundation
import Support
import Testing

@testable import Codecs

@Suite struct PlanarConverterTests {
    private static func convert(
        _ picture: PlanarPicture, to layout: PlaneLayout, depth: Int = 8, size: PixelSize? = nil, bandRows: Int = 32
    ) throws -> PlanarPicture {
        var converter = try PlanarConverter.converting(
            PlanarPictureSource(picture, rows: bandRows), to: layout, depth: depth, size: size)
        return try PlanarPicture(drawing: &converter)
    }

    private static func colour(matrix: UInt16, isFullRange: Bool, primaries: UInt16 = 9) -> ColourDescription {
        ColourDescription(primaries: primaries, transfer: 16, matrix: matrix, isFullRange: isFullRange)
    }

    /// A picture with every mixture of the three samples, within the nominal range of `colour`.
    private static func mixture(_ layout: PlaneLayout, depth: Int, colour: ColourDescription) -> PlanarPicture {
        let format = PictureFormat(
            size: PixelSize(width: 21, height: 83), layout: layout, depth: depth, colour: colour)
        let code = CodeRange(depth: depth, isFull: colour.isFullRange)
        return PlanarPicture(format) { plane, x, y in
            let unit = Double((x * (7 + 4 * plane) + y * (11 - 3 * plane) + 5 * plane) % 97) / 96
            return layout == .rgb || plane == 0 ? code.luma(unit) : code.chroma(0.4 * (unit - 0.5))
        }
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var matrix: UInt16
        var isFull: Bool
        var depth: Int
        var testDescription: String { "matrix \(matrix), \(isFull ? "full" : "limited"), \(depth) bits" }
    }

    private static let cases: [Case] = ([1, 4, 5, 6, 7, 8, 9] as [UInt16]).flatMap { matrix in
        let depths = matrix == 1 ? [8, 10, 12, 16] : [8, 10]
        // Over the limited range matrix 8 mixes codes, not values (H.273, section 8.3): a case of its own.
        let ranges = matrix == 8 ? [true] : [true, false]
        return depths.flatMap { depth in
            ranges.map { Case(matrix: matrix, isFull: $0, depth: depth) }
        }
    }

    @Test("YCbCr to JFIF's YCbCr by the equations of H.273", arguments: cases)
    func matrix(_ test: Case) throws {
        let colour = Self.colour(matrix: test.matrix, isFullRange: test.isFull)
        let source = Self.mixture(.ycbcr(.s444), depth: test.depth, colour: colour)
        let result = try Self.convert(source, to: .ycbcr(.s444))
        #expect(result.format.colour == Self.colour(matrix: 6, isFullRange: true))
        #expect(result.format.depth == 8)
        let from = CodeRange(depth: test.depth, isFull: test.isFull)
        let target = CodeRange(depth: 8, isFull: true)
        let expected = PlanarPicture(result.format) { plane, x, y in
            let pixel = Luminance(matrix: test.matrix).rgb(from.unit(source, x, y))
            let value = Luminance(matrix: 6).ycbcr(pixel)[plane]
            return plane == 0 ? target.luma(value) : target.chroma(value)
        }
        #expect(result.distance(to: expected) <= 1)
    }

    @Test("YCbCr to RGB and RGB to YCbCr by the equations of H.273", arguments: cases)
    func rgb(_ test: Case) throws {
        let colour = Self.colour(matrix: test.matrix, isFullRange: test.isFull)
        let source = Self.mixture(.ycbcr(.s444), depth: test.depth, colour: colour)
        let result = try Self.convert(source, to: .rgb, depth: 16)
        let from = CodeRange(depth: test.depth, isFull: test.isFull)
        let wide = CodeRange(depth: 16, isFull: true)
        let expected = PlanarPicture(result.format) { plane, x, y in
            wide.luma(Luminance(matrix: test.matrix).rgb(from.unit(source, x, y))[plane])
        }
        #expect(result.distance(to: expected) <= 2)

        let back = try Self.convert(result, to: .ycbcr(.s444))
        let target = CodeRange(depth: 8, isFull: true)
        let expectedBack = PlanarPicture(back.format) { plane, x, y in
            let pixel = (0..<3).map { Double(result.sample($0, x, y)) / 65535 }
            let value = Luminance(matrix: 6).ycbcr(pixel)[plane]
            return plane == 0 ? target.luma(value) : target.chroma(value)
        }
        #expect(back.distance(to: expectedBack) <= 1)
    }

    @Test("grey has range and depth only", arguments: cases.filter { $0.matrix == 1 })
    func grey(_ test: Case) throws {
        let colour = Self.colour(matrix: 2, isFullRange: test.isFull)
        let source = Self.mixture(.grey, depth: test.depth, colour: colour)
        let result = try Self.convert(source, to: .grey)
        let from = CodeRange(depth: test.depth, isFull: test.isFull)
        let expected = PlanarPicture(result.format) { _, x, y in
            CodeRange(depth: 8, isFull: true).luma(from.lumaUnit(source.sample(0, x, y)))
        }
        #expect(result.distance(to: expected) <= 1)
    }

    @Test("grey to RGB is three equal planes")
    func greyToRGB() throws {
        let source = Self.mixture(.grey, depth: 10, colour: Self.colour(matrix: 2, isFullRange: true))
        let result = try Self.convert(source, to: .rgb, depth: 16)
        let expected = PlanarPicture(result.format) { _, x, y in
            CodeRange(depth: 16, isFull: true).luma(Double(source.sample(0, x, y)) / 1023)
        }
        #expect(result.distance(to: expected) <= 1)
    }

    @Test("RGB over the limited range, as HEVC may have it")
    func limitedRGB() throws {
        let source = Self.mixture(.rgb, depth: 10, colour: Self.colour(matrix: 0, isFullRange: false))
        let result = try Self.convert(source, to: .rgb)
        let from = CodeRange(depth: 10, isFull: false)
        let expected = PlanarPicture(result.format) { plane, x, y in
            CodeRange(depth: 8, isFull: true).luma(from.lumaUnit(source.sample(plane, x, y)))
        }
        #expect(result.distance(to: expected) <= 1)
        #expect(result.format.colour.matrix == 0)
    }

    @Test("a matrix that is not stated is BT.601's, one of identity is no YCbCr, an unknown one is refused")
    func matrixCodes() throws {
        let stated = Self.mixture(.ycbcr(.s420), depth: 8, colour: Self.colour(matrix: 6, isFullRange: false))
        var unstated = stated
        unstated.format.colour.matrix = 2
        let expected = try Self.convert(stated, to: .ycbcr(.s420))
        #expect(try Self.convert(unstated, to: .ycbcr(.s420)) == expected)
        for matrix: UInt16 in [0, 3, 10, 11, 12, 13, 14, 15, 200, 65535] {
            var unknown = stated
            unknown.format.colour.matrix = matrix
            let error = #expect(throws: CodecError.self) { try Self.convert(unknown, to: .ycbcr(.s420)) }
            #expect(error?.kind == .unsupported)
        }
    }

    @Test("a coloured picture does not become grey unasked")
    func colourToGrey() {
        let source = Self.mixture(.ycbcr(.s420), depth: 8, colour: .jfif)
        let error = #expect(throws: CodecError.self) { try Self.convert(source, to: .grey) }
        #expect(error?.kind == .unsupported)
    }

    @Test("ten bits to eight are dithered: the mean of a flat area is not rounded")
    func dither() throws {
        let format = PictureFormat(
            size: PixelSize(width: 64, height: 64), layout: .grey, depth: 10,
            colour: Self.colour(matrix: 2, isFullRange: true))
        for level in 510...514 {
            let result = try Self.convert(PlanarPicture(format) { _, _, _ in level }, to: .grey)
            let mean = Double(result.planes[0].reduce(0) { $0 + Int($1) }) / 4096
            #expect(abs(mean - Double(level) / 1023 * 255) < 0.03)
        }
    }
}

/// How codes and values relate (H.273, section 8.3).
struct CodeRange {
    let depth: Int
    let isFull: Bool

    private var step: Double { Double(1 << (depth - 8)) }
    private var top: Double { Double(1 << depth - 1) }

    func luma(_ value: Double) -> Int { clipped(isFull ? value * top : (219 * value + 16) * step) }

    func chroma(_ value: Double) -> Int {
        clipped(isFull ? value * top + 128 * step : (224 * value + 128) * step)
    }

    func lumaUnit(_ code: Int) -> Double { isFull ? Double(code) / top : (Double(code) / step - 16) / 219 }

    func chromaUnit(_ code: Int) -> Double {
        isFull ? (Double(code) - 128 * step) / top : (Double(code) / step - 128) / 224
    }

    func unit(_ picture: PlanarPicture, _ x: Int, _ y: Int) -> [Double] {
        [lumaUnit(picture.sample(0, x, y)), chromaUnit(picture.sample(1, x, y)), chromaUnit(picture.sample(2, x, y))]
    }

    private func clipped(_ value: Double) -> Int { Int(min(max(value, 0), top).rounded()) }
}

/// What luma is made of (H.273, table 4).
struct Luminance {
    private let red: Double
    private let blue: Double
    private var green: Double { 1 - red - blue }
    /// Matrix 8 has luma, then green and orange less their opposites.
    private let isYCgCo: Bool

    init(matrix: UInt16) {
        isYCgCo = matrix == 8
        (red, blue) =
            switch matrix {
            case 1: (0.2126, 0.0722)
            case 4: (0.30, 0.11)
            case 7: (0.212, 0.087)
            case 9: (0.2627, 0.0593)
            default: (0.299, 0.114)
            }
    }

    func rgb(_ ycbcr: [Double]) -> [Double] {
        if isYCgCo {
            let (luma, green, orange) = (ycbcr[0], ycbcr[1], ycbcr[2])
            return [luma - green + orange, luma + green, luma - green - orange]
        }
        let r = ycbcr[0] + 2 * (1 - red) * ycbcr[2]
        let b = ycbcr[0] + 2 * (1 - blue) * ycbcr[1]
        return [r, (ycbcr[0] - red * r - blue * b) / green, b]
    }

    func ycbcr(_ rgb: [Double]) -> [Double] {
        let y = red * rgb[0] + green * rgb[1] + blue * rgb[2]
        return [y, (rgb[2] - y) / (2 * (1 - blue)), (rgb[0] - y) / (2 * (1 - red))]
    }
}
