import Core
import Glibc
import Support
import Testing

@testable import Codecs

/// Pictures of which a part was never decoded: libheif and its decoders yield them without a word.
@Suite struct HEICGapTests {
    struct Kind: Sendable, CustomTestStringConvertible {
        let chroma: HEICPicture.Chroma
        let depth: Int
        var tile: PixelSize?
        var testDescription: String { "\(chroma), \(depth) bits, \(tile == nil ? "single" : "grid")" }
    }

    private static let kinds = [
        Kind(chroma: .s420, depth: 8), Kind(chroma: .s422, depth: 10), Kind(chroma: .s444, depth: 8),
        Kind(chroma: .s420, depth: 10, tile: PixelSize(width: 128, height: 128)),
    ]

    private func draw(_ bytes: [UInt8]) throws -> WholePicture {
        try bytes.withUnsafeBytes { bytes in
            var source = try HEICSource.opening(bytes, limits: Limits())
            return try collect(&source)
        }
    }

    /// Where the NAL units of slices begin (H.265, section 7.3.1.2: the first byte holds the type), each after its
    /// length.
    private func slices(_ bytes: [UInt8]) throws -> [Int] {
        let mark = Array("mdat".utf8)
        var position = 4 + (try #require(bytes.indices.first { bytes[$0...].starts(with: mark) }))
        var found: [Int] = []
        while position + 4 < bytes.count {
            let length = bytes[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
            if bytes[position + 4] >> 1 < 32 { found.append(position + 4) }
            position += 4 + length
        }
        return found
    }

    @Test(arguments: kinds) func aMissingSliceIsDamage(kind: Kind) throws {
        // Whole cells: what is missing where they hang over the edge is not missed.
        var picture = HEICPicture(256, 256)
        (picture.chroma, picture.depth, picture.tile) = (kind.chroma, kind.depth, kind.tile)
        picture.isTextured = true
        picture.slices = 3
        let whole = try picture.make()
        _ = try draw(whole)
        let slices = try slices(whole)
        try #require(slices.count >= 3)
        for slice in slices {
            var bytes = whole
            // Filler data in its place.
            bytes[slice] = 38 << 1 | bytes[slice] & 1
            #expect(try failure { _ = try draw(bytes) } == .corrupt, "the slice at \(slice)")
        }
    }

    /// An alpha plane makes libheif convert the picture to RGB, in which a gap looks like a colour.
    @Test func aMissingSliceOfATransparentPictureIsDamage() throws {
        var picture = HEICPicture(256, 192)
        picture.isTextured = true
        picture.slices = 3
        picture.alpha = { x, _ in x < 16 ? 0 : 255 }
        var bytes = try picture.make()
        _ = try draw(bytes)
        let slice = try slices(bytes)[1]
        bytes[slice] = 38 << 1 | bytes[slice] & 1
        #expect(try failure { _ = try draw(bytes) } == .corrupt)
    }

    @Test(arguments: [Orientation.upright, .rotated180]) func whatHangsOverTheEdgeMayBeEmpty(turn: Orientation) throws {
        var picture = HEICPicture(150, 90)
        picture.tile = PixelSize(width: 64, height: 64)
        picture.orientation = turn
        picture.isEmptyOutside = true
        _ = try draw(try picture.make())
    }

    @Test func whatIsCroppedAwayMayBeEmpty() throws {
        var picture = HEICPicture(150, 90)
        picture.part = .init(0, 0, 100, 60)
        picture.isEmptyOutside = true
        _ = try draw(try picture.make())
    }

    /// Damage may read as the end of a slice.
    @Test func aSliceThatEndsEarlyIsDamage() throws {
        var picture = HEICPicture(256, 192)
        picture.isTextured = true
        let whole = try picture.make()
        let start = try slices(whole)[0]
        var random = SplitMix64(seed: 1)
        var gaps = 0
        for _ in 0..<60 {
            var bytes = whole
            let place = start + (whole.count - start) / 4 + .random(in: 0..<(whole.count - start) / 2, using: &random)
            for index in place..<place + 16 { bytes[index] = random.next() }
            do {
                let planes = try draw(bytes).planes
                let corner = (184..<192).flatMap { row in planes[0][(row * 256 + 248)..<(row * 256 + 256)] }
                #expect(corner.contains { $0 != 0 } || planes[1].last != 0 || planes[2].last != 0)
            } catch let error as CodecError {
                if error.message.contains("no slice") { gaps += 1 }
            }
        }
        #expect(gaps > 0)
    }

    /// What decoders leave unwritten is not what an earlier picture left there.
    @Test func memoryIsWiped() throws {
        try HEIFLibrary.prepare()
        for size in [5000, 90_000, 1_000_000] {
            let old = try #require(malloc(size))
            memset(old, 0x55, size)
            free(old)
            let fresh = try #require(malloc(size))
            #expect(UnsafeRawBufferPointer(start: fresh, count: size).allSatisfy { $0 == 0 })
            free(fresh)
        }
    }
}
