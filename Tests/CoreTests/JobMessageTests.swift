import Core
import Testing

@Suite struct JobMessageTests {
    private static let disclosure: Disclosure = {
        var disclosure = Disclosure()
        disclosure.exif = ExifRecord(fields: [.init(name: "Make", value: .text("Maker"))])
        disclosure.gpsStatus = .present
        disclosure.position = Position(latitude: 1.5, longitude: -2)
        return disclosure
    }()

    private static let report = Report(
        path: .reencode, size: PixelSize(width: 3024, height: 4032), quality: 90,
        source: Report.Source(
            format: .heic, size: PixelSize(width: 4032, height: 3024), orientation: .rotated90,
            orientationSource: .irot),
        color: Report.Color(source: "Display P3", output: "Display P3"),
        found: [.gps: 120, .exif: 3000, .gainMap: 1 << 40],
        kept: [.exif], disclosure: disclosure, warnings: [.orientationConflict])

    private static let replies: [Reply] = [
        .done(report),
        .failed(Failure(.corrupt, "the picture's data is broken")),
        .failed(Failure(.undecodable, "no decoder reads it", diagnosis: "libheif 2.0: “…”")),
    ]

    @Test func jobSurvivesTheWire() throws {
        var limits = Limits()
        limits.pixelsMax = 12
        limits.jobDeadlineMs = 34
        let options = try Options(parsing: OptionsTests.everything.map { (name: $0.0, value: $0.1) })
        for kind in Job.Kind.allCases {
            let job = Job(kind, options: options, limits: limits, threads: 56)
            #expect(try JobMessage.decodeJob(JobMessage.encode(job)) == job)
        }
    }

    @Test(arguments: replies) func replySurvivesTheWire(reply: Reply) throws {
        #expect(try JobMessage.decodeReply(JobMessage.encode(reply)) == reply)
    }

    @Test(arguments: replies) func nothingShorterOrLongerPasses(reply: Reply) {
        let bytes = JobMessage.encode(reply)
        for count in 0..<bytes.count {
            #expect(throws: ByteReader.Malformed.self) { try JobMessage.decodeReply(Array(bytes.prefix(count))) }
        }
        #expect(throws: ByteReader.Malformed.self) { try JobMessage.decodeReply(bytes + [0]) }
    }

    @Test func hostileBytesAreRefusedOrRead() {
        let good = JobMessage.encode(JobMessageTests.replies[0])
        for index in good.indices {
            for value in [0, 1, 0x7F, 0x80, 0xFF] as [UInt8] {
                var bytes = good
                bytes[index] = value
                if case .done(let report)? = try? JobMessage.decodeReply(bytes) {
                    #expect(report.size.width > 0 && report.size.height > 0)
                }
            }
        }
    }

    /// A worker that was taken over could otherwise send kilobytes of anything to clients and logs.
    @Test func textsAreBoundedAndPrintable() throws {
        let hostile = "a\r\nSet-Cookie: b\u{1B}[2J\0\u{202E}\u{2028}é" + String(repeating: "x", count: 10_000)
        let kept = "aSet-Cookie: b[2Jé"
        let failure = Failure(.corrupt, hostile, diagnosis: hostile)
        let text = kept + String(repeating: "x", count: 500 - kept.count)
        #expect(
            try JobMessage.decodeReply(JobMessage.encode(.failed(failure)))
                == .failed(Failure(.corrupt, text, diagnosis: text)))
        let color = Report.Color(source: hostile, output: hostile)
        #expect(color.source == kept + String(repeating: "x", count: 80 - kept.count))
        #expect(color.output == color.source)
    }

    @Test func qualityOutOfRangeIsNoJob() {
        var options = Options()
        options.quality = 101
        let bytes = JobMessage.encode(Job(options: options, limits: Limits()))
        #expect(throws: ByteReader.Malformed.self) { try JobMessage.decodeJob(bytes) }
    }
}
