/// A fraction as it stands in a block.
struct Rational: Sendable, Equatable {
    let numerator: Int
    let denominator: Int

    /// nil where the denominator is 0.
    var value: Double? { denominator == 0 ? nil : Double(numerator) / Double(denominator) }
}

/// The value of an entry as libexif reads it, in its source's type.
enum TIFFValue: Sendable, Equatable {
    case text([UInt8])
    case undefined([UInt8])
    case integers([Int])
    case rationals([Rational])
    case reals([Double])

    /// The bytes of what may be a text.
    var textBytes: [UInt8]? {
        switch self {
        case .text(let bytes), .undefined(let bytes): bytes
        case .integers, .rationals, .reals: nil
        }
    }

    /// The bytes of what may be numbers of one byte each.
    var numberBytes: [UInt8]? {
        switch self {
        case .undefined(let bytes): bytes
        case .integers(let values):
            values.allSatisfy { (0...255).contains($0) } ? values.map { UInt8($0) } : nil
        case .text, .rationals, .reals: nil
        }
    }

    /// The numbers of a value that is made of numbers; nil in the place of one that is none.
    var numbers: [Double?]? {
        switch self {
        case .integers(let values): values.map { Double($0) }
        case .rationals(let values): values.map(\.value)
        case .reals(let values): values.map { $0.isFinite ? $0 : nil }
        case .text, .undefined: nil
        }
    }
}

/// A tag of the allow-list and what the block says of it.
struct ExifField: Sendable, Equatable {
    let tag: StandardTag
    let value: TIFFValue
}
