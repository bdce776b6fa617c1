import Core
import Foundation
import Posix
import Storage
import Support
import Testing

/// What the records tell of a photo's metadata: no more than the options let through, whatever the worker says.
@Suite struct RecordTests {
    private func record(_ query: String, _ transport: Transport = .direct) throws -> (json: [String: Any], text: String)
    {
        let world = try World(transport)
        try world.tell(World.disclosure)
        let answer = try world.send("POST", "/v1/images?\(query)", body: world.jpeg)
        #expect(answer.status == 201)
        return (try answer.json(), answer.text)
    }

    @Test(arguments: Transport.allCases) func tellsWhatIsAsked(transport: Transport) throws {
        let text = try record("exif=return&gps=return", transport).text
        let expected = [
            #""exif":{"ExposureTime":0.016666666666666666,"FNumber":4,"Flash":16,"LensSpecification":[1.5,null],"#
                + #""Make":"Zoë …/","SubjectArea":[1,2]}"#,
            #""capture":{"camera_make":null,"camera_model":null,"exposure_time":null,"f_number":null,"flash_fired":null,"#
                + #""focal_length":null,"focal_length_35mm":null,"iso":64,"lens":null,"taken_at":"2024-05-06T07:08:09+02:00"}"#,
            #""gps":{"altitude":35.25,"horizontal_error":null,"image_direction":91.28,"#
                + #""image_direction_reference":"magnetic","latitude":48.858322,"longitude":-2.2945,"speed":null,"#
                + #""timestamp":"2024-05-06T05:08:09Z"}"#, #""gps_status":"present""#,
        ]
        for part in expected { #expect(text.contains(part), "\(part)") }
    }

    @Test(arguments: ["", "exif=strip&gps=strip", "gps_precision=city", "quality=80"])
    func tellsNothingUnasked(query: String) throws {
        let (json, text) = try record(query)
        for field in ["exif", "capture", "gps", "gps_status"] { #expect(json[field] is NSNull, "\(field)") }
        #expect(!text.contains("2024") && !text.contains("48.8"))
    }

    @Test func tellsNoPlaceBesideEXIF() throws {
        let (json, text) = try record("exif=return")
        #expect(json["exif"] is [String: Any] && json["gps"] is NSNull && json["gps_status"] is NSNull)
        #expect(!text.contains("48.8") && !text.contains("-2.29"))
    }

    @Test func tellsNoTimeBesideThePlace() throws {
        let (json, text) = try record("gps=return")
        let place = try #require(json["gps"] as? [String: Any])
        #expect(place["latitude"] as? Double == 48.858322 && place["timestamp"] is NSNull)
        #expect(!text.contains("2024"))
    }

    @Test func tellsTheCity() throws {
        let place = try #require(try record("gps=return&exif=return&gps_precision=city").json["gps"] as? [String: Any])
        let told = place.compactMapValues { $0 as? Double }
        #expect(told == ["latitude": 48.9, "longitude": -2.3, "horizontal_error": 7900])
        #expect(place.count == 8 && place["timestamp"] is NSNull)
    }

    @Test func tellsWhatIsNotThere() throws {
        let world = try World(.direct)
        var nothing = Disclosure()
        nothing.exif = ExifRecord()
        nothing.capture = Capture()
        nothing.gpsStatus = GPSStatus.none
        try world.tell(nothing)
        let text = try world.send("POST", "/v1/images?exif=return&gps=return", body: world.jpeg).text
        #expect(text.contains(#""exif":{},"gps":null,"gps_status":"none""#))
    }

    @Test(arguments: Transport.allCases) func inspects(transport: Transport) throws {
        let world = try World(transport)
        try world.tell(World.disclosure)
        let answer = try world.send("POST", "/v1/inspect?gps=return&gps_precision=city", body: world.jpeg)
        #expect(answer.status == 200)
        #expect(answer["Content-Type"] == "application/json" && answer["Cache-Control"] == "no-store")
        let sum = try Tool.run(["sha256sum"], input: world.jpeg).text.prefix(64)
        #expect(
            answer.text == """
                {"capture":null,"color":{"output":"Display P3","source":"Display P3"},"exif":null,"found_bytes":{"exif":12,\
                "gps":34},"gps":{"altitude":null,"horizontal_error":7900,"image_direction":null,\
                "image_direction_reference":null,"latitude":48.9,"longitude":-2.3,"speed":null,"timestamp":null},\
                "gps_status":"present","kept":[],"plan":{"height":8,"path":"reencode","quality":90,"width":16},\
                "removed":["exif","gps"],"source":{"bytes":\(world.jpeg.count),"format":"heic","height":16,"orientation":6,\
                "orientation_source":"irot","sha256":"\(sum)","width":8},"warnings":["orientation_conflict"]}
                """)
        #expect(world.store.keys.isEmpty)
        #expect(world.runner.jobs.map(\.kind) == [.inspect])
        let line = try #require(try world.logged(1).first)
        #expect(line["http.route"] as? String == "/v1/inspect" && line["image.kind"] as? String == "heic")
    }

    @Test(arguments: Transport.allCases) func tellsWhatWasKept(transport: Transport) throws {
        let world = try World(transport)
        var report = World.report
        report.kept = [.exif]
        let jpeg = inserting(World.keptBlock().app1, into: world.jpeg)
        world.runner.behave(.succeed(report, try SealedFile.holding(jpeg, name: "output")))
        let record = try world.send("POST", "/v1/images?exif=keep", body: world.jpeg).json()
        #expect(record["kept"] as? [String] == ["exif"] && record["removed"] as? [String] == ["gps"])
        let answer = try world.send("POST", "/v1/convert?exif=keep", body: world.jpeg)
        #expect(answer["Safelight-Kept"] == "exif" && answer["Safelight-Removed"] == "gps")
        #expect(answer.body == jpeg)
    }
}
