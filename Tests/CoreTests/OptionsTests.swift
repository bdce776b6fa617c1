import Core
import Testing

@Suite struct OptionsTests {
    private func parse(_ pairs: [(String, String)]) throws(Failure) -> Options {
        try Options(parsing: pairs.map { (name: $0.0, value: $0.1) })
    }

    @Test func nothingAskedIsTheDefault() throws {
        #expect(try parse([]) == Options())
        #expect(Options().quality == 90)
    }

    @Test(arguments: ["1", "60", "100"]) func quality(text: String) throws {
        #expect(try parse([("quality", text)]).quality == Int(text))
    }

    @Test(arguments: [
        ("quality", "0", "from 1 to 100"), ("quality", "101", "from 1 to 100"), ("quality", "", "from 1 to 100"),
        ("quality", "+90", "from 1 to 100"), ("quality", "90.0", "from 1 to 100"), ("quality", "٩٠", "from 1 to 100"),
        ("quality", "99999999999999999999", "from 1 to 100"), ("exif", "return", "allowed is: strip"),
        ("gps", "STRIP", "allowed is: strip"), ("Quality", "90", "known are: exif, gps, quality"),
        ("max_widht", "90", "unknown parameter 'max_widht'"),
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
