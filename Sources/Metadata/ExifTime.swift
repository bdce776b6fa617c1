/// A date and time of EXIF, `YYYY:MM:DD HH:MM:SS`.
struct ExifTime {
    private let numbers: [Int]

    /// - Returns: nil for what is no moment of any calendar, such as blanks or zeros. Dashes for colons, which some
    ///   programs write, are read too.
    init?(_ text: String) {
        let parts = text.split(omittingEmptySubsequences: false) { $0 == " " || $0 == "T" }
        guard parts.count == 2, let date = ExifTime.numbers(parts[0], [4, 2, 2]),
            let time = ExifTime.numbers(parts[1], [2, 2, 2])
        else { return nil }
        guard ExifTime.isDate(date), time[0] < 24, time[1] < 60, time[2] < 61 else { return nil }
        numbers = date + time
    }

    /// RFC 3339.
    ///
    /// - Parameters:
    ///   - fraction: SubSecTime, the digits of the second's fraction.
    ///   - offset: OffsetTime, `+HH:MM`; without it, or with one that is none, there is no zone.
    func described(fraction: String?, offset: String?) -> String {
        let date = zip(numbers, [4, 2, 2]).map { ExifTime.padded($0, $1) }.joined(separator: "-")
        let time = numbers[3...].map { ExifTime.padded($0) }.joined(separator: ":")
        let digits = fraction.flatMap { $0.utf8.allSatisfy(ExifTime.isDigit) ? $0.prefix(9) : nil }
        return date + "T" + time + (digits.map { $0.isEmpty ? "" : ".\($0)" } ?? "") + (ExifTime.zone(offset) ?? "")
    }

    /// `YYYY:MM:DD`, or nil.
    static func date(_ text: String) -> [Int]? {
        numbers(text[...], [4, 2, 2]).flatMap { isDate($0) ? $0 : nil }
    }

    static func padded(_ value: Int, _ width: Int = 2) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(width - digits.count, 0)) + digits
    }

    private static func zone(_ text: String?) -> String? {
        guard let text else { return nil }
        if text == "Z" { return "+00:00" }
        guard let sign = text.first, sign == "+" || sign == "-", let numbers = numbers(text.dropFirst(), [2, 2]),
            numbers[0] < 24, numbers[1] < 60
        else { return nil }
        return "\(sign)\(padded(numbers[0])):\(padded(numbers[1]))"
    }

    private static func numbers(_ text: Substring, _ widths: [Int]) -> [Int]? {
        let parts = text.split(omittingEmptySubsequences: false) { $0 == ":" || $0 == "-" }
        guard parts.map(\.utf8.count) == widths, parts.allSatisfy({ $0.utf8.allSatisfy(isDigit) }) else { return nil }
        return parts.compactMap { Int($0) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isDate(_ date: [Int]) -> Bool {
        let (year, month, day) = (date[0], date[1], date[2])
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        return year > 0 && (1...12).contains(month) && (1...days[month - 1]).contains(day)
    }
}
