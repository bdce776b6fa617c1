/// The form of `Disclosure` in a worker's report.
extension Disclosure {
    /// The tags of EXIF 3.0 and the texts beside them are fewer.
    private static let fieldsMax = 200
    /// The texts of the record are bounded by whoever read them; Copyright, which is two of them, is the longest.
    private static let scalarsMax = 2001
    private static let elementsMax = 16

    func write(to writer: inout ByteWriter) {
        writer.write(exif) { record, writer in
            writer.write(record.fields.count)
            for field in record.fields {
                writer.write(field.name)
                field.value.write(to: &writer)
            }
        }
        writer.write(capture) { $0.write(to: &$1) }
        writer.write(gpsStatus) { $1.write($0.rawValue) }
        writer.write(position) { $0.write(to: &$1) }
    }

    init(from reader: inout ByteReader) throws(ByteReader.Malformed) {
        exif = try reader.readOptional(Disclosure.readRecord)
        capture = try reader.readOptional { (reader) throws(ByteReader.Malformed) in try Capture(from: &reader) }
        gpsStatus = try reader.readOptional { (reader) throws(ByteReader.Malformed) in try reader.readWord() }
        position = try reader.readOptional { (reader) throws(ByteReader.Malformed) in try Position(from: &reader) }
    }

    private static func readRecord(_ reader: inout ByteReader) throws(ByteReader.Malformed) -> ExifRecord {
        let count = try reader.readInt()
        guard (0...fieldsMax).contains(count) else { throw ByteReader.Malformed() }
        var fields: [ExifRecord.Field] = []
        for _ in 0..<count {
            let name = try reader.readString()
            guard (1...64).contains(name.utf8.count), name.unicodeScalars.allSatisfy(isNameCharacter) else {
                throw ByteReader.Malformed()
            }
            fields.append(ExifRecord.Field(name: name, value: try ExifValue(from: &reader)))
        }
        return ExifRecord(fields: fields)
    }

    private static func isNameCharacter(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil || scalar == "_")
    }

    /// What was shown as a text: no control characters but the line break between Copyright's two.
    fileprivate static func readText(_ reader: inout ByteReader) throws(ByteReader.Malformed) -> String {
        let text = try reader.readString()
        let isShown = text.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control }
        guard isShown, text.unicodeScalars.count <= scalarsMax else { throw ByteReader.Malformed() }
        return text
    }

    fileprivate static func readElements<Element>(
        _ reader: inout ByteReader, _ read: (inout ByteReader) throws(ByteReader.Malformed) -> Element
    ) throws(ByteReader.Malformed) -> [Element] {
        let count = try reader.readInt()
        guard (0...elementsMax).contains(count) else { throw ByteReader.Malformed() }
        var elements: [Element] = []
        for _ in 0..<count { elements.append(try read(&reader)) }
        return elements
    }
}

extension ExifValue {
    fileprivate func write(to writer: inout ByteWriter) {
        switch self {
        case .integer(let value):
            writer.write(UInt8(0))
            writer.write(value)
        case .number(let value):
            writer.write(UInt8(1))
            writer.write(value)
        case .text(let text):
            writer.write(UInt8(2))
            writer.write(text)
        case .integers(let values):
            writer.write(UInt8(3))
            writer.write(values.count)
            for value in values { writer.write(value) }
        case .numbers(let values):
            writer.write(UInt8(4))
            writer.write(values.count)
            for value in values { writer.write(value) { $1.write($0) } }
        }
    }

    fileprivate init(from reader: inout ByteReader) throws(ByteReader.Malformed) {
        switch try reader.readByte() {
        case 0: self = .integer(try reader.readInt())
        case 1: self = .number(try reader.readDouble())
        case 2: self = .text(try Disclosure.readText(&reader))
        case 3:
            self = .integers(
                try Disclosure.readElements(&reader) { (reader) throws(ByteReader.Malformed) in try reader.readInt() })
        case 4:
            self = .numbers(
                try Disclosure.readElements(&reader) { (reader) throws(ByteReader.Malformed) in
                    try reader.readOptional { (reader) throws(ByteReader.Malformed) in try reader.readDouble() }
                })
        default: throw ByteReader.Malformed()
        }
    }
}

extension Capture {
    fileprivate func write(to writer: inout ByteWriter) {
        for text in [takenAt, cameraMake, cameraModel, lens] { writer.write(text) { $1.write($0) } }
        for number in [exposureTime, fNumber, focalLength, focalLength35mm] { writer.write(number) { $1.write($0) } }
        writer.write(iso) { $1.write($0) }
        writer.write(flashFired) { $1.write(UInt8($0 ? 1 : 0)) }
    }

    fileprivate init(from reader: inout ByteReader) throws(ByteReader.Malformed) {
        self.init()
        takenAt = try reader.readOptional(Disclosure.readText)
        cameraMake = try reader.readOptional(Disclosure.readText)
        cameraModel = try reader.readOptional(Disclosure.readText)
        lens = try reader.readOptional(Disclosure.readText)
        exposureTime = try reader.readNumber()
        fNumber = try reader.readNumber()
        focalLength = try reader.readNumber()
        focalLength35mm = try reader.readNumber()
        iso = try reader.readOptional { (reader) throws(ByteReader.Malformed) in try reader.readInt() }
        flashFired = try reader.readOptional { (reader) throws(ByteReader.Malformed) in try reader.readByte() != 0 }
    }
}

extension Position {
    fileprivate func write(to writer: inout ByteWriter) {
        writer.write(latitude)
        writer.write(longitude)
        for number in [altitude, speed, imageDirection, horizontalError] { writer.write(number) { $1.write($0) } }
        writer.write(timestamp) { $1.write($0) }
        writer.write(imageDirectionReference) { $1.write($0.rawValue) }
    }

    fileprivate init(from reader: inout ByteReader) throws(ByteReader.Malformed) {
        self.init(latitude: try reader.readDouble(), longitude: try reader.readDouble())
        guard abs(latitude) <= 90, abs(longitude) <= 180 else { throw ByteReader.Malformed() }
        altitude = try reader.readNumber()
        speed = try reader.readNumber()
        imageDirection = try reader.readNumber()
        horizontalError = try reader.readNumber()
        timestamp = try reader.readOptional(Disclosure.readText)
        imageDirectionReference = try reader.readOptional { (reader) throws(ByteReader.Malformed) in
            try reader.readWord()
        }
    }
}

extension ByteWriter {
    fileprivate mutating func write(_ value: Double) { write(Int(bitPattern: UInt(value.bitPattern))) }

    fileprivate mutating func write<Value>(_ value: Value?, _ body: (Value, inout ByteWriter) -> Void) {
        write(UInt8(value == nil ? 0 : 1))
        if let value { body(value, &self) }
    }
}

extension ByteReader {
    /// A finite number; JSON has no others.
    fileprivate mutating func readDouble() throws(Malformed) -> Double {
        let value = Double(bitPattern: UInt64(UInt(bitPattern: try readInt())))
        guard value.isFinite else { throw Malformed() }
        return value
    }

    fileprivate mutating func readNumber() throws(Malformed) -> Double? {
        try readOptional { (reader) throws(Malformed) in try reader.readDouble() }
    }

    fileprivate mutating func readOptional<Value>(
        _ body: (inout ByteReader) throws(Malformed) -> Value
    ) throws(Malformed) -> Value? {
        try readByte() == 0 ? nil : try body(&self)
    }

    mutating func readWord<Word: RawRepresentable<String>>() throws(Malformed) -> Word {
        guard let word = Word(rawValue: try readString()) else { throw Malformed() }
        return word
    }
}
