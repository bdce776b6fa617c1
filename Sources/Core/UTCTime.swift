/// A moment in UTC, to the millisecond. Formatted by integer arithmetic: Foundation's fractions truncate a binary
/// fraction and lose a millisecond.
package struct UTCTime: Sendable, Hashable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    package let milliseconds: Int64

    package init(milliseconds: Int64) {
        precondition((0...253_402_300_799_999).contains(milliseconds), "the years 1970 to 9999")
        self.milliseconds = milliseconds
    }

    /// A time that something foreign tells, in seconds since 1970, brought into the years 1970 to 9999.
    package init(clampingSeconds seconds: Int) {
        self.init(milliseconds: Int64(min(max(0, seconds), 253_402_300_799)) * 1000)
    }

    /// `20261130T172233123Z`
    package var basicFormat: String {
        let t = fields
        return pad(t.year, 4) + pad(t.month, 2) + pad(t.day, 2) + "T" + pad(t.hour, 2) + pad(t.minute, 2)
            + pad(t.second, 2) + pad(t.millisecond, 3) + "Z"
    }

    /// RFC 3339: `2026-11-30T17:22:33.123Z`
    package var rfc3339: String {
        let t = fields
        return pad(t.year, 4) + "-" + pad(t.month, 2) + "-" + pad(t.day, 2) + "T" + pad(t.hour, 2) + ":"
            + pad(t.minute, 2) + ":" + pad(t.second, 2) + "." + pad(t.millisecond, 3) + "Z"
    }

    /// RFC 9110, section 5.6.7: `Mon, 30 Nov 2026 17:22:33 GMT`
    package var httpDate: String {
        let t = fields
        let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][Int(milliseconds / 86_400_000 % 7)]
        let month = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"][t.month - 1]
        return "\(weekday), \(pad(t.day, 2)) \(month) \(pad(t.year, 4)) "
            + "\(pad(t.hour, 2)):\(pad(t.minute, 2)):\(pad(t.second, 2)) GMT"
    }

    private struct Fields {
        let year, month, day, hour, minute, second, millisecond: Int
    }

    /// Days to a civil date after Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".
    private var fields: Fields {
        let total = Int(milliseconds)
        let dayCount = total / 86_400_000
        let shifted = dayCount + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let ofDay = total % 86_400_000
        return Fields(
            year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month: month,
            day: dayOfYear - (153 * shiftedMonth + 2) / 5 + 1, hour: ofDay / 3_600_000,
            minute: ofDay / 60_000 % 60, second: ofDay / 1000 % 60, millisecond: ofDay % 1000)
    }

    private func pad(_ value: Int, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    /// Whether `bytes` read like `basicFormat`, with month, day and time in their ranges.
    static func isBasicFormat(_ bytes: ArraySlice<UInt8>) -> Bool {
        guard bytes.count == 19 else { return false }
        let at = bytes.startIndex
        func number(_ offset: Int, _ count: Int) -> Int? {
            var value = 0
            for byte in bytes[(at + offset)..<(at + offset + count)] {
                guard byte >= 0x30, byte <= 0x39 else { return nil }
                value = value * 10 + Int(byte - 0x30)
            }
            return value
        }
        guard bytes[at + 8] == UInt8(ascii: "T"), bytes[at + 18] == UInt8(ascii: "Z"), number(0, 4) != nil,
            let month = number(4, 2), let day = number(6, 2), let hour = number(9, 2), let minute = number(11, 2),
            let second = number(13, 2), number(15, 3) != nil
        else { return false }
        return (1...12).contains(month) && (1...31).contains(day) && hour < 24 && minute < 60 && second < 60
    }
}
