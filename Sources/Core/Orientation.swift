/// How a stored picture is turned and mirrored to stand upright, numbered as the EXIF tag Orientation
/// (EXIF 3.0, section 4.6.5.1.6).
package enum Orientation: UInt8, Sendable, CaseIterable {
    case upright = 1
    /// Mirrored left to right.
    case mirrored = 2
    case rotated180 = 3
    /// Mirrored top to bottom.
    case flipped = 4
    /// Mirrored along the diagonal from top left to bottom right.
    case transposed = 5
    /// To be turned by 90° clockwise.
    case rotated90 = 6
    /// Mirrored along the diagonal from top right to bottom left.
    case transversed = 7
    /// To be turned by 270° clockwise.
    case rotated270 = 8

    /// HEIF `irot`: turns by 90° *anti-clockwise* (ISO/IEC 23008-12, section 6.5.10).
    package init(irot quarterTurns: UInt8) {
        switch quarterTurns & 3 {
        case 1: self = .rotated270
        case 2: self = .rotated180
        case 3: self = .rotated90
        default: self = .upright
        }
    }

    /// HEIF `imir`: axis 0 exchanges top and bottom, axis 1 left and right (ISO/IEC 23008-12:2022, section 6.5.12;
    /// the first edition said the reverse, decoders and phones follow this one).
    package init(imir axis: UInt8) {
        self = axis & 1 == 0 ? .flipped : .mirrored
    }

    /// Whether width and height change places.
    package var swapsAxes: Bool { rawValue >= 5 }

    /// Where the stored picture's axes point once it is displayed: `(x', y') = (a·x + b·y, c·x + d·y)`.
    private var matrix: Matrix {
        switch self {
        case .upright: Matrix(a: 1, b: 0, c: 0, d: 1)
        case .mirrored: Matrix(a: -1, b: 0, c: 0, d: 1)
        case .rotated180: Matrix(a: -1, b: 0, c: 0, d: -1)
        case .flipped: Matrix(a: 1, b: 0, c: 0, d: -1)
        case .transposed: Matrix(a: 0, b: 1, c: 1, d: 0)
        case .rotated90: Matrix(a: 0, b: -1, c: 1, d: 0)
        case .transversed: Matrix(a: 0, b: -1, c: -1, d: 0)
        case .rotated270: Matrix(a: 0, b: 1, c: -1, d: 0)
        }
    }

    private struct Matrix: Equatable {
        let a, b, c, d: Int
    }

    /// The orientation of a picture that is first treated by `self` and then by `next`.
    package func followed(by next: Orientation) -> Orientation {
        let first = matrix
        let second = next.matrix
        let product = Matrix(
            a: second.a * first.a + second.b * first.c, b: second.a * first.b + second.b * first.d,
            c: second.c * first.a + second.d * first.c, d: second.c * first.b + second.d * first.d)
        for candidate in Orientation.allCases where candidate.matrix == product { return candidate }
        preconditionFailure("the eight orientations are a group")
    }

    /// The orientation that undoes this one.
    package var inverse: Orientation {
        switch self {
        case .rotated90: .rotated270
        case .rotated270: .rotated90
        default: self
        }
    }
}
