import Core
import Testing

/// Expected values from `date -u -d @…`.
@Suite struct UTCTimeTests {
    @Test(arguments: [
        (Int64(0), "1970-01-01T00:00:00.000Z", "Thu, 01 Jan 1970 00:00:00 GMT"),
        (951_782_400_007, "2000-02-29T00:00:00.007Z", "Tue, 29 Feb 2000 00:00:00 GMT"),
        (1_796_059_353_123, "2026-11-30T17:22:33.123Z", "Mon, 30 Nov 2026 17:22:33 GMT"),
        (4_107_542_399_999, "2100-02-28T23:59:59.999Z", "Sun, 28 Feb 2100 23:59:59 GMT"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z", "Fri, 31 Dec 9999 23:59:59 GMT"),
    ]) func formats(milliseconds: Int64, rfc3339: String, httpDate: String) {
        let time = UTCTime(milliseconds: milliseconds)
        #expect(time.rfc3339 == rfc3339)
        #expect(time.httpDate == httpDate)
    }

    @Test(arguments: [
        (0, "1970-01-01"), (-1, "1970-01-01"), (.min, "1970-01-01"), (253_402_300_799, "9999-12-31"),
        (253_402_300_800, "9999-12-31"), (.max, "9999-12-31"), (951_782_400, "2000-02-29"),
    ]) func bringsForeignTimesIntoItsYears(seconds: Int, day: String) {
        #expect(UTCTime(clampingSeconds: seconds).rfc3339.prefix(10) == day)
    }
}
