import Foundation
import Support
import Testing

/// A whole run of the service with its own worker: nothing that a photo tells comes to the log.
@Suite struct SecrecyTests {
    private var photo: [UInt8] {
        get throws {
            var block = World.keptBlock(gps: true)
            block.ifd0 = [
                (0x010F, .ascii("5ecret Maker")), (0x0110, .ascii("Model 5ecret")), (0x0112, .short(6)),
                (0x9C9B, .bytes(Array("5ecret".utf8))),
            ]
            block.exif += [
                (0x9003, .ascii("2019:08:07 06:05:04")), (0x927C, .undefined(Array("5ecret maker note".utf8))),
                (0xA431, .ascii("SN5ecret")), (0x9286, .undefined(Array("ASCII\0\0\05ecret".utf8))),
            ]
            let comment = JPEGPictures.segment(0xFE, Array("5ecret comment".utf8))
            return inserting(block.app1 + comment, into: try Program.makeJPEG()) + Array("5ecret trailer".utf8)
        }
    }

    @Test func theLogTellsNothing() throws {
        let folder = try ScratchFolder()
        let service = try Program.Service(["--store", folder.path + "/data", "--workers", "1"], in: folder)
        try service.waitUntilReady()
        let photo = try photo
        var heic = HEICPicture(64, 64)
        heic.exif = [Array(photo[30...].prefix(400))]
        var damaged = photo
        damaged.replaceSubrange(60..<90, with: Array("5ecret 48.858322 2.2945 5ecret".utf8))
        let bodies = [photo, try heic.make(), damaged, Array(photo.prefix(photo.count - 300)), Array("5ecret".utf8)]
        let queries = [
            "", "exif=return&gps=return", "exif=keep&gps=keep", "gps=keep&gps_precision=city", "exif=keep&max_width=5",
            "exif=5ecret", "5ecret=48.858322", "max_bytes=1",
        ]
        var answers = ""
        for query in queries {
            for path in ["/v1/images", "/v1/convert", "/v1/inspect"] {
                for body in bodies {
                    let headers = [
                        "--header", "Content-Disposition: attachment; filename=IMG_5ecret.HEIC", "--header",
                        "Content-Type: image/heic; name=IMG_5ecret.HEIC", "--data-binary", "@-",
                    ]
                    answers += try service.curl(headers, "\(path)?\(query)", input: body).text
                }
            }
        }
        answers += try service.curl(["--form", "photo=@-;filename=IMG_5ecret.jpg"], "/v1/images", input: photo).text
        answers += try service.curl([], "/5ecret/IMG_5ecret.HEIC?5ecret").text
        service.signal(SIGTERM)
        #expect(service.exitCode() == 0)
        // It was told where it was asked for, so the log could have told it.
        for secret in ["5ecret Maker", "48.858322", "2019-08-07"] { #expect(answers.contains(secret), "\(secret)") }
        let log = try String(contentsOfFile: folder.path + "/log", encoding: .utf8)
        #expect(log.split(separator: "\n").count > queries.count * bodies.count * 3)
        for secret in ["5ecret", "48.858", "48, 51", "2.2945", "2019:08:07", "2019-08-07", "IMG_", ".HEIC"] {
            #expect(!log.contains(secret), "\(secret)")
        }
        for match in answers.matches(of: /-([0-9A-HJKMNP-TV-Z]{26})\.jpg/) { #expect(!log.contains(match.1)) }
    }
}
