import Core
import Testing

@Suite struct OptionsTests {
    private func parse(_ pairs: [(String, String)]) throws(Failure) -> Options {
        try Options(parsing: pairs.map { (name: $0.0, value: $0.1) })
    }

    @Test func nothingAskedIsTheDefault() throws {
        #expect(try parse([]) == Options())
        #expect(Options().quality == 90)
        #expect(Options().pairs.isEmpty)
        for option in OptionDescriptor.all {
            if let fallback = option.fallback { #expect(try parse([(option.name, fallback)]) == Options()) }
        }
    }

    @Test(arguments: ["1", "60", "100"]) func quality(text: String) throws {
        #expect(try parse([("quality", text)]).quality == Int(text))
    }

    @Test(arguments: [
        ("500000", 500_000), ("500KB", 500_000), ("2MB", 2_000_000), ("1", 1), ("1000MB", 1_000_000_000),
    ]) func maxBytes(text: String, bytes: Int) throws {
        #expect(try parse([("max_bytes", text)]).maxBytes == bytes)
    }

    @Test func crops() throws {
        #expect(try parse([("crop", "16:9")]).crop == .ratio(16, 9))
        #expect(
            try parse([("crop", "0,10,200,3000")]).crop
                == .rectangle(PixelRectangle(x: 0, y: 10, width: 200, height: 3000)))
    }

    static let everything = [
        ("exif", "return"), ("gps", "keep"), ("gps_precision", "city"),
        ("max_width", "800"), ("max_height", "600"), ("crop", "1,2,3,4"), ("max_bytes", "100000"), ("quality", "77"),
        ("orientation", "exif"), ("color", "srgb"), ("progressive", "true"), ("subsampling", "422"),
    ]

    @Test func pairsAreWhatIsParsed() throws {
        let options = try parse(Self.everything)
        #expect(options.pairs.map(\.name) == Self.everything.map(\.0))
        #expect(options.pairs.map(\.value) == Self.everything.map(\.1))
        #expect(try Options(parsing: options.pairs) == options)
        #expect(options.crop == .rectangle(PixelRectangle(x: 1, y: 2, width: 3, height: 4)))
        #expect(options.subsampling.fixed == .s422)
        #expect(options.metadata == MetadataPolicy(exif: .return, gps: .keep, gpsPrecision: .city))
    }

    @Test(arguments: [
        ("quality", "0", "from 1 to 100"), ("quality", "101", "from 1 to 100"), ("quality", "", "from 1 to 100"),
        ("quality", "+90", "from 1 to 100"), ("quality", "90.0", "from 1 to 100"), ("quality", "٩٠", "from 1 to 100"),
        ("quality", "99999999999999999999", "from 1 to 100"), ("exif", "Return", "strip, return, keep"),
        ("gps", "", "strip, return, keep"), ("gps_precision", "street", "exact, city"),
        ("Quality", "90", "known are: exif, gps, gps_precision, max_width"),
        ("max_widht", "90", "unknown parameter 'max_widht'"), ("max_width", "0", "from 1 to 65535"),
        ("max_height", "-1", "from 1 to 65535"), ("max_width", "65536", "from 1 to 65535"),
        ("crop", "", "W:H"), ("crop", "0:9", "W:H"), ("crop", "16:", "W:H"), ("crop", "16:9:1", "W:H"),
        ("crop", "1.5:1", "W:H"), ("crop", "1,2,3", "x,y,w,h"), ("crop", "1,2,3,0", "x,y,w,h"),
        ("crop", "1,2,3,4,5", "x,y,w,h"), ("crop", "-1,2,3,4", "x,y,w,h"), ("crop", "1,2,,4", "x,y,w,h"),
        ("crop", "1,2,,4,5", "x,y,w,h"), ("max_bytes", "0", "KB (1000)"), ("max_bytes", "KB", "KB (1000)"),
        ("max_bytes", "1.5MB", "KB (1000)"), ("max_bytes", "500kb", "KB (1000)"), ("max_bytes", "1GB", "KB (1000)"),
        ("max_bytes", "1001MB", "KB (1000)"), ("max_bytes", "9999999999MB", "KB (1000)"),
        ("orientation", "Auto", "auto, container, exif, ignore"), ("color", "sRGB", "keep, srgb"),
        ("progressive", "1", "false, true"), ("subsampling", "411", "auto, 420, 422, 444"),
    ]) func refusesNamingWhatIsAllowed(name: String, value: String, says: String) {
        let failure = #expect(throws: Failure.self) { try parse([(name, value)]) }
        #expect(failure?.code == .badParameter)
        #expect(failure?.detail.contains(says) == true)
        #expect(failure?.detail.contains(name) == true)
    }

    @Test func refusesTheSameNameTwiceEvenIfEqual() {
        let failure = #expect(throws: Failure.self) { try parse([("quality", "90"), ("quality", "90")]) }
        #expect(failure?.code == .badParameter)
        #expect(failure?.detail == "parameter 'quality' is given more than once")
    }

    @Test func foreignTextIsClippedInErrors() {
        let failure = #expect(throws: Failure.self) {
            try parse([("x\r\n\u{1B}é" + String(repeating: "y", count: 99), "")])
        }
        #expect(failure?.detail.contains("'x????\(String(repeating: "y", count: 35))…'") == true)
    }
}
