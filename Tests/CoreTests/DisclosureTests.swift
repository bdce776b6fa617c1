import Testing

@testable import Core

@Suite struct DisclosureTests {
    private var full: Disclosure {
        var disclosure = Disclosure()
        disclosure.exif = ExifRecord(fields: [
            .init(name: "Make", value: .text("Zoë 写真\nB")), .init(name: "Flash", value: .integer(16)),
            .init(name: "Flash_text", value: .text("…")), .init(name: "FNumber", value: .number(1.78)),
            .init(name: "SubjectArea", value: .integers([1, -2, 3])),
            .init(name: "LensSpecification", value: .numbers([2.22, nil])),
        ])
        var capture = Capture()
        capture.takenAt = "2024-05-06T07:08:09+02:00"
        capture.cameraMake = "Zoë"
        capture.cameraModel = "M"
        capture.lens = "L"
        capture.exposureTime = 1.0 / 60
        capture.fNumber = 1.78
        capture.iso = 64
        capture.focalLength = 6.86
        capture.focalLength35mm = 24
        capture.flashFired = false
        disclosure.capture = capture
        disclosure.gpsStatus = .present
        var position = Position(latitude: -48.858, longitude: 2.25)
        position.altitude = -3
        position.timestamp = "2024-05-06T05:08:09Z"
        position.speed = 1.5
        position.imageDirection = 359
        position.imageDirectionReference = .magneticNorth
        position.horizontalError = 6.5
        disclosure.position = position
        return disclosure
    }

    private func read(_ bytes: [UInt8]) throws(ByteReader.Malformed) -> Disclosure {
        var reader = ByteReader(bytes)
        let disclosure = try Disclosure(from: &reader)
        try reader.finish()
        return disclosure
    }

    private func written(_ disclosure: Disclosure) -> [UInt8] {
        var writer = ByteWriter()
        disclosure.write(to: &writer)
        return writer.bytes
    }

    @Test func travels() throws {
        for disclosure in [full, Disclosure()] { #expect(try read(written(disclosure)) == disclosure) }
        for count in 0..<written(full).count {
            #expect(throws: ByteReader.Malformed.self) { try read(Array(written(full).prefix(count))) }
        }
    }

    /// What no worker of ours says.
    @Test(
        arguments: [
            { $0.position?.latitude = 91 }, { $0.position?.longitude = .nan }, { $0.position?.altitude = .infinity },
            { $0.capture?.lens = "\u{1B}[2J" }, { $0.capture?.exposureTime = .nan },
            { $0.exif = ExifRecord(fields: [.init(name: "a b", value: .integer(1))]) },
            { $0.exif = ExifRecord(fields: [.init(name: "", value: .integer(1))]) },
            { $0.exif = ExifRecord(fields: [.init(name: "A", value: .text(String(repeating: "x", count: 2002)))]) },
            { $0.exif = ExifRecord(fields: [.init(name: "A", value: .number(-.infinity))]) },
            { $0.exif = ExifRecord(fields: [.init(name: "A", value: .integers([Int](repeating: 1, count: 17)))]) },
            {
                $0.exif = ExifRecord(
                    fields: [ExifRecord.Field](repeating: .init(name: "A", value: .integer(1)), count: 201))
            },
        ] as [@Sendable (inout Disclosure) -> Void])
    func isHeldToItsBounds(change: @Sendable (inout Disclosure) -> Void) {
        var changed = full
        change(&changed)
        #expect(throws: ByteReader.Malformed.self) { try read(written(changed)) }
    }

    @Test func cityIsAGrid() {
        let city = Position(latitude: 48.85837, longitude: -2.294481).city
        #expect(city.latitude == 48.9 && city.longitude == -2.3)
    }

    /// What a worker tells is cut to what the caller may read, whatever it is.
    @Test func isLimitedByThePolicy() {
        #expect(full.limited(by: MetadataPolicy()) == Disclosure())
        #expect(full.limited(by: MetadataPolicy(exif: .keep, gps: .return)) == full)
        let exif = full.limited(by: MetadataPolicy(exif: .return))
        #expect(exif.exif == full.exif && exif.capture == full.capture)
        #expect(exif.gpsStatus == nil && exif.position == nil)
        let gps = full.limited(by: MetadataPolicy(gps: .return))
        #expect(gps.exif == nil && gps.capture == nil && gps.gpsStatus == .present)
        #expect(gps.position?.latitude == -48.858 && gps.position?.altitude == -3)
        #expect(gps.position?.timestamp == nil, "it would tell the time of the capture")
        let city = full.limited(by: MetadataPolicy(exif: .keep, gps: .keep, gpsPrecision: .city)).position
        var expected = Position(latitude: -48.9, longitude: 2.3)
        expected.horizontalError = 7900
        #expect(city == expected)
        // Twice is as once.
        #expect(city?.limited(by: MetadataPolicy(gps: .keep, gpsPrecision: .city)) == expected)
        var leaky = full
        leaky.exif = ExifRecord(fields: [
            .init(name: "GPSLatitude", value: .number(48.858)), .init(name: "Make", value: .text("M")),
        ])
        let limited = leaky.limited(by: MetadataPolicy(exif: .return)).exif
        #expect(limited == ExifRecord(fields: [.init(name: "Make", value: .text("M"))]))
    }
}
