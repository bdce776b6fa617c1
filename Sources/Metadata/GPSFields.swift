import Core

/// A position as the GPS directory of EXIF 3.0 says it (section 4.6.7).
struct GPSFields {
    struct Field {
        let number: UInt16
        let type: TIFFType
        let bytes: [UInt8]
    }

    private(set) var fields: [Field] = [Field(number: 0x00, type: .byte, bytes: [2, 4, 0, 0])]

    /// - Parameter block: where it has the fractions themselves they are written; else the decimal numbers.
    init(_ place: Position, fractionsOf block: ExifBlock?) {
        addText(0x01, place.latitude < 0 ? "S" : "N")
        addDegrees(0x02, abs(place.latitude), block)
        addText(0x03, place.longitude < 0 ? "W" : "E")
        addDegrees(0x04, abs(place.longitude), block)
        if let altitude = place.altitude {
            fields.append(Field(number: 0x05, type: .byte, bytes: [GPSFields.altitudeReference(altitude, block)]))
            addNumber(0x06, abs(altitude), block)
        }
        addTime(place, block)
        if let speed = place.speed {
            // As it stood, with its own unit; the decimal number is in kilometres an hour.
            let unit = block?.gps.text("GPSSpeedRef")?.first?.upperASCII.map { String($0) } ?? "K"
            if let fraction = GPSFields.fractions(0x0D, of: block) {
                addText(0x0C, unit)
                fields.append(Field(number: 0x0D, type: .rational, bytes: fraction))
            } else {
                addText(0x0C, "K")
                addNumber(0x0D, speed * 3.6, nil)
            }
        }
        if let direction = place.imageDirection, let reference = place.imageDirectionReference {
            addText(0x10, reference == .trueNorth ? "T" : "M")
            addNumber(0x11, direction, block)
        }
        if let error = place.horizontalError { addNumber(0x1F, error, block) }
    }

    private static func altitudeReference(_ altitude: Double, _ block: ExifBlock?) -> UInt8 {
        if let stated = block?.gps.integer("GPSAltitudeRef"), (0...3).contains(stated) { return UInt8(stated) }
        return altitude < 0 ? 1 : 0
    }

    /// The bytes of a tag's fractions where they are of the standard's type and number.
    private static func fractions(_ number: UInt16, of block: ExifBlock?) -> [UInt8]? {
        let key = StandardTag.Key(directory: .gps, number: number)
        guard let encoded = block?.fields.first(where: { $0.tag.key == key })?.encoded else { return nil }
        return encoded.type == .rational ? encoded.bytes : nil
    }

    private mutating func addText(_ number: UInt16, _ text: String) {
        fields.append(Field(number: number, type: .ascii, bytes: Array(text.utf8) + [0]))
    }

    private mutating func addNumber(_ number: UInt16, _ value: Double, _ block: ExifBlock?) {
        guard let bytes = GPSFields.fractions(number, of: block) ?? GPSFields.fraction(value) else { return }
        fields.append(Field(number: number, type: .rational, bytes: bytes))
    }

    private mutating func addDegrees(_ number: UInt16, _ value: Double, _ block: ExifBlock?) {
        let zero = BigEndian.long(0) + BigEndian.long(1)
        guard let bytes = GPSFields.fractions(number, of: block) ?? GPSFields.fraction(value).map({ $0 + zero + zero })
        else { return }
        fields.append(Field(number: number, type: .rational, bytes: bytes))
    }

    private mutating func addTime(_ place: Position, _ block: ExifBlock?) {
        guard place.timestamp != nil, let date = block?.gps.text("GPSDateStamp"),
            let time = GPSFields.fractions(0x07, of: block)
        else { return }
        fields.append(Field(number: 0x07, type: .rational, bytes: time))
        // Dashes for colons are read, too.
        addText(0x1D, String(date.map { $0 == "-" ? ":" : $0 }))
    }

    /// A number that is not negative: as it is where tenths do, else to seven decimals, or to as many as fit.
    private static func fraction(_ value: Double) -> [UInt8]? {
        let exact = [1, 10].first { (value * Double($0)).rounded() / Double($0) == value }
        for denominator in [exact, 10_000_000, 1000, 1].compactMap(\.self) {
            let numerator = (value * Double(denominator)).rounded()
            if numerator <= 0xFFFF_FFFF { return BigEndian.long(Int(numerator)) + BigEndian.long(denominator) }
        }
        return nil
    }
}
