import Core
import Foundation
import Support
import Testing

@testable import Service

/// `safelight inspect` as a process, with its own worker.
@Suite struct InspectTests {
    private let folder: ScratchFolder
    private let photo: String

    init() throws {
        folder = try ScratchFolder()
        let block = World.keptBlock(gps: true).app1
        photo = try folder.file("in.jpg", inserting(block, into: try Program.makeJPEG()) + [1, 2, 3])
    }

    @Test func tellsAsTheServiceDoes() throws {
        let service = try Program.Service(["--store", folder.path + "/data", "--workers", "1"], in: folder)
        try service.waitUntilReady()
        let bytes = try folder.read("in.jpg")
        for (flags, query) in [
            ([], ""), (["--exif", "return", "--gps=keep", "--max-width", "8"], "exif=return&gps=keep&max_width=8"),
        ] {
            let told = try Program.run(["inspect", photo] + flags)
            #expect(told.status == 0 && told.complaint.isEmpty)
            let answer = try service.curl(["--data-binary", "@-"], "/v1/inspect?\(query)", input: bytes)
            #expect(told.text == answer.text + "\n")
        }
        #expect(try Program.run(["inspect", "-"], input: bytes).text == Program.run(["inspect", photo]).text)
        service.signal(SIGTERM)
        #expect(service.exitCode() == 0)
    }

    @Test func isReadableOnATerminal() throws {
        let shown = try Tool.run(
            [
                "/usr/bin/python3", "-c", "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]))", Program.path, "inspect",
                photo,
            ]
                + ["--exif", "keep", "--gps", "return"])
        #expect(shown.status == 0)
        let text = shown.text.replacing("\r\n", with: "\n")
        let lines = [
            "photo         jpeg, 16x8 as stored, \(try folder.read("in.jpg").count) bytes",
            "orientation   1, told by exif",
            "plan          copy to 16x8, sRGB", "removed       gps, trailer", "kept          exif",
            "place         48.858322, ", "Make", "5ecret Maker",
        ]
        for line in lines { #expect(text.contains(line), "\(line)\n\(text)") }
    }

    @Test func failsAsConvertDoes() throws {
        let gif = try folder.file("a.gif", Array("GIF89a".utf8))
        let refused = try Program.run(["inspect", gif])
        #expect(refused.status == 1 && refused.output.isEmpty)
        #expect(refused.complaint.contains("unsupported_media_type: this is image/gif"))
        #expect(try Tool.run(["sh", "-c", "\(Program.path) inspect \(photo) > /dev/full"]).status == 1)
        for arguments in [
            [], [photo, photo], [photo, "-o", "x"], [photo, "--output", "x"], [photo, "--gps", "yes"],
        ] {
            #expect(try Program.run(["inspect"] + arguments).status == 2, "\(arguments)")
        }
        #expect(try Program.run(["inspect", "--help"]).text.contains("--gps-precision VALUE"))
    }
}
