/// What is to happen to a photo's EXIF and to its place.
package struct MetadataPolicy: Sendable, Equatable {
    package enum Handling: String, Sendable, CaseIterable {
        /// Goes nowhere.
        case strip
        /// Into the answer, not into the picture.
        case `return`
        /// Into the answer and into the picture.
        case keep
    }

    package enum Precision: String, Sendable, CaseIterable {
        case exact
        /// Both co-ordinates on a grid of a tenth of a degree, and nothing else of GPS.
        case city
    }

    package var exif: Handling
    package var gps: Handling
    package var gpsPrecision: Precision

    package init(exif: Handling = .strip, gps: Handling = .strip, gpsPrecision: Precision = .exact) {
        self.exif = exif
        self.gps = gps
        self.gpsPrecision = gpsPrecision
    }

    /// The classes that may go into the picture.
    package var kept: Set<Removable> {
        var kept: Set<Removable> = []
        if exif == .keep { kept.insert(.exif) }
        if gps == .keep { kept.insert(.gps) }
        return kept
    }
}
