import Core
import Glibc

/// Brings PQ and HLG to standard dynamic range: RGB of 16 bits in, Display P3 of 16 bits out.
///
/// A pixel's greatest channel is rolled off and the others follow in proportion, so that hue and saturation stay. What
/// Display P3 does not hold is mixed with the grey of its own luminance until it does.
package struct ToneMapper<Source: BandSource & ~Copyable>: BandSource, ~Copyable {
    package let format: PictureFormat

    private var source: Source
    private let map: ToneMap
    private var output: PlanarSlice

    /// - Throws: `unsupported` unless the source yields RGB of 16 bits over the full range in PQ or HLG; `outOfMemory`.
    package static func mapping(_ source: consuming Source) throws(CodecError) -> ToneMapper {
        var format = source.format
        guard format.layout == .rgb, format.depth == 16, format.colour.isFullRange, format.colour.isHDR else {
            throw CodecError(.unsupported, "tone mapping of anything but HDR in RGB of 16 bits")
        }
        let map = ToneMap(primaries: format.colour.primaries, isHLG: format.colour.transfer == 18)
        format.colour = ColourDescription(primaries: 12, transfer: 13, matrix: 0, isFullRange: true)
        let output = try PlanarSlice.allocating(format, paddedWidth: format.size.width, capacity: 64)
        return ToneMapper(source: source, map: map, format: format, output: output)
    }

    private init(
        source: consuming Source, map: ToneMap, format: PictureFormat, output: consuming PlanarSlice
    ) {
        self.source = source
        self.map = map
        self.format = format
        self.output = output
    }

    /// - Throws: what the source throws, `outOfMemory`.
    package mutating func nextBand() throws(CodecError) -> Band? {
        guard let band = try source.nextBand() else { return nil }
        if output.capacity < band.rows {
            output = try .allocating(format, paddedWidth: format.size.width, capacity: band.rows)
        }
        for row in 0..<band.rows {
            map.convert(
                band.planes.map { ($0.base + row * $0.stride).assumingMemoryBound(to: UInt16.self) },
                to: (0..<3).map { index in
                    let plane = output.storage(index)
                    return (plane.base + row * plane.stride).assumingMemoryBound(to: UInt16.self)
                }, count: format.size.width)
        }
        return Band(firstRow: band.firstRow, rows: band.rows, planes: output.planes(skipping: 0, rows: band.rows))
    }
}

/// What tone mapping does to a pixel, with the tables that it looks up.
struct ToneMap: Sendable {
    private static let steps = 4096

    private let isHLG: Bool
    /// From code to cd/m², of HLG to the light of the scene.
    private let light: [Float]
    /// By light in steps up to the source's peak: what to multiply by, which also makes the reference white 1.
    private let gain: [Float]
    /// From light to sRGB's code.
    private let code: [UInt16]
    private let gamut: Gamut

    /// - Parameter primaries: 1 or 12; anything else is BT.2020, the only ones that BT.2100 knows.
    init(primaries: UInt16, isHLG: Bool) {
        self.isHLG = isHLG
        light = (0...65535).map { code in
            let code = Double(code) / 65535
            return Float(isHLG ? ToneCurve.sceneOfHLG(code) : ToneCurve.lightOfPQ(code))
        }
        gain = (0...Self.steps).map { step in
            let light = ToneCurve.sourcePeak * Double(max(step, 1)) / Double(Self.steps)
            return Float(ToneCurve.rolledOff(light) / light / ToneCurve.referenceWhite)
        }
        code = (0...65535).map { UInt16(65535 * ToneCurve.codeOfSRGB(Double($0) / 65535) + 0.5) }
        gamut =
            switch primaries {
            case 1: .bt709
            case 12: .displayP3
            default: .bt2020
            }
    }

    /// Light, or three factors of it.
    private struct Light {
        var red: Float
        var green: Float
        var blue: Float

        var greatest: Float { max(red, max(green, blue)) }
        var least: Float { min(red, min(green, blue)) }

        static func * (light: Light, factor: Float) -> Light {
            Light(red: light.red * factor, green: light.green * factor, blue: light.blue * factor)
        }

