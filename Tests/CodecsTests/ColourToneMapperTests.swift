import Core
import Foundation
import Testing

@testable import Codecs

@Suite struct ColourToneMapperTests {
    private static func format(_ colour: ColourDescription, width: Int = 40, height: Int = 100) -> PictureFormat {
        PictureFormat(size: PixelSize(width: width, height: height), layout: .rgb, depth: 16, colour: colour)
    }

    private static func colour(_ primaries: UInt16, _ transfer: UInt16) -> ColourDescription {
        ColourDescription(primaries: primaries, transfer: transfer, matrix: 0, isFullRange: true)
    }

    private static func map(_ picture: PlanarPicture, bandRows: Int = 16) throws -> PlanarPicture {
        var mapper = try ToneMapper.mapping(PlanarPictureSource(picture, rows: bandRows))
        return try PlanarPicture(drawing: &mapper)
    }

    /// The three codes, of 65535, that each colour becomes.
    private static func map(_ colours: [[Double]], _ primaries: UInt16, _ transfer: UInt16) throws -> [[Int]] {
        let format = format(colour(primaries, transfer), width: colours.count, height: 1)
        let result = try map(PlanarPicture(format) { plane, x, _ in Int((colours[x][plane] * 65535).rounded()) })
        return colours.indices.map { x in (0..<3).map { result.sample($0, x, 0) } }
    }

    @Test("codes that the recommendations print")
    func landmarks() {
        // BT.2408, table 1: HDR reference white is 203 cd/m², 58 % of PQ and 75 % of HLG; grey card 26, 38 %.
        #expect(abs(ToneCurve.codeOfPQ(203) - 0.58) < 0.005)
        #expect(abs(ToneCurve.codeOfPQ(26) - 0.38) < 0.005)
        #expect(abs(ToneCurve.lightOfPQ(1) - 10_000) < 1)
        #expect(ToneCurve.lightOfPQ(0) == 0)
        let scene = ToneCurve.sceneOfHLG(0.75)
        #expect(abs(scene * Double(ToneCurve.displayGainOfHLG(Float(scene))) - 203) < 1)
        #expect(abs(ToneCurve.sceneOfHLG(1) - 1) < 1e-5)
        #expect(abs(ToneCurve.sceneOfHLG(0.5) - 1.0 / 12) < 1e-6)
    }

    @Test("there and back on PQ's scale", arguments: [0.001, 0.1, 1, 26, 203, 1000, 4000] as [Double])
    func inversion(_ light: Double) {
        #expect(abs(ToneCurve.lightOfPQ(ToneCurve.codeOfPQ(light)) / light - 1) < 1e-9)
    }

