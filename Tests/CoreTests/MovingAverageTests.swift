import Core
import Testing

@Suite struct MovingAverageTests {
    @Test func aSampleCountsForAnEighth() {
        var average = MovingAverage(800)
        average.add(1600)
        #expect(average.value == 900)
        average.add(100)
        #expect(average.value == 800)
    }

    /// Nanoseconds a byte are few.
    @Test(arguments: [(10, 3), (17, 10), (0, 1), (1, 0)]) func comesToSmallValues(before: Int, sample: Int) {
        var average = MovingAverage(before)
        for _ in 0..<60 { average.add(sample) }
        #expect(average.value == sample)
    }
}
