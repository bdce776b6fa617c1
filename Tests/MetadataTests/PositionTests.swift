import Core
import Foundation
import Support
import Testing

@testable import Metadata

@Suite struct PositionTests {
    @Test func readsAsExiftoolReads() throws {
        var builder = TIFFBuilder()
        builder.gps = Blocks.gps()
        let position = try #require(Blocks.read(builder)?.position)
        let told = try Exiftool.read(Exiftool.header(builder.bytes))
        let number = { (name: String) in try #require((told[name] as? NSNumber)?.doubleValue) }
        #expect(abs(position.latitude - (try number("Composite:GPSLatitude"))) < 1e-12)
        #expect(abs(position.longitude - (try number("Composite:GPSLongitude"))) < 1e-12)
        #expect(position.altitude == (try number("Composite:GPSAltitude")))
        #expect(position.imageDirection == (try number("GPS:GPSImgDirection")))
        #expect(position.horizontalError == (try number("GPS:GPSHPositioningError")))
        #expect(told["Composite:GPSDateTime"] as? String == "2024:05:06 05:08:09.5Z")
        #expect(position.timestamp == "2024-05-06T05:08:09.5Z")
        // 36 km/h
        #expect(position.speed == 10)
        #expect(position.imageDirectionReference == .trueNorth)
    }

    private static let zero: TIFFBuilder.Value = .rational([(0, 1), (0, 1), (0, 1)])

    @Test(
        arguments: [
            ("no latitude", Blocks.gps(without: [0x02])), ("no longitude", Blocks.gps(without: [0x04])),
            ("no reference N", Blocks.gps(without: [0x01])), ("no reference W", Blocks.gps(without: [0x03])),
            ("empty reference", Blocks.gps([0x01: .ascii("")])), ("blank reference", Blocks.gps([0x03: .ascii(" ")])),
            ("foreign reference", Blocks.gps([0x01: .ascii("X")])),
            ("swapped references", Blocks.gps([0x01: .ascii("E")])),
            ("denominator 0", Blocks.gps([0x02: .rational([(48, 0), (51, 1), (0, 1)])])),
            ("seconds 0/0", Blocks.gps([0x02: .rational([(48, 1), (51, 1), (0, 0)])])),
            ("all 0/0", Blocks.gps([0x02: .rational([(0, 0), (0, 0), (0, 0)])])),
            ("NaN", Blocks.gps([0x04: .double(.nan)])), ("infinite", Blocks.gps([0x04: .double(.infinity)])),
            ("beyond the pole", Blocks.gps([0x02: .rational([(90, 1), (0, 1), (1, 100)])])),
            ("beyond 180", Blocks.gps([0x04: .rational([(180, 1), (1, 1), (0, 1)])])),
            ("a text", Blocks.gps([0x02: .ascii("48.85")])),
            ("negative", Blocks.gps([0x02: .signedRational([(-1, 1)])])),
        ] as [(String, [(UInt16, TIFFBuilder.Value)])])
    func invalid(what: String, entries: [(UInt16, TIFFBuilder.Value)]) {
        let block = Blocks.read(gps: entries)
        #expect(block?.gpsStatus == .invalid, "\(what)")
        #expect(block?.position == nil)
        #expect(block?.facts.found.contains(.gps) == true)
    }

    @Test func noneWithoutCoordinates() {
        #expect(Blocks.read(gps: Blocks.gps(without: [0x02, 0x04]))?.gpsStatus == GPSStatus.none)
        #expect(Blocks.read(exif: [(0x9209, .short(0))])?.gpsStatus == GPSStatus.none)
    }

    @Test(
        arguments: [
            ("N", "E", 48.5, 2.25), ("S", "W", -48.5, -2.25), ("n", "w", 48.5, -2.25), ("South", "East", -48.5, 2.25),
        ])
    func references(latitude: String, longitude: String, north: Double, east: Double) {
        let block = Blocks.read(
            gps: Blocks.gps([
                0x01: .ascii(latitude), 0x02: .rational([(48, 1), (30, 1), (0, 1)]), 0x03: .ascii(longitude),
                0x04: .rational([(2, 1), (1500, 100), (0, 1)]),
            ]))
        #expect(block?.position?.latitude == north)
        #expect(block?.position?.longitude == east)
    }

    @Test func theEdgesOfTheGlobeAreOnIt() {
        let block = Blocks.read(
            gps: Blocks.gps([
                0x02: .rational([(90, 1), (0, 1), (0, 1)]), 0x04: .rational([(180, 1), (0, 1), (0, 1)]),
            ]))
        #expect(block?.position?.latitude == 90)
        #expect(block?.position?.longitude == -180)
        let origin = Blocks.read(
            gps: Blocks.gps([0x01: .ascii("S"), 0x02: PositionTests.zero, 0x04: PositionTests.zero]))
        #expect(origin?.gpsStatus == .present)
        #expect(origin?.position?.latitude.sign == .plus)
    }

    /// EXIF 3.0, section 4.6.7.1.6.
    @Test(
        arguments: [
            (.bytes([0]), 35.25), (.bytes([1]), -35.25), (.bytes([2]), 35.25), (.bytes([3]), -35.25), (nil, 35.25),
            (.bytes([4]), nil), (.bytes([255]), nil),
        ] as [(TIFFBuilder.Value?, Double?)])
    func altitude(reference: TIFFBuilder.Value?, expected: Double?) {
        let entries = reference.map { Blocks.gps([0x05: $0]) } ?? Blocks.gps(without: [0x05])
        let position = Blocks.read(gps: entries)?.position
        #expect(position != nil)
        #expect(position?.altitude == expected)
    }

    /// A Kelvin sign counts as equal to K, and a sharp s has two capitals; exiftool knows neither.
    @Test(
        arguments: [
            ("K", 10.0), ("M", 16.09344), ("N", 18.52), ("k", 10), ("X", nil), ("\u{212A}", nil), ("ß", nil),
        ] as [(String, Double?)])
    func speed(reference: String, expected: Double?) throws {
        let speed = Blocks.read(gps: Blocks.gps([0x0C: .ascii(reference)]))?.position?.speed
        #expect((speed == nil) == (expected == nil))
        if let speed, let expected { #expect(abs(speed - expected) < 1e-12) }
    }

    @Test(
        arguments: [
            (.rational([(23, 1), (59, 1), (59_9999, 10000)]), "2024:05:06", "2024-05-06T23:59:59.999Z"),
            (.rational([(0, 1), (0, 1), (0, 1)]), "2024:05:06", "2024-05-06T00:00:00Z"),
            (.rational([(24, 1), (0, 1), (0, 1)]), "2024:05:06", nil),
            (.rational([(5, 1), (1, 0), (0, 1)]), "2024:05:06", nil),
            (.rational([(5, 1), (1, 1), (0, 1)]), "2024:02:30", nil), (.rational([(5, 1), (1, 1), (0, 1)]), "", nil),
            (.rational([(5, 1), (1, 1)]), "2024:05:06", nil),
            (.rational([(11, 2), (1, 1), (0, 1)]), "2024:05:06", nil),
            (.rational([(0xFFFF_FFFF, 1), (1, 1), (0xFFFF_FFFF, 1)]), "2024:05:06", nil),
        ] as [(TIFFBuilder.Value, String, String?)])
    func timestamp(time: TIFFBuilder.Value, date: String, expected: String?) {
        let position = Blocks.read(gps: Blocks.gps([0x07: time, 0x1D: .ascii(date)]))?.position
        #expect(position != nil)
        #expect(position?.timestamp == expected)
    }

    @Test(
        arguments: [
            ("T", (9128, 100), 91.28), ("M", (0, 1), 0), ("M", (360, 1), 360), ("T", (361, 1), nil), ("T", (1, 0), nil),
            ("Q", (9, 1), nil),
        ] as [(String, (UInt32, UInt32), Double?)])
    func direction(reference: String, value: (UInt32, UInt32), expected: Double?) {
        let position = Blocks.read(gps: Blocks.gps([0x10: .ascii(reference), 0x11: .rational([value])]))?.position
        #expect(position?.imageDirection == expected)
        #expect(
            position?.imageDirectionReference
                == (expected == nil ? nil : reference == "M" ? .magneticNorth : .trueNorth))
    }

    /// Grid points worked out by hand.
    @Test(
        arguments: [
            (48.858370, 2.294481, 48.9, 2.3), (-48.858370, -2.294481, -48.9, -2.3), (0.04, -0.04, 0, 0),
            (89.97, 179.97, 90, 180), (-89.97, -179.97, -90, -180), (48.9, 2.3, 48.9, 2.3), (48.85, 2.25, 48.9, 2.3),
        ])
    func city(latitude: Double, longitude: Double, north: Double, east: Double) {
        var position = Position(latitude: latitude, longitude: longitude)
        position.altitude = 3
        position.timestamp = "2024-05-06T05:08:09Z"
        position.speed = 1
        position.imageDirection = 4
        position.imageDirectionReference = .trueNorth
        var expected = Position(latitude: north, longitude: east)
        expected.horizontalError = 7900
        #expect(position.city == expected)
        #expect(position.city.city == expected)
        #expect(position.city.latitude.sign == (north < 0 ? .minus : .plus))
    }

    /// No place of a cell is farther from its grid point than the error says: great-circle distances on WGS-84's
    /// largest sphere, which is no smaller than the ellipsoid's.
    @Test func cityErrorHolds() {
        var random = SplitMix64(seed: 4)
        for _ in 0..<1000 {
            let here = Position(
                latitude: Double.random(in: -90...90, using: &random),
                longitude: Double.random(in: -180...180, using: &random))
            let grid = here.city
            let radians = { (degrees: Double) in degrees * .pi / 180 }
            let (a, b) = (radians(here.latitude), radians(grid.latitude))
            let sine =
                pow(sin((b - a) / 2), 2) + cos(a) * cos(b) * pow(sin(radians(grid.longitude - here.longitude) / 2), 2)
            #expect(2 * 6_378_137 * asin(sine.squareRoot()) <= Position.cityError)
        }
    }
}