    @Test("the roll-off leaves what is dark, never falls, and ends at the reference white")
    func rollOff() {
        for light in stride(from: 0.5, through: 80, by: 0.5) { #expect(ToneCurve.rolledOff(light) == light) }
        var last = 0.0
        for light in stride(from: 1.0, through: 1000, by: 1) {
            let rolled = ToneCurve.rolledOff(light)
            #expect(rolled > last && rolled <= light)
            last = rolled
        }
        #expect(abs(last - 203) < 0.5)
        #expect(abs(ToneCurve.rolledOff(5000) - 203) < 0.5)
    }

    /// The same by other means: double precision, no tables, matrices from chromaticities.
    private static func expected(_ codes: [Double], _ primaries: UInt16, _ transfer: UInt16) -> [Double] {
        let chromaticities =
            switch primaries {
            case 1: [0.64, 0.33, 0.30, 0.60, 0.15, 0.06]
            case 12: [0.680, 0.320, 0.265, 0.690, 0.150, 0.060]
            default: [0.708, 0.292, 0.170, 0.797, 0.131, 0.046]
            }
        let toXYZ = Colorimetry.toXYZ(chromaticities)
        func luminance(_ light: [Double]) -> Double { Colorimetry.multiply(toXYZ, light)[1] }
        func pqLight(_ code: Double) -> Double {
            let power = pow(code, 32 / 2523.0)
            return 10_000 * pow(max(power - 0.8359375, 0) / (18.8515625 - 18.6875 * power), 8192 / 1305.0)
        }
        func pqCode(_ light: Double) -> Double {
            let power = pow(light / 10_000, 1305 / 8192.0)
            return pow((0.8359375 + 18.8515625 * power) / (1 + 18.6875 * power), 2523 / 32.0)
        }
        var light: [Double]
        if transfer == 18 {
            light = codes.map { $0 <= 0.5 ? $0 * $0 / 3 : (exp(($0 - 0.55991073) / 0.17883277) + 0.28466892) / 12 }
            let gain = 1000 * pow(luminance(light), 0.2)
            light = light.map { $0 * gain }
        } else {
            light = codes.map(pqLight)
        }
        let most = light.max() ?? 0
        let (e1, target) = (min(pqCode(most) / pqCode(1000), 1), pqCode(203) / pqCode(1000))
        let knee = 1.5 * target - 0.5
        let t = (e1 - knee) / (1 - knee)
        let spline =
            (2 * t * t * t - 3 * t * t + 1) * knee + (t * t * t - 2 * t * t + t) * (1 - knee)
            + (3 * t * t - 2 * t * t * t) * target
        let rolled = e1 < knee ? most : pqLight(spline * pqCode(1000))
        light = light.map { most > 0 ? $0 * rolled / most / 203 : 0 }
        let toP3 = Colorimetry.inverse(Colorimetry.toXYZ([0.680, 0.320, 0.265, 0.690, 0.150, 0.060]))
        var shown = Colorimetry.multiply(toP3, Colorimetry.multiply(toXYZ, light))
        let grey = luminance(light)
        // Towards grey until all channels lie between 0 and 1, the way found by halving.
        var (inside, outside) = (0.0, 1.0)
        func mixed(_ share: Double) -> [Double] { shown.map { grey + ($0 - grey) * share } }
        if mixed(1).allSatisfy({ (-1e-9...1 + 1e-9).contains($0) }) { inside = 1 }
        for _ in 0..<50 where inside < 1 {
            let middle = (inside + outside) / 2
            if mixed(middle).allSatisfy({ (0...1).contains($0) }) { inside = middle } else { outside = middle }
        }
        shown = mixed(inside)
        return shown.map { 65535 * ($0 <= 0.0031308 ? 12.92 * $0 : 1.055 * pow($0, 1 / 2.4) - 0.055) }
    }

    @Test(
        "colours by the formulas of BT.2100 and BT.2390",
        arguments: [(9, 16), (12, 16), (1, 16), (2, 16), (9, 18), (12, 18), (1, 18)] as [(UInt16, UInt16)])
    func reference(_ primaries: UInt16, _ transfer: UInt16) throws {
        let levels = [0, 0.1, 0.3, 0.45, 0.55, 0.65, 0.75, 0.9, 1].map { ($0 * 65535).rounded() / 65535 }
        let colours = levels.flatMap { red in levels.flatMap { green in levels.map { [red, green, $0] } } }
        for (codes, found) in zip(colours, try Self.map(colours, primaries, transfer)) {
            let expected = Self.expected(codes, primaries, transfer)
            // A third of an 8-bit code.
            for (a, b) in zip(found, expected) { #expect(abs(Double(a) - b) < 96, "\(codes) \(found) \(expected)") }
        }
    }

    @Test("grey stays grey, and rises")
    func greys() throws {
        for transfer: UInt16 in [16, 18] {
            var last = -1
            for result in try Self.map((0...100).map { Array(repeating: Double($0) / 100, count: 3) }, 9, transfer) {
                #expect((result.max() ?? 0) - (result.min() ?? 0) <= 24)
                #expect(result[1] >= last)
                last = result[1]
            }
            #expect(last >= 65530)
        }
    }

    @Test("a diffuse white is bright, and not at the top")
    func referenceWhite() throws {
        // BT.2408's reference white: 58 % of PQ, 75 % of HLG.
        for (transfer, code) in [(16, 0.5807), (18, 0.75)] as [(UInt16, Double)] {
            let white = try Self.map([[code, code, code]], 9, transfer)[0][0] * 255 / 65535
            #expect((220...240).contains(white))
        }
    }

    @Test("bands leave no trace, and the result is Display P3")
    func bands() throws {
        let picture = PlanarPicture(Self.format(Self.colour(9, 16))) { plane, x, y in
            (x * 1201 + y * 523 + plane * 9001) % 50_000
        }
        let whole = try Self.map(picture, bandRows: 100)
        for rows in [1, 7, 64] { #expect(try Self.map(picture, bandRows: rows) == whole) }
        #expect(whole.format.colour == Self.colour(12, 13))
        #expect(whole.format.size == picture.format.size)
    }

    @Test("anything but HDR in RGB of 16 bits is refused")
    func refused() {
        var formats = [
            Self.format(Self.colour(9, 13)), Self.format(Self.colour(9, 16)), Self.format(Self.colour(9, 18)),
        ]
        formats[1].depth = 10
        formats[2].colour.isFullRange = false
        for format in formats {
            let picture = PlanarPicture(format) { _, _, _ in 0 }
            let error = #expect(throws: CodecError.self) { try Self.map(picture) }
            #expect(error?.kind == .unsupported)
        }
    }

    @Test("from a camera's 4:2:2 of ten bits to a JPEG's planes", arguments: [16, 18] as [UInt16])
    func chain(_ transfer: UInt16) throws {
        // 26 cd/m², a grey card (BT.2408, table 1): 38 % of either code.
        let format = PictureFormat(
            size: PixelSize(width: 33, height: 70), layout: .ycbcr(.s422), depth: 10,
            colour: ColourDescription(primaries: 9, transfer: transfer, matrix: 9, isFullRange: true))
        let picture = PlanarPicture(format) { plane, _, _ in plane == 0 ? 389 : 512 }
        var chain = try PlanarConverter.converting(
            try ToneMapper.mapping(
                try PlanarConverter.converting(PlanarPictureSource(picture, rows: 16), to: .rgb, depth: 16)),
            to: .ycbcr(.s420))
        let result = try PlanarPicture(drawing: &chain)
        #expect(result.format.colour.isJFIFMatrix)
        #expect(result.format.colour.primaries == 12 && result.format.colour.transfer == 13)
        // 26 of 203 by sRGB's curve is code 100.
        #expect(result.planes[0].allSatisfy { (98...103).contains($0) })
        #expect(result.planes[1].allSatisfy { (127...129).contains($0) })
    }
}