        /// The sum of the products.
        static func * (a: Light, b: Light) -> Float { a.red * b.red + a.green * b.green + a.blue * b.blue }
    }

    /// A set of primaries: how bright each is, and the rows of the matrix to Display P3. Computed from the
    /// chromaticities of H.273, table 2, as SMPTE RP 177 has it.
    private struct Gamut {
        var luminance: Light
        var toRed: Light
        var toGreen: Light
        var toBlue: Light

        static let bt709 = Gamut(
            luminance: Light(red: 0.2126390, green: 0.7151687, blue: 0.0721923),
            toRed: Light(red: 0.8224620, green: 0.1775380, blue: 0),
            toGreen: Light(red: 0.0331942, green: 0.9668058, blue: 0),
            toBlue: Light(red: 0.0170826, green: 0.0723974, blue: 0.9105199))
        static let displayP3 = Gamut(
            luminance: Light(red: 0.2289746, green: 0.6917385, blue: 0.0792869),
            toRed: Light(red: 1, green: 0, blue: 0), toGreen: Light(red: 0, green: 1, blue: 0),
            toBlue: Light(red: 0, green: 0, blue: 1))
        static let bt2020 = Gamut(
            luminance: Light(red: 0.2627002, green: 0.6779981, blue: 0.0593017),
            toRed: Light(red: 1.3435783, green: -0.2821797, blue: -0.0613986),
            toGreen: Light(red: -0.0652975, green: 1.0757879, blue: -0.0104905),
            toBlue: Light(red: 0.0028218, green: -0.0195985, blue: 1.0167767))
    }

    /// One row of samples of 16 bits, a pointer a plane.
    func convert(_ source: [UnsafePointer<UInt16>], to target: [UnsafeMutablePointer<UInt16>], count: Int) {
        precondition(source.count == 3 && target.count == 3)
        let (red, green, blue) = (source[0], source[1], source[2])
        let (toRed, toGreen, toBlue) = (target[0], target[1], target[2])
        // Tables by pointer: every index below is within them, and the checks would be half of the time.
        light.withUnsafeBufferPointer { light in
            gain.withUnsafeBufferPointer { gain in
                code.withUnsafeBufferPointer { code in
                    for x in 0..<count {
                        let pixel = Light(
                            red: light[Int(red[x])], green: light[Int(green[x])], blue: light[Int(blue[x])])
                        let shown = shown(pixel, gain: gain)
                        toRed[x] = code[Self.index(shown.red)]
                        toGreen[x] = code[Self.index(shown.green)]
                        toBlue[x] = code[Self.index(shown.blue)]
                    }
                }
            }
        }
    }

    private static func index(_ light: Float) -> Int { Int(min(max(light, 0), 1) * 65535 + 0.5) }

    /// Light of the source to light of Display P3, 1 being the reference white.
    @inline(__always)
    private func shown(_ source: Light, gain: UnsafeBufferPointer<Float>) -> Light {
        var pixel = source
        if isHLG { pixel = pixel * ToneCurve.displayGainOfHLG(gamut.luminance * source) }
        pixel = pixel * Self.factor(for: pixel.greatest, gain)
        let result = Light(red: gamut.toRed * pixel, green: gamut.toGreen * pixel, blue: gamut.toBlue * pixel)
        let (least, most) = (result.least, result.greatest)
        guard least < 0 || most > 1 else { return result }
        let grey = gamut.luminance * pixel
        let share = max(min(least < 0 ? grey / (grey - least) : 1, most > 1 ? (1 - grey) / (most - grey) : 1), 0)
        return Light(
            red: grey + (result.red - grey) * share, green: grey + (result.green - grey) * share,
            blue: grey + (result.blue - grey) * share)
    }

    @inline(__always)
    private static func factor(for light: Float, _ gain: UnsafeBufferPointer<Float>) -> Float {
        guard light < Float(ToneCurve.sourcePeak) else { return 1 / light }
        let position = light * Float(Double(steps) / ToneCurve.sourcePeak)
        let step = min(Int(position), steps - 1)
        return gain[step] + (gain[step + 1] - gain[step]) * (position - Float(step))
    }
}
