import Core
import Support
import Testing

@testable import Metadata

@Suite struct CaptureTests {
    @Test(
        arguments: [
            ("2024:05:06 07:08:09", "+02:00", "123", "2024-05-06T07:08:09.123+02:00"),
            ("2024:05:06 07:08:09", nil, nil, "2024-05-06T07:08:09"),
            ("2024:05:06 07:08:09", nil, "050", "2024-05-06T07:08:09.050"),
            ("2024:05:06 07:08:09", "-09:30", nil, "2024-05-06T07:08:09-09:30"),
            ("2024:05:06 07:08:09", "+00:00", nil, "2024-05-06T07:08:09+00:00"),
            ("2024:05:06 07:08:09", "   :  ", "   ", "2024-05-06T07:08:09"),
            ("2024:05:06 07:08:09", "+25:00", "1a", "2024-05-06T07:08:09"),
            ("2024:05:06 07:08:09", "02:00", nil, "2024-05-06T07:08:09"),
            ("2024-05-06T07:08:09", nil, nil, "2024-05-06T07:08:09"),
            ("2024:02:29 23:59:60", nil, nil, "2024-02-29T23:59:60"), ("2023:02:29 00:00:00", nil, nil, nil),
            ("0000:00:00 00:00:00", nil, nil, nil), ("    :  :     :  :  ", nil, nil, nil),
            ("2024:13:01 00:00:00", nil, nil, nil),
            ("2024:05:06 24:00:00", nil, nil, nil), ("2024:05:06", nil, nil, nil), ("yesterday", nil, nil, nil),
            ("2024:5:6 7:8:9", nil, nil, nil), ("+024:05:06 07:08:09", nil, nil, nil),
        ] as [(String, String?, String?, String?)])
    func takenAt(date: String, offset: String?, fraction: String?, expected: String?) {
        var entries: [(UInt16, TIFFBuilder.Value)] = [(0x9003, .ascii(date)), (0x9209, .short(0))]
        if let offset { entries.append((0x9011, .ascii(offset))) }
        if let fraction { entries.append((0x9291, .ascii(fraction))) }
        #expect(Blocks.read(exif: entries)?.capture.takenAt == expected)
    }

    /// The time of digitising and that of the last change are not that of the capture.
    @Test func onlyTheOriginalsTimeCounts() {
        #expect(Blocks.read(exif: [(0x9004, .ascii("2024:05:06 07:08:09"))])?.capture.takenAt == nil)
    }

    @Test(
        arguments: [
            ([(0x8827, .short(400))], 400), ([(0x8827, .short(65535)), (0x8832, .long(102_400))], 102_400),
            ([(0x8827, .short(65535)), (0x8833, .long(204_800))], 204_800),
            ([(0x8827, .short(65535)), (0x8832, .long(0)), (0x8833, .long(81_920))], 81_920),
            ([(0x8827, .short(65535))], nil), ([(0x8827, .short(0))], nil), ([(0x8832, .long(640))], 640),
        ] as [([(UInt16, TIFFBuilder.Value)], Int?)])
    func iso(entries: [(UInt16, TIFFBuilder.Value)], expected: Int?) {
        #expect(Blocks.read(exif: entries)?.capture.iso == expected)
    }

    @Test func theTenOfThem() {
        var expected = Capture()
        expected.takenAt = "2024-05-06T07:08:09.123+02:00"
        expected.cameraMake = "Maker Corp"
        expected.cameraModel = "Model 1"
        expected.lens = "Lens 24mm f/1.78"
        expected.exposureTime = 1.0 / 60
        expected.fNumber = 1.78
        expected.iso = 64
        expected.focalLength = 6.86
        expected.focalLength35mm = 24
        expected.flashFired = false
        #expect(Blocks.read(Blocks.rich())?.capture == expected)
    }

    @Test func zeroIsUnknown() {
        let block = Blocks.read(exif: [
            (0x829A, .rational([(0, 1)])), (0x829D, .rational([(0, 1)])), (0x920A, .rational([(0, 1)])),
            (0xA405, .short(0)),
        ])
        #expect(block?.capture == Capture())
    }
}
