/// Whether a block tells where a photo was taken.
package enum GPSStatus: String, Sendable, CaseIterable {
    /// It has neither latitude nor longitude.
    case none
    /// It has, but they name no place: a reference is missing, a number is none, or lies outside the globe.
    case invalid
    case present
}

/// Where a photo was taken.
package struct Position: Sendable, Equatable {
    package enum DirectionReference: String, Sendable, CaseIterable {
        case trueNorth = "true"
        case magneticNorth = "magnetic"
    }

    /// Decimal degrees, WGS-84: north and east are positive.
    package var latitude: Double
    package var longitude: Double
    /// Metres; negative below the reference (GPSAltitudeRef 1 and 3 of EXIF 3.0).
    package var altitude: Double?
    /// UTC, RFC 3339.
    package var timestamp: String?
    /// Metres a second.
    package var speed: Double?
    /// Degrees from north, clockwise.
    package var imageDirection: Double?
    package var imageDirectionReference: DirectionReference?
    /// Metres.
    package var horizontalError: Double?

    package init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }

    /// The half diagonal of a grid's cell, in metres, rounded up: 0.05° is 5,529 m of a meridian and 5,566 m of the
    /// equator, where cells are widest. The same everywhere, so that it tells nothing.
    package static let cityError = 7900.0

    /// The nearest point of a fixed grid of 0.1°, and nothing else. The same for all places of a cell, so that many
    /// photos tell no more than one.
    package var city: Position {
        // Adding 0 makes a zero positive.
        var city = Position(
            latitude: (latitude * 10).rounded() / 10 + 0, longitude: (longitude * 10).rounded() / 10 + 0)
        city.horizontalError = Position.cityError
        return city
    }

    /// As precise as the policy wants it. Without `exif` nothing tells the time of the capture, so not GPS either.
    package func limited(by policy: MetadataPolicy) -> Position? {
        if policy.gps == .strip { return nil }
        if policy.gpsPrecision == .city { return city }
        var position = self
        if policy.exif == .strip { position.timestamp = nil }
        return position
    }
}
