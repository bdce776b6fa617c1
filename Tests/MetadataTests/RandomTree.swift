import Core
import Support

@testable import Metadata

/// Random EXIF trees, the same for the same seed.
enum RandomTree {
    /// Each tag in about half of the trees, with a value of the standard's type and count.
    static func lawful(_ random: inout SplitMix64) -> TIFFBuilder {
        var builder = TIFFBuilder()
        builder.isBigEndian = Bool.random(using: &random)
        builder.gps = Blocks.gps()
        for key in StandardTag.all.keys.sorted() where Bool.random(using: &random) {
            guard let tag = StandardTag.all[key] else { continue }
            switch key.directory {
            case .image: builder.ifd0.append((key.number, value(of: tag, &random)))
            case .exif: builder.exif.append((key.number, value(of: tag, &random)))
            case .gps, .interoperability: break
            }
        }
        return builder
    }

    private static func value(of tag: StandardTag, _ random: inout SplitMix64) -> TIFFBuilder.Value {
        let numbers = { (random: inout SplitMix64) in
            (0..<tag.count).map { _ in UInt32(truncatingIfNeeded: random.next()) }
        }
        switch tag.form {
        case .text where tag.textForm != .free:
            let numbers = (0..<6).map { _ in Int.random(in: 10...99, using: &random) }
            switch tag.textForm {
            case .offset: return .ascii("-\(numbers[0]):\(numbers[1])")
            case .fraction: return .ascii("\(numbers[0])\(numbers[1])")
            case .free, .day, .moment:
                return .ascii("20\(numbers[0]):\(numbers[1]):\(numbers[2]) \(numbers[3]):\(numbers[4]):\(numbers[5])")
            }
        case .text:
            let alphabet = Array("abc XYZ019éß写🦊")
            return .ascii(
                String(
                    (0..<Int.random(in: 0...300, using: &random)).map { _ in
                        alphabet.randomElement(using: &random) ?? "a"
                    }))
        case .bytes: return .undefined(numbers(&random).map { UInt8(truncatingIfNeeded: $0) })
        case .version: return .undefined(Array("0232".utf8))
        case .short: return .shorts(numbers(&random).map { UInt16(truncatingIfNeeded: $0) })
        case .long: return .long(UInt32(truncatingIfNeeded: random.next()))
        case .rational:
            let zeros: [UInt32] = [0, 1, 1, 1, 10, 1000]
            return .rational(numbers(&random).map { ($0, zeros.randomElement(using: &random) ?? 1) })
        case .signedRational:
            return .signedRational(numbers(&random).map { (Int32(bitPattern: $0), Int32(bitPattern: $0 >> 7 | 1)) })
        }
    }

    /// Directories anywhere, with any tags, types, counts and offsets; many of them lead somewhere, some to each other.
    static func wild(_ random: inout SplitMix64) -> [UInt8] {
        let isBigEndian = Bool.random(using: &random)
        let size = Int.random(in: 8...2000, using: &random)
        var bytes = (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }
        let put = { (value: Int, width: Int, at: Int, bytes: inout [UInt8]) in
            for index in 0..<width where at + index < bytes.count {
                bytes[at + index] = UInt8(truncatingIfNeeded: value >> (8 * (isBigEndian ? width - 1 - index : index)))
            }
        }
        bytes.replaceSubrange(0..<4, with: isBigEndian ? [0x4D, 0x4D, 0, 42] : [0x49, 0x49, 42, 0])
        let directories = (0..<4).map { _ in Int.random(in: 0..<size, using: &random) }
        put(directories[0], 4, 4, &bytes)
        let known =
            StandardTag.all.keys.map { Int($0.number) }.sorted() + [0x8769, 0x8825, 0xA005, 0x927C, 0x0201, 0x0202]
        let types = Array(0...14) + [129]
        for directory in directories {
            let count = Int.random(in: 0...20, using: &random)
            put(Bool.random(using: &random) ? count : 65535, 2, directory, &bytes)
            for index in 0..<count {
                let at = directory + 2 + 12 * index
                put(known.randomElement(using: &random) ?? 0, 2, at, &bytes)
                put(types.randomElement(using: &random) ?? 0, 2, at + 2, &bytes)
                put(
                    Int.random(in: 0...(Bool.random(using: &random) ? 4 : 0xFFFF_FFFF), using: &random), 4, at + 4,
                    &bytes)
                let target = Bool.random(using: &random) ? directories : [Int.random(in: 0...size, using: &random)]
                put(target.randomElement(using: &random) ?? 0, 4, at + 8, &bytes)
            }
            put(directories.randomElement(using: &random) ?? 0, 4, directory + 2 + 12 * count, &bytes)
        }
        return bytes
    }
}
