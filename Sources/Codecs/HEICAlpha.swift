import CHEIF
import Core

/// Lays a picture over white, in place and in encoded values, as browsers do.
struct HEICAlpha {
    private struct Target {
        let base: UnsafeMutableRawPointer
        let stride: Int
    }

    private let targets: [Target]
    private let alpha: Plane
    private let alphaDepth: Int
    private let depth: Int
    private let blend: Blend

    /// - Parameters:
    ///   - planes: of equal size, grey or R, G, B; valid as long as this value is used, as is `image`.
    ///   - isFullRange: of the samples; says which of them is white.
    /// - Throws: `corrupt` where the image has no alpha plane of its size.
    init(
        _ image: borrowing HEIFImage, planes: HEICPlanes, size: PixelSize, isFullRange: Bool, isPremultiplied: Bool
    ) throws(CodecError) {
        guard let alpha = image.plane(heif_channel_Alpha), let alphaDepth = image.depth(of: heif_channel_Alpha),
            alpha.width == size.width, alpha.height == size.height, (8...16).contains(alphaDepth)
        else { throw CodecError(.corrupt, "an alpha plane that does not fit") }
        var targets: [Target] = []
        for channel in planes.channels {
            guard let plane = image.plane(channel), let base = image.mutableBase(of: channel) else {
                throw CodecError(.corrupt, "a plane is missing")
            }
            targets.append(Target(base: base, stride: plane.stride))
        }
        self.targets = targets
        self.alpha = alpha
        self.alphaDepth = alphaDepth
        depth = planes.depth
        let highest = (1 << depth) - 1
        // BT.601 and its kin put black at 16 and white at 235 of 8 bits where the range is limited.
        blend = Blend(
            opaque: (1 << alphaDepth) - 1, black: isFullRange ? 0 : 16 << (depth - 8),
            white: isFullRange ? highest : 235 << (depth - 8), highest: highest, isPremultiplied: isPremultiplied)
    }

    func flatten(rows: Range<Int>) {
        for row in rows {
            let opacity = alpha.base + row * alpha.stride
            for target in targets {
                let samples = target.base + row * target.stride
                switch (depth > 8, alphaDepth > 8) {
                case (false, false): flatten(samples, as: UInt8.self, opacity, as: UInt8.self)
                case (false, true): flatten(samples, as: UInt8.self, opacity, as: UInt16.self)
                case (true, false): flatten(samples, as: UInt16.self, opacity, as: UInt8.self)
                case (true, true): flatten(samples, as: UInt16.self, opacity, as: UInt16.self)
                }
            }
        }
    }

    @inline(__always)
    private func flatten<Sample: FixedWidthInteger, Opacity: FixedWidthInteger>(
        _ samples: UnsafeMutableRawPointer, as: Sample.Type, _ opacity: UnsafeRawPointer, as opacityType: Opacity.Type
    ) {
        let row = samples.assumingMemoryBound(to: Sample.self)
        let alpha = opacity.assumingMemoryBound(to: Opacity.self)
        for x in 0..<self.alpha.width { row[x] = Sample(blend.overWhite(Int(row[x]), alpha: Int(alpha[x]))) }
    }

    /// The arithmetic of one sample.
    struct Blend {
        let opaque: Int
        let black: Int
        let white: Int
        let highest: Int
        let isPremultiplied: Bool

        func overWhite(_ sample: Int, alpha: Int) -> Int {
            let clear = opaque - min(alpha, opaque)
            guard isPremultiplied else { return (sample * (opaque - clear) + white * clear + opaque / 2) / opaque }
            return min(sample + ((white - black) * clear + opaque / 2) / opaque, highest)
        }
    }
}
