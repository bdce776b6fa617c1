import Core
import Testing

@Suite struct ObjectKeyTests {
    @Test func formatsTimeAndChance() {
        let time = UTCTime(milliseconds: 1_796_059_353_123)
        let key = ObjectKey(createdAt: time, random: (high: .max, low: .max))
        #expect(key.text == "20261130T172233123Z-7ZZZZZZZZZZZZZZZZZZZZZZZZZ.jpg")
        #expect(key.dateFolder == "2026/11/30")
        let low = ObjectKey(createdAt: time, random: (high: 0, low: 33))
        #expect(low.text == "20261130T172233123Z-00000000000000000000000011.jpg")
        // 2^64 is 2^4 at digit 12 from the right (2^60).
        let high = ObjectKey(createdAt: time, random: (high: 1, low: 0))
        #expect(high.text == "20261130T172233123Z-0000000000000G000000000000.jpg")
    }

    @Test func readsItsOwnText() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<1000 {
            let time = UTCTime(milliseconds: Int64.random(in: 0...253_402_300_799_999, using: &generator))
            let key = ObjectKey(createdAt: time, random: (high: generator.next(), low: generator.next()))
            #expect(ObjectKey(key.text) == key)
        }
    }

    @Test(arguments: [
        "", "a.jpg", "../../etc/passwd", "20261130T172233123Z-00000000000000000000000011.jpeg",
        "20261130T172233123Z-00000000000000000000000011.jpg\0", "20261130T172233123Z-0000000000000000000000001I.jpg",
        "20261130T172233123Z-80000000000000000000000000.jpg", "20261330T172233123Z-00000000000000000000000011.jpg",
        "20261130T242233123Z-00000000000000000000000011.jpg", "20261130T172233123Z_00000000000000000000000011.jpg",
        "20261130T172233123Z-0000000000000000000000001l.jpg", "20261130t172233123Z-00000000000000000000000011.jpg",
        "2026/130T172233123Z-00000000000000000000000011.jpg",
    ]) func refuses(text: String) {
        #expect(ObjectKey(text) == nil)
    }
}
