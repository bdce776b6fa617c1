/// What a caller may ask of a picture. The same names serve as query parameters and as flags of the command line.
package struct Options: Sendable, Equatable {
    /// 1…100, used where the picture is encoded again; never a reason to encode again.
    package var quality = 90

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
}

/// One option: its name, what it allows, and how its value is read. The texts of errors, of the command line's help
/// and of the README's table come from here, so they cannot drift apart.
package struct OptionDescriptor: Sendable {
    package let name: String
    package let fallback: String
    /// Completes the sentence "…is not allowed; …".
    package let allowed: String
    package let summary: String
    /// Reads the value into the options; false where it is not allowed.
    package let apply: @Sendable (String, inout Options) -> Bool

    package static let all: [OptionDescriptor] = [
        OptionDescriptor(
            name: "exif", fallback: "strip", allowed: "allowed is: strip",
            summary: "EXIF is removed from the picture",
            apply: { value, _ in value == "strip" }),
        OptionDescriptor(
            name: "gps", fallback: "strip", allowed: "allowed is: strip",
            summary: "the place is removed from the picture",
            apply: { value, _ in value == "strip" }),
        OptionDescriptor(
            name: "quality", fallback: "90", allowed: "allowed is a whole number from 1 to 100",
            summary: "JPEG quality, used where the picture is encoded again; never a reason to encode again",
            apply: { value, options in
                guard value.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let quality = Int(value),
                    (1...100).contains(quality)
                else { return false }
                options.quality = quality
                return true
            }),
    ]
}

extension String {
    /// Foreign text fit for an error message: at most 40 printable ASCII characters.
    package var clipped: String {
        let printable = unicodeScalars.prefix(40).map { (0x20..<0x7F).contains($0.value) ? Character($0) : "?" }
        return String(printable) + (unicodeScalars.count > 40 ? "…" : "")
    }
}
