package import Core

/// The last look at the EXIF block of a finished JPEG: whether it holds what the policy allows and nothing else.
///
/// It knows the tags that may be written, each with its type, count and, where only some make sense, its values; and it
/// accounts for each byte. So nothing can hide in a tag, between directories, or behind the last one.
package enum ExifOutputCheck {
    package enum Place: Sendable, Equatable {
        case none
        case exact
        /// Co-ordinates in tenths of a degree and how far off they may be.
        case city
    }

    package struct Allowance: Sendable, Equatable {
        /// Whether anything but the place may be there.
        package var hasExif: Bool
        package var place: Place
        /// Of the finished picture, upright.
        package var size: PixelSize

        package init(hasExif: Bool, place: Place, size: PixelSize) {
            self.hasExif = hasExif
            self.place = place
            self.size = size
        }
    }

    /// - Parameters:
    ///   - payload: of the APP1 segment, within `bytes`.
    /// - Throws: `self_check_failed`, naming the tag, never its value.
    package static func verify(
        _ bytes: Span<UInt8>, payload: Range<Int>, allowing allowance: Allowance
    ) throws(Failure) {
        var inspection = ExifInspection(Extents(payload).bytes(in: bytes), allowance)
        try inspection.run()
    }
}

/// Walks one block, of at most 64 KB.
private struct ExifInspection {
    /// The builder cuts texts at 1,000 bytes; Copyright is two of them.
    private static let textBytesMax = 2002
    private static let tiffStart = 6

    private let payload: [UInt8]
    private let allowance: ExifOutputCheck.Allowance
    /// Each byte that something was read from; those of directories and of values.
    private var read: [Range<Int>] = [0..<(tiffStart + 8)]

    init(_ payload: [UInt8], _ allowance: ExifOutputCheck.Allowance) {
        self.payload = payload
        self.allowance = allowance
    }

    mutating func run() throws(Failure) {
        // Our own blocks are big-endian.
        guard payload.starts(with: ascii("Exif\0\0MM\0*") + big32(8)) else { throw refusal("a block that is not ours") }
        try walk(.image, at: 8)
        try checkCoverage()
    }

    private func refusal(_ what: String) -> Failure {
        Failure(.selfCheckFailed, "EXIF: \(what)")
    }

    private func refusal(_ tag: Int, _ directory: ExifOutputDirectory, _ why: String) -> Failure {
        let digits = String(tag, radix: 16, uppercase: true)
        let padding = String(repeating: "0", count: max(4 - digits.count, 0))
        return refusal("tag 0x\(padding)\(digits) of \(directory) \(why)")
    }

    private func number(_ width: Int, at offset: Int) throws(Failure) -> Int {
        let start = ExifInspection.tiffStart + offset
        guard start >= 0, payload.count - width >= start else { throw refusal("it ends too early") }
        return payload[start..<(start + width)].reduce(0) { $0 << 8 | Int($1) }
    }

    private mutating func walk(_ directory: ExifOutputDirectory, at offset: Int) throws(Failure) {
        let count = try number(2, at: offset)
        let end = offset + 2 + 12 * count + 4
        guard try number(4, at: end - 4) == 0 else { throw refusal("a directory follows \(directory)") }
        note(offset..<end)
        let rules = directory.rules(allowance)
        var tags: [Int] = []
        var values: [Int: [UInt8]] = [:]
        for index in 0..<count {
            let at = offset + 2 + 12 * index
            let tag = try number(2, at: at)
            guard tag > tags.last ?? -1 else { throw refusal(tag, directory, "is out of order") }
            guard let rule = rules[tag] else { throw refusal(tag, directory, "is not allowed") }
            tags.append(tag)
            let value = try value(tag, of: directory, at: at)
            guard value.fits(rule) else { throw refusal(tag, directory, "is not as it must be") }
            values[tag] = value.bytes
            if case .directory(let inner) = rule { try walk(inner, at: try number(4, at: at + 8)) }
        }
        for tag in directory.required where !tags.contains(tag) { throw refusal(tag, directory, "is missing") }
        if directory == .gps { try checkPlace(values) }
        if directory == .image, allowance.place != .none, !tags.contains(0x8825) {
            throw refusal("no place, which is said to be there")
        }
        if directory == .image, allowance.hasExif, !tags.contains(0x0112) || !tags.contains(0x8769) {
            throw refusal("it says nothing of the picture")
        }
    }

    private mutating func value(
        _ tag: Int, of directory: ExifOutputDirectory, at offset: Int
    ) throws(Failure) -> ExifOutputValue {
        let type = try number(2, at: offset + 2)
        let count = try number(4, at: offset + 4)
        guard let width = [1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 7: 1, 10: 8][type], count > 0 else {
            throw refusal(tag, directory, "has no value")
        }
        let size = width * count
        var start = offset + 8
        if size > 4 {
            start = try number(4, at: offset + 8)
            guard size <= payload.count, payload.count - size >= ExifInspection.tiffStart + start else {
                throw refusal(tag, directory, "points past the end")
            }
            note(start..<(start + size))
        } else if try number(4, at: start) & ((1 << (8 * (4 - size))) - 1) != 0 {
            throw refusal(tag, directory, "hides bytes behind its value")
        }
        let from = ExifInspection.tiffStart + start
        return ExifOutputValue(
            type: type, count: count, bytes: Array(payload[from..<(from + size)]),
            textBytesMax: ExifInspection.textBytesMax)
    }

    private mutating func note(_ range: Range<Int>) {
        read.append((range.lowerBound + ExifInspection.tiffStart)..<(range.upperBound + ExifInspection.tiffStart))
    }

    /// Nothing overlaps, and nothing was left out but the zero that brings a value of odd length to a word's border.
    private func checkCoverage() throws(Failure) {
        var end = 0
        for range in read.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            try checkGap(end, range.lowerBound)
            end = range.upperBound
        }
        try checkGap(end, payload.count)
    }

    private func checkGap(_ end: Int, _ next: Int) throws(Failure) {
        let isPadding = next == end + 1 && end % 2 == 1 && payload[end] == 0
        guard next == end || isPadding else { throw refusal("bytes that belong to nothing, or to two") }
    }

    private func checkPlace(_ values: [Int: [UInt8]]) throws(Failure) {
        for (tag, max) in [(0x02, 90.0), (0x04, 180.0)] {
            let parts = fractions(values[tag] ?? [])
            var degrees = 0.0
            var unit = 1.0
            for (numerator, denominator) in parts {
                degrees += Double(numerator) / Double(denominator) / unit
                unit *= 60
            }
            guard degrees <= max else { throw refusal(tag, .gps, "is no place on the globe") }
            guard allowance.place == .city else { continue }
            let isOnGrid = [1, 10].contains(parts[0].1) && parts[1...].allSatisfy { $0.0 == 0 }
            guard isOnGrid else { throw refusal(tag, .gps, "is too precise") }
        }
        if allowance.place == .city {
            guard values[0x1F] == big32(7900) + big32(1) else { throw refusal(0x1F, .gps, "is not as it must be") }
        }
    }

    private func fractions(_ bytes: [UInt8]) -> [(Int, Int)] {
        stride(from: 0, to: bytes.count, by: 8).map { start in
            let numbers = [start, start + 4].map { at in bytes[at..<(at + 4)].reduce(0) { $0 << 8 | Int($1) } }
            return (numbers[0], numbers[1])
        }
    }
}
