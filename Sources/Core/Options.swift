/// What a caller may ask of a picture. The same names serve as query parameters and as flags of the command line.
package struct Options: Sendable, Equatable {
    /// 1…100, used where the picture is encoded; never a reason to encode again.
    package var quality = 90
    /// The picture is to fit inside, upright; it is never enlarged.
    package var maxWidth: Int?
    package var maxHeight: Int?
    package var crop: Crop?
    /// Bytes that the finished JPEG must not exceed.
    package var maxBytes: Int?
    /// Who tells how the picture lies.
    package var orientation = OrientationRule.auto
    /// Whether colours are converted.
    package var color = ColorRule.keep
    /// The JPEG is to be progressive; where this is false, one that is may stay so.
    package var isProgressive = false
    /// Of chroma.
    package var subsampling = SubsamplingRule.auto
    /// What becomes of EXIF and GPS.
    package var metadata = MetadataPolicy()

    /// What holds where nothing is asked for.
    package init() {}

    /// Reads name-value pairs, each name at most once.
    ///
    /// - Throws: `bad_parameter`, naming the parameter and what is allowed.
    package init(parsing pairs: [(name: String, value: String)]) throws(Failure) {
        var seen: Set<String> = []
        for (name, value) in pairs {
            guard let descriptor = OptionDescriptor.all.first(where: { $0.name == name }) else {
                let known = OptionDescriptor.all.map(\.name).joined(separator: ", ")
                throw Failure(.badParameter, "unknown parameter '\(name.clipped)'; known are: \(known)")
            }
            guard seen.insert(name).inserted else {
                throw Failure(.badParameter, "parameter '\(name)' is given more than once")
            }
            guard descriptor.apply(value, &self) else {
                throw Failure(.badParameter, "\(name)='\(value.clipped)' is not allowed; \(descriptor.allowed)")
            }
        }
    }

    /// The pairs that `init(parsing:)` reads to these options; what is at its default is left out.
    package var pairs: [(name: String, value: String)] {
        OptionDescriptor.all.compactMap { descriptor in
            let value = descriptor.value(self)
            return value == descriptor.value(Options()) ? nil : value.map { (descriptor.name, $0) }
        }
    }
}

/// Who tells how a picture has to be turned.
package enum OrientationRule: String, Sendable, CaseIterable {
    /// HEIF's own properties or, where it has none, EXIF; a JPEG's EXIF.
    case auto
    /// HEIF's own properties alone; a JPEG stays as it is stored.
    case container
    /// EXIF alone.
    case exif
    /// Nobody: the picture stays as it is stored.
    case ignore

    /// Whether EXIF may tell.
    package var heedsExif: Bool { self == .auto || self == .exif }
}

/// What becomes of a picture's colour space.
package enum ColorRule: String, Sendable, CaseIterable {
    /// The numbers stay, and the profile that explains them goes along.
    case keep
    /// Pixels are converted to sRGB.
    case srgb
}

/// How fine chroma is stored.
package enum SubsamplingRule: String, Sendable, CaseIterable {
    /// As in the source; 4:2:0 below quality 90.
    case auto
    case s420 = "420"
    case s422 = "422"
    case s444 = "444"

    /// The subsampling that is asked for, nil for `auto`.
    package var fixed: ChromaSubsampling? {
        switch self {
        case .auto: nil
        case .s420: .s420
        case .s422: .s422
        case .s444: .s444
        }
    }
}

extension String {
    /// Foreign text fit for an error message: at most 40 printable ASCII characters.
    package var clipped: String {
        let printable = unicodeScalars.prefix(40).map { (0x20..<0x7F).contains($0.value) ? Character($0) : "?" }
        return String(printable) + (unicodeScalars.count > 40 ? "…" : "")
    }
}
