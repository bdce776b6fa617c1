package import Core

/// A rectangle of whole pixels within a picture.
package struct PixelWindow: Sendable, Hashable {
    package let left: Int
    package let top: Int
    package let size: PixelSize

    package init(left: Int, top: Int, size: PixelSize) {
        self.left = left
        self.top = top
        self.size = size
    }
}

/// The part of a coded picture that is meant to be seen: HEIF `clap` (ISO/IEC 14496-12, section 12.1.4). Width and
/// height, and how far the part's centre lies right of and below the picture's centre.
package struct CleanAperture: Sendable, Hashable {
    package struct Rational: Sendable, Hashable {
        package let numerator: Int64
        /// At least 1.
        package let denominator: Int64
    }

    package let width: Rational
    package let height: Rational
    package let horizontalOffset: Rational
    package let verticalOffset: Rational

    /// - Throws: `corrupt` for a denominator of 0 or an empty aperture.
    init(_ reader: inout BoxReader, _ bytes: Span<UInt8>) throws(Failure) {
        width = try CleanAperture.rational(&reader, bytes)
        height = try CleanAperture.rational(&reader, bytes)
        horizontalOffset = try CleanAperture.rational(&reader, bytes)
        verticalOffset = try CleanAperture.rational(&reader, bytes)
        guard width.numerator > 0, height.numerator > 0 else { throw Failure(.corrupt, "HEIF: an empty 'clap'") }
    }

    /// Two signed numbers: the standard's unsigned ones (widths, denominators) mean nothing past 2³¹.
    private static func rational(_ reader: inout BoxReader, _ bytes: Span<UInt8>) throws(Failure) -> Rational {
        let numerator = Int32(truncatingIfNeeded: try reader.int(4, bytes))
        let denominator = Int32(truncatingIfNeeded: try reader.int(4, bytes))
        guard denominator != 0 else { throw Failure(.corrupt, "HEIF: 'clap' has the denominator 0") }
        guard denominator > 0 else { throw Failure(.corrupt, "HEIF: 'clap' has a negative denominator") }
        return Rational(numerator: Int64(numerator), denominator: Int64(denominator))
    }

    /// The aperture in whole pixels of a picture of `size`: the size rounded to the nearest, the edge rounded down
    /// (pictures of odd width halve pixels); nil where it does not lie within the picture.
    package func window(in size: PixelSize) -> PixelWindow? {
        guard
            let (left, width) = CleanAperture.side(of: size.width, width, horizontalOffset),
            let (top, height) = CleanAperture.side(of: size.height, height, verticalOffset)
        else { return nil }
        return PixelWindow(left: left, top: top, size: PixelSize(width: width, height: height))
    }

    /// start = offset + (whole − part) / 2. In 128 bits no product of three 33-bit numbers overflows.
    private static func side(of whole: Int, _ part: Rational, _ offset: Rational) -> (start: Int, length: Int)? {
        guard whole > 0, whole <= UInt32.max else { return nil }
        let partDenominator = Int128(part.denominator)
        let offsetDenominator = Int128(offset.denominator)
        let length = (2 * Int128(part.numerator) + partDenominator) / (2 * partDenominator)
        let numerator =
            2 * partDenominator * Int128(offset.numerator)
            + offsetDenominator * (Int128(whole) * partDenominator - Int128(part.numerator))
        let denominator = 2 * partDenominator * offsetDenominator
        guard numerator >= 0, length >= 1 else { return nil }
        let start = numerator / denominator
        guard start + length <= Int128(whole) else { return nil }
        return (Int(start), Int(length))
    }
}
