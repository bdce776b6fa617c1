import Foundation
import Storage
import Support
import Testing

@Suite struct PictureTests {
    @Test(arguments: Transport.allCases) func sendsTheJPEG(transport: Transport) throws {
        let world = try World(transport)
        let url = try world.upload()
        let got = try world.send("GET", url)
        let sum = try Tool.run(["sha256sum"], input: world.jpeg).text.prefix(64)
        let expected = [
            "Content-Type": "image/jpeg", "Content-Length": String(world.jpeg.count), "ETag": "\"\(sum)\"",
            "Cache-Control": "private, max-age=31536000, immutable", "Accept-Ranges": "bytes",
            "X-Content-Type-Options": "nosniff",
        ]
        let head = try world.send("HEAD", url)
        for answer in [got, head] {
            #expect(answer.status == 200)
            for (name, value) in expected { #expect(answer[name] == value, "\(name)") }
            #expect(answer["Last-Modified"]?.wholeMatch(of: /\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT/) != nil)
        }
        #expect(got.body == world.jpeg)
        #expect(head.body.isEmpty)
    }

    @Test(arguments: Transport.allCases) func savesACallerWhoHasIt(transport: Transport) throws {
        let world = try World(transport)
        let url = try world.upload()
        let whole = try world.send("GET", url)
        let tag = try #require(whole["ETag"])
        let modified = try #require(whole["Last-Modified"])
        let known = [
            [("If-None-Match", tag)], [("If-None-Match", "\"a\", W/\(tag)")], [("If-None-Match", "*")],
            [("If-Modified-Since", modified)],
            [("If-None-Match", tag), ("Range", "bytes=0-0")],
        ]
        for headers in known {
            for method in ["GET", "HEAD"] {
                let answer = try world.send(method, url, headers: headers)
                #expect(answer.status == 304, "\(headers)")
                #expect(answer.body.isEmpty)
                #expect(answer["ETag"] == tag)
                // A cache would take another length for the picture's (RFC 9110, section 8.6).
                #expect(answer["Content-Length"] == String(world.jpeg.count))
                #expect(answer["Cache-Control"] == whole["Cache-Control"])
            }
        }
        let unknown = [
            [("If-None-Match", "\"a\"")], [("If-None-Match", String(tag.dropFirst().dropLast()))],
            // A tag counts more than a date (RFC 9110, section 13.1.3).
            [("If-None-Match", "\"a\""), ("If-Modified-Since", modified)],
            [("If-Modified-Since", "Thu, 01 Jan 1970 00:00:00 GMT")],
        ]
        for headers in unknown { #expect(try world.send("GET", url, headers: headers).status == 200, "\(headers)") }
    }

    @Test(arguments: Transport.allCases) func sendsParts(transport: Transport) throws {
        let world = try World(transport)
        let url = try world.upload()
        let count = world.jpeg.count
        let tag = try #require(try world.send("HEAD", url)["ETag"])
        let part = try world.send("GET", url, headers: [("Range", "bytes=2-9"), ("If-Range", tag)])
        #expect(part.status == 206)
        #expect(part["Content-Range"] == "bytes 2-9/\(count)")
        #expect(part["Content-Length"] == "8")
        #expect(part["ETag"] == tag)
        #expect(part.body == Array(world.jpeg[2...9]))
        #expect(try world.send("GET", url, headers: [("Range", "bytes=-3")]).body == world.jpeg.suffix(3))

        let beyond = try world.send("GET", url, headers: [("Range", "bytes=\(count)-")])
        #expect(beyond.status == 416)
        #expect(beyond["Content-Range"] == "bytes */\(count)")
        #expect(try beyond.problemCode() == "range_not_satisfiable")

        for headers in [
            [("Range", "bytes=0-1,4-5")], [("Range", "lines=1-2")], [("Range", "bytes=2-9"), ("If-Range", "\"a\"")],
            [("Range", "bytes=2-9"), ("If-Range", "Thu, 01 Jan 1970 00:00:00 GMT")],
        ] {
            let answer = try world.send("GET", url, headers: headers)
            #expect(answer.status == 200, "\(headers)")
            #expect(answer.body == world.jpeg)
        }
        #expect(try world.send("HEAD", url, headers: [("Range", "bytes=2-9")]).status == 200)
    }

    @Test(arguments: Transport.allCases) func deletes(transport: Transport) throws {
        let world = try World(transport)
        let url = try world.upload()
        let answer = try world.send("DELETE", url)
        #expect(answer.status == 204)
        #expect(answer.body.isEmpty)
        for method in ["GET", "HEAD", "DELETE"] {
            let gone = try world.send(method, url)
            #expect(gone.status == 404)
            if method != "HEAD" { #expect(try gone.problemCode() == "not_found") }
        }
    }

    @Test(
        arguments: Transport.allCases,
        [
            "/v1/images/20261130T172233123Z-00000000000000000000000011.jpg", "/v1/images/passwd",
            "/v1/images/..%2f..%2fetc%2fpasswd", "/v1/images/../../etc/passwd", "/v1/images/", "/v1/images//",
            "/v1/images/20261130T172233123Z-00000000000000000000000011.jpg/", "/v1", "/V1/images", "/index.html",
            "/v1/images/20261130T172233123Z-00000000000000000000000011.JPG",
        ]) func findsNothingElse(transport: Transport, target: String) throws
    {
        let world = try World(transport)
        let answer = try world.send("GET", target)
        #expect(answer.status == 404)
        #expect(try answer.problemCode() == "not_found")
    }

    @Test(arguments: Transport.allCases) func takesNoParameterAndNoBody(transport: Transport) throws {
        let world = try World(transport)
        let url = try world.upload()
        #expect(try world.send("GET", url + "?width=100").problemCode() == "bad_parameter")
        let answer = try world.send("GET", url, body: [1])
        #expect(answer.status == 413)
        #expect(try answer.json()["detail"] as? String == "this request takes no body")
    }

    @Test(arguments: Transport.allCases) func tellsThatTheStoreIsAway(transport: Transport) throws {
        let world = try World(transport)
        let url = try world.upload()
        world.faulty.breakDown(.unavailable(diagnosis: "gone"))
        for method in ["GET", "DELETE"] {
            let answer = try world.send(method, url)
            #expect(answer.status == 503)
            #expect(try answer.problemCode() == "storage_unavailable")
        }
    }
}
