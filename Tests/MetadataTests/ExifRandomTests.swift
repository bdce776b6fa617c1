import Container
import Core
import Support
import Testing

@testable import Metadata

/// Whatever the bytes, the reader ends, and what is built from them is what the front lets through.
@Suite struct ExifRandomTests {
    private func survives(_ bytes: [UInt8], _ what: String) throws {
        guard let block = ExifBlock(reading: bytes) else { return }
        let size = PixelSize(width: 8, height: 8)
        let picture = ExifBuilder.Picture(size: size, isSRGB: false, isGrey: false)
        let cases: [(MetadataPolicy, ExifOutputCheck.Place)] = [
            (MetadataPolicy(exif: .keep, gps: .keep), .exact), (MetadataPolicy(gps: .keep), .exact),
            (MetadataPolicy(exif: .return, gps: .keep), .exact),
            (MetadataPolicy(exif: .keep, gps: .keep, gpsPrecision: .city), .city),
        ]
        for (policy, place) in cases {
            guard let result = ExifBuilder.build(block, policy: policy, picture: picture) else { continue }
            #expect(result.payload.count < 65533, "\(what)")
            try ExifOutputCheck.verify(
                result.payload.span, payload: 0..<result.payload.count,
                allowing: ExifOutputCheck.Allowance(
                    hasExif: policy.exif == .keep, place: result.kept.contains(.gps) ? place : .none, size: size))
        }
    }

    @Test(arguments: 0..<50 as Range<UInt64>) func wildTrees(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for index in 0..<40 { try survives(RandomTree.wild(&random), "seed \(seed), tree \(index)") }
    }

    @Test(arguments: 0..<50 as Range<UInt64>) func lawfulTreesDamaged(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let whole = RandomTree.lawful(&random).bytes
        try survives(whole, "seed \(seed)")
        for index in 0..<30 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if Bool.random(using: &random) { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random)) }
            try survives(bytes, "seed \(seed), damage \(index)")
        }
    }

    @Test func everyPrefixAndEveryByteFlipped() throws {
        let bytes = Blocks.rich().bytes
        for count in bytes.indices { try survives(Array(bytes.prefix(count)), "\(count) bytes") }
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= [0x01, 0x80, 0xFF][index % 3]
            try survives(changed, "byte \(index)")
        }
    }

    /// A directory that says it has as many entries as can be, each of them an entry of itself.
    @Test func theLargestDirectory() throws {
        var bytes: [UInt8] = [0x49, 0x49, 42, 0, 8, 0, 0, 0, 0xFF, 0xFF]
        for index in 0..<65535 {
            bytes += [
                UInt8(truncatingIfNeeded: index), UInt8(truncatingIfNeeded: index >> 8), 4, 0, 1, 0, 0, 0, 8, 0, 0, 0,
            ]
        }
        let block = try #require(ExifBlock(reading: bytes))
        #expect(block.isDamaged)
        try survives(bytes, "the largest")
    }
}
