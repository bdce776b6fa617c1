import Core
import Foundation
import Posix
import Storage
import Support
import Testing

@Suite struct UploadTests {
    @Test(arguments: Transport.allCases) func answersTheRecord(transport: Transport) throws {
        let world = try World(transport)
        // 12 bytes that begin as a JPEG does; the stub's report says HEIC, for the record's sake.
        let source: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 1, 2, 3, 4, 5, 6, 7, 8]
        let answer = try world.send("POST", "/v1/images?quality=85", body: source)
        #expect(answer.status == 201)
        #expect(answer["Content-Type"] == "application/json")
        #expect(answer["Cache-Control"] == "no-store")
        let record = try answer.json()
        let key = try #require(record["key"] as? String)
        let createdAt = try #require(record["created_at"] as? String)
        #expect(createdAt.filter { $0.isNumber || $0 == "T" || $0 == "Z" } == key.prefix(19))
        #expect(answer["Location"] == "/v1/images/" + key)
        let sum = try Tool.run(["sha256sum"], input: world.jpeg).text.prefix(64)
        let sourceSum = try Tool.run(["sha256sum"], input: source).text.prefix(64)
        #expect(
            answer.text == """
                {"bytes":\(world.jpeg.count),"capture":null,"color":{"output":"Display P3","source":"Display P3"},\
                "content_type":"image/jpeg","created_at":"\(createdAt)","exif":null,"gps":null,"gps_status":null,"height":8,\
                "kept":[],"key":"\(key)","path":"reencode",\
                "quality":90,"removed":["exif","gps"],"sha256":"\(sum)","source":{"bytes":12,"format":"heic","height":16,\
                "orientation":6,"orientation_source":"irot","sha256":"\(sourceSum)","width":8},\
                "url":"/v1/images/\(key)","warnings":["orientation_conflict"],"width":16}
                """)
        #expect(world.store.keys.map(\.text) == [key])
        #expect(world.runner.jobs.map(\.options.quality) == [85])
        #expect(try world.send("GET", "/v1/images/" + key).body == world.jpeg)
    }

    @Test func tellsNoQualityWhereNothingWasEncoded() throws {
        let world = try World(.direct)
        var report = World.report
        report.path = .copy
        report.quality = nil
        report.found = [:]
        report.warnings = []
        world.runner.behave(.succeed(report, try SealedFile.holding(world.jpeg, name: "output")))
        let answer = try world.send("POST", "/v1/images", body: world.jpeg)
        #expect(answer.text.contains(#""path":"copy","quality":null,"removed":[],"#))
        #expect(answer.text.contains(#""warnings":[]"#))
    }

    @Test(arguments: Transport.allCases) func takesAnyContentType(transport: Transport) throws {
        let world = try World(transport)
        for type in ["image/heic", "application/octet-stream", "text/plain; charset=x", "multipart/form-data"] {
            let answer = try world.send("POST", "/v1/images", headers: [("Content-Type", type)], body: world.jpeg)
            #expect(answer.status == 201)
        }
        #expect(world.store.keys.count == 4, "each upload has a key of its own")
    }

    @Test(arguments: Transport.allCases) func convertsWithoutStoring(transport: Transport) throws {
        let world = try World(transport)
        let answer = try world.send("POST", "/v1/convert", body: world.jpeg)
        #expect(answer.status == 200)
        #expect(answer.body == world.jpeg)
        let sum = try Tool.run(["sha256sum"], input: world.jpeg).text.prefix(64)
        let expected = [
            "Content-Type": "image/jpeg", "Content-Length": String(world.jpeg.count), "ETag": "\"\(sum)\"",
            "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Safelight-Path": "reencode",
            "Safelight-Removed": "exif, gps", "Safelight-Warnings": "orientation_conflict",
        ]
        for (name, value) in expected { #expect(answer[name] == value, "\(name)") }
        #expect(world.store.keys.isEmpty)
    }

    @Test(arguments: Transport.allCases) func leavesEmptyListsOut(transport: Transport) throws {
        let world = try World(transport)
        var report = World.report
        report.found = [:]
        report.warnings = []
        world.runner.behave(.succeed(report, try SealedFile.holding(world.jpeg, name: "output")))
        let answer = try world.send("POST", "/v1/convert", body: world.jpeg)
        #expect(answer.status == 200)
        #expect(answer["Safelight-Removed"] == nil)
        #expect(answer["Safelight-Warnings"] == nil)
    }

    @Test(arguments: Transport.allCases, ["/v1/images", "/v1/convert", "/v1/inspect"])
    func refusesWhatIsNoPhoto(transport: Transport, path: String) throws {
        let world = try World(transport)
        let empty = try world.send("POST", path, body: [])
        #expect(empty.status == 400)
        #expect(try empty.problemCode() == "empty_body")

        let gif = try world.send("POST", path, body: Array("GIF89a and so on".utf8))
        #expect(gif.status == 415)
        #expect(try gif.problemCode() == "unsupported_media_type")
        #expect(gif.text.contains("image/gif"))

        let form = try world.send(
            "POST", path, headers: [("Content-Type", "multipart/form-data; boundary=x")],
            body: Array("--x\r\nContent-Disposition: form-data; name=\"f\"\r\n\r\nabc\r\n--x--\r\n".utf8))
        #expect(form.status == 415)
        #expect(form.text.contains("raw bytes"))
        let curl = try world.send(
            "POST", path, headers: [("Content-Type", "application/x-www-form-urlencoded")], body: Array("ftyp".utf8))
        #expect(curl.status == 415)
        #expect(curl.text.contains("not -d"))
        #expect(world.runner.jobs.isEmpty)
        #expect(world.store.keys.isEmpty)
    }

    @Test(
        arguments: Transport.allCases,
        [
            ("quality=101", "quality='101' is not allowed; allowed is a whole number from 1 to 100"),
            ("quality=9%30&quality=90", "parameter 'quality' is given more than once"),
            ("colour=srgb", "unknown parameter 'colour'; known are: "),
            ("gps=true", "gps='true' is not allowed; allowed are: strip, return, keep"),
        ]) func refusesBadParameters(transport: Transport, parameter: (query: String, detail: String)) throws
    {
        let world = try World(transport)
        for path in ["/v1/images", "/v1/convert", "/v1/inspect"] {
            let answer = try world.send("POST", "\(path)?\(parameter.query)", body: world.jpeg)
            #expect(answer.status == 400)
            #expect(try answer.problemCode() == "bad_parameter")
            #expect((try answer.json()["detail"] as? String)?.hasPrefix(parameter.detail) == true)
        }
        #expect(world.runner.jobs.isEmpty)
    }

    @Test(arguments: Transport.allCases) func boundsTheBody(transport: Transport) throws {
        let world = try World(transport, bodyBytesMax: 50_000)
        let answer = try world.send("POST", "/v1/images", body: [UInt8](repeating: 0xFF, count: 50_001))
        #expect(answer.status == 413)
        #expect(try answer.problemCode() == "body_too_large")
        #expect((try answer.json()["detail"] as? String) == "the body has 50001 bytes, and 50000 are the limit")
    }

    /// What a worker says of a picture, and with which status it is passed on.
    @Test(
        arguments: Transport.allCases,
        [
            (Failure.Code.corrupt, 422), (.truncated, 422), (.tooManyPixels, 422), (.undecodable, 422),
            (.unsupportedMedia, 415), (.internalError, 500), (.busy, 503), (.stopping, 503),
        ]) func passesFailuresOn(transport: Transport, expected: (code: Failure.Code, status: Int)) throws
    {
        let world = try World(transport)
        for behaviour in [StubRunner.Behaviour.fail, StubRunner.Behaviour.refuse] {
            world.runner.behave(behaviour(Failure(expected.code, "for people", diagnosis: "for the log")))
            let answer = try world.send("POST", "/v1/images", body: world.jpeg)
            #expect(answer.status == expected.status)
            #expect(try answer.problemCode() == expected.code.rawValue)
            #expect(try answer.json()["detail"] as? String == "for people")
            #expect(!answer.text.contains("for the log"))
            #expect((answer["Retry-After"] != nil) == (expected.status == 503))
        }
        #expect(world.store.keys.isEmpty)
    }

    @Test(arguments: Transport.allCases) func believesNoWorker(transport: Transport) throws {
        let world = try World(transport)
        let folder = try ScratchFolder()
        let file = try folder.file("a.jpg", world.jpeg)
        let tagged = try Tool.run(["exiftool", "-q", "-overwrite_original", "-GPSLatitude=48.85", file])
        try #require(tagged.status == 0)
        var smaller = World.report
        smaller.size = PixelSize(width: 16, height: 7)
        let lies: [(Report, [UInt8])] = [
            (World.report, try folder.read("a.jpg")), (smaller, world.jpeg), (World.report, world.jpeg + [0]),
            (World.report, Array("<html>".utf8)), (World.report, []),
        ]
        for (report, bytes) in lies {
            world.runner.behave(.succeed(report, try SealedFile.holding(bytes, name: "output")))
            for path in ["/v1/images", "/v1/convert"] {
                let answer = try world.send("POST", path, body: world.jpeg)
                #expect(answer.status == 500)
                #expect(try answer.problemCode() == "self_check_failed")
            }
        }
        #expect(world.store.keys.isEmpty)
        let lines = try world.logged(10)
        #expect(lines.count == 10)
        #expect(lines.allSatisfy { $0["level"] as? String == "error" })
    }

    /// The stub's picture has 128 pixels. A worker that was taken over could write a bomb for the next reader.
    @Test func handsOutNothingLargerThanTheLimit() throws {
        #expect(try World(.direct, pixelsMax: 128).upload().hasPrefix("/v1/images/"))
        let world = try World(.direct, pixelsMax: 127)
        let answer = try world.send("POST", "/v1/images", body: world.jpeg)
        #expect(answer.status == 500)
        #expect(try answer.problemCode() == "self_check_failed")
        #expect(world.store.keys.isEmpty)
    }

    @Test(arguments: Transport.allCases) func tellsWhatTheStoreLacks(transport: Transport) throws {
        let world = try World(transport, bytesMax: 100)
        let full = try world.send("POST", "/v1/images", body: world.jpeg)
        #expect(full.status == 507)
        #expect(try full.problemCode() == "storage_full")

        world.faulty.breakDown(.unavailable(diagnosis: "the disk is on fire"))
        let away = try world.send("POST", "/v1/images", body: world.jpeg)
        #expect(away.status == 503)
        #expect(try away.problemCode() == "storage_unavailable")
        #expect(away["Retry-After"] == "10")
        #expect(!away.text.contains("fire"))
        #expect(try world.send("POST", "/v1/convert", body: world.jpeg).status == 200, "it needs no store")
        let lines = try world.logged(3)
        #expect(lines.map { $0["level"] as? String } == ["warning", "warning", "info"])
        #expect(lines[1]["error.diagnosis"] as? String == "the disk is on fire")
    }
}
