import Core

extension Position {
    /// Reads the GPS directory's fields, in the standard's units, with the standard's defaults for missing references of
    /// all but the co-ordinates (EXIF 3.0, section 4.6.7).
    ///
    /// - Returns: the position where the status is `present`.
    static func reading(_ gps: ExifRecord, isStated: Bool) -> (status: GPSStatus, position: Position?) {
        guard isStated else { return (.none, nil) }
        guard let latitude = degrees(gps, "GPSLatitude", positive: "N", negative: "S", max: 90),
            let longitude = degrees(gps, "GPSLongitude", positive: "E", negative: "W", max: 180)
        else { return (.invalid, nil) }
        var position = Position(latitude: latitude, longitude: longitude)
        position.altitude = altitude(gps)
        position.timestamp = timestamp(gps)
        position.speed = speed(gps)
        position.horizontalError = gps.number("GPSHPositioningError").flatMap { $0 >= 0 ? $0 : nil }
        if let direction = gps.number("GPSImgDirection"), (0...360).contains(direction),
            let reference = directionReference(gps)
        {
            position.imageDirection = direction
            position.imageDirectionReference = reference
        }
        return (.present, position)
    }

    /// The first letter of a reference, in either case, as exiftool reads it. The standard's letters are ASCII: Unicode has
    /// others that count as equal to them (the Kelvin sign), and none of these may be taken for one and written again, nor for
    /// a reference that is not there.
    private static func letter(_ gps: ExifRecord, _ name: String) -> Character? {
        gps.text(name)?.first.map { $0.upperASCII ?? "?" }
    }

    private static func degrees(
        _ gps: ExifRecord, _ name: String, positive: Character, negative: Character, max: Double
    ) -> Double? {
        guard let parts = gps.numbers(name), (1...3).contains(parts.count) else { return nil }
        var sum = 0.0
        var unit = 1.0
        for part in parts {
            guard let part, part >= 0 else { return nil }
            sum += part / unit
            unit *= 60
        }
        guard sum.isFinite, sum <= max else { return nil }
        switch letter(gps, name + "Ref") {
        case positive: return sum
        case negative: return sum == 0 ? 0 : -sum
        default: return nil
        }
    }

    /// The references of EXIF 3.0 tell ellipsoid (0, 1) from sea level (2, 3), and above (0, 2) from below.
    private static func altitude(_ gps: ExifRecord) -> Double? {
        guard let metres = gps.number("GPSAltitude") else { return nil }
        switch gps["GPSAltitudeRef"] {
        case nil, .integer(0), .integer(2): return metres
        case .integer(1), .integer(3): return metres == 0 ? 0 : -abs(metres)
        default: return nil
        }
    }

    private static func timestamp(_ gps: ExifRecord) -> String? {
        guard let date = gps.text("GPSDateStamp").flatMap(ExifTime.date),
            let parts = gps.numbers("GPSTimeStamp"), parts.count == 3, let hours = parts[0], let minutes = parts[1],
            let seconds = parts[2], (0..<24).contains(hours), (0..<60).contains(minutes), (0..<61).contains(seconds),
            let hour = Int(exactly: hours), let minute = Int(exactly: minutes)
        else { return nil }
        // Cut, not rounded: rounding could carry into the day.
        let milliseconds = Int(seconds * 1000 + 1e-6)
        let day = [(date[0], 4), (date[1], 2), (date[2], 2)].map { ExifTime.padded($0.0, $0.1) }.joined(separator: "-")
        let time = [hour, minute, milliseconds / 1000].map { ExifTime.padded($0) }.joined(separator: ":")
        var fraction = milliseconds % 1000 == 0 ? "" : "." + ExifTime.padded(milliseconds % 1000, 3)
        while fraction.last == "0" { fraction.removeLast() }
        return day + "T" + time + fraction + "Z"
    }

    /// Kilometres, miles and nautical miles an hour. The statute mile is 1,609.344 m.
    private static func speed(_ gps: ExifRecord) -> Double? {
        guard let speed = gps.number("GPSSpeed"), speed >= 0 else { return nil }
        switch letter(gps, "GPSSpeedRef") {
        case nil, "K": return speed / 3.6
        case "M": return speed * 1609.344 / 3600
        case "N": return speed * 1852 / 3600
        default: return nil
        }
    }

    private static func directionReference(_ gps: ExifRecord) -> DirectionReference? {
        switch letter(gps, "GPSImgDirectionRef") {
        case nil, "T": .trueNorth
        case "M": .magneticNorth
        default: nil
        }
    }
}

extension Character {
    /// A letter of ASCII as a capital; nil for what is none.
    var upperASCII: Character? {
        guard let byte = asciiValue, isLetter else { return nil }
        return Character(Unicode.Scalar(byte & ~0x20))
    }
}
