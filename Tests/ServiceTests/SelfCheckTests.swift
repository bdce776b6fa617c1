import Foundation
import Support
import Testing

/// Workers that write what they must not: the service refuses, keeps nothing, and says so in its log. The worker hands
/// back what it is sent, so each body here is a picture as a broken or a taken-over worker might have written it.
@Suite struct SelfCheckTests {
    private struct Fault {
        let name: String
        let query: String
        let picture: [UInt8]
    }

    private func faults(_ jpeg: [UInt8]) throws -> [Fault] {
        let lawful = World.keptBlock()
        func block(_ change: (inout TIFFBuilder) -> Void) -> [UInt8] {
            var block = lawful
            change(&block)
            return inserting(block.app1, into: jpeg)
        }
        let kept = inserting(lawful.app1, into: jpeg)
        let placed = inserting(World.keptBlock(gps: true).app1, into: jpeg)
        let folder = try ScratchFolder()
        let file = try folder.file("a.jpg", jpeg)
        let written = try Tool.run([
            "exiftool", "-q", "-overwrite_original", "-Make=5ecret", "-GPSLatitude=48.8583", "-GPSLatitudeRef=N", file,
        ])
        try #require(written.status == 0)
        return [
            Fault(name: "exiftool's EXIF under strip", query: "", picture: try folder.read("a.jpg")),
            Fault(name: "exiftool's EXIF under keep", query: "exif=keep&gps=keep", picture: try folder.read("a.jpg")),
            Fault(name: "our EXIF under strip", query: "", picture: kept),
            Fault(name: "our EXIF under return", query: "exif=return&gps=return", picture: kept),
            Fault(name: "a place under gps=strip", query: "exif=keep", picture: placed),
            Fault(name: "a place under gps=return", query: "exif=keep&gps=return", picture: placed),
            Fault(name: "EXIF beside the place", query: "gps=keep", picture: placed),
            Fault(
                name: "the place itself for the city", query: "exif=keep&gps=keep&gps_precision=city", picture: placed),
            Fault(
                name: "serial number", query: "exif=keep",
                picture: block { $0.exif.append((0xA431, .ascii("SN5ecret"))) }),
            Fault(
                name: "maker note", query: "exif=keep", picture: block { $0.exif.append((0x927C, .ascii("5ecret"))) }),
            Fault(name: "owner", query: "exif=keep", picture: block { $0.exif.append((0xA430, .ascii("5ecret"))) }),
            Fault(
                name: "thumbnail", query: "exif=keep",
                picture: block { $0.ifd1 = [(0x0201, .long(8)), (0x0202, .long(8))] }),
            Fault(name: "orientation", query: "exif=keep", picture: block { $0.ifd0[1] = (0x0112, .short(6)) }),
            Fault(name: "nothing though said to be kept", query: "exif=keep", picture: jpeg),
            Fault(name: "two blocks", query: "exif=keep", picture: inserting(lawful.app1, into: kept)),
            Fault(
                name: "XMP", query: "exif=keep",
                picture: inserting(
                    JPEGPictures.segment(0xE1, Array("http://ns.adobe.com/xap/1.0/\0<5ecret/>".utf8)), into: kept)),
            Fault(
                name: "comment", query: "exif=keep",
                picture: inserting(JPEGPictures.segment(0xFE, Array("5ecret".utf8)), into: kept)),
            Fault(name: "trailer", query: "exif=keep", picture: kept + Array("5ecret".utf8)),
            Fault(name: "trailer under strip", query: "", picture: jpeg + Array("5ecret".utf8)),
        ]
    }

    @Test func bites() throws {
        let folder = try ScratchFolder()
        let worker = try ScriptWorker(in: folder)
        let service = try Program.Service(
            ["--store", folder.path + "/data", "--worker", worker.path, "--workers", "1"], in: folder)
        try service.waitUntilReady()
        func post(_ path: String, _ query: String, _ body: [UInt8]) throws -> Tool.Outcome {
            try service.curl(
                ["--data-binary", "@-", "--write-out", "\n%{http_code}"], "\(path)?\(query)", input: body)
        }
        let jpeg = try Program.makeJPEG()
        let faults = try faults(jpeg)
        for fault in faults {
            for path in ["/v1/images", "/v1/convert"] {
                let answer = try post(path, fault.query, fault.picture)
                #expect(answer.text.hasSuffix("\n500"), "\(fault.name)")
                #expect(answer.text.contains(#""code":"self_check_failed""#), "\(fault.name)")
                #expect(!answer.text.contains("5ecret"), "\(fault.name)")
            }
        }
        let stored = try FileManager.default.subpathsOfDirectory(atPath: folder.path + "/data")
        #expect(stored.filter { $0.hasSuffix(".jpg") } == [])
        // What is as it must be passes, so that the check does not merely refuse all.
        for (query, picture) in [
            ("", jpeg), ("exif=keep", inserting(World.keptBlock().app1, into: jpeg)),
            ("exif=keep&gps=keep", inserting(World.keptBlock(gps: true).app1, into: jpeg)),
        ] {
            let answer = try post("/v1/images", query, picture)
            #expect(answer.text.hasSuffix("\n201"), "\(answer.text)")
            // The worker tells a make and a place whatever was asked.
            #expect(answer.text.contains("5ecret") == query.contains("exif"))
            #expect(answer.text.contains("48.858222") == query.contains("gps"))
        }
        service.signal(SIGTERM)
        #expect(service.exitCode() == 0)
        let lines = try service.lines().filter { $0["error.code"] as? String == "self_check_failed" }
        #expect(lines.count == 2 * faults.count)
        #expect(lines.allSatisfy { $0["level"] as? String == "error" })
    }
}
