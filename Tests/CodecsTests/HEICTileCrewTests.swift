import Container
import Core
import Support
import Testing

@testable import Codecs

/// Tiles that one decoder takes one after the other, against libheif, which makes a decoder for each.
@Suite struct HEICTileCrewTests {
    private func tiles(of file: [UInt8]) throws -> CodedTiles {
        let structure = try HEIFStructure(parsing: file.span, limits: Limits())
        let grid = try #require(structure.primary.grid)
        let configuration = try #require(grid.configuration)
        return CodedTiles(configuration: configuration, items: grid.tiles, data: grid.data.map(\.ranges))
    }

    /// - Parameters:
    ///   - threads: nil for libheif alone.
    ///   - worksAhead: whether helpers may begin a line while the band before is looked at.
    private func draw(
        _ file: [UInt8], part: PixelRectangle? = nil, threads: Int?, worksAhead: Bool = true
    ) throws -> WholePicture {
        let tiles = threads == nil ? nil : try tiles(of: file)
        return try file.withUnsafeBytes { bytes in
            var source = try HEICSource.opening(
                bytes, limits: Limits(), part: part, tiles: tiles, threads: threads ?? 1,
                lineAheadBytesMax: worksAhead ? .max : 0)
            return try collect(&source)
        }
    }

    private static func picture(
        _ width: Int, _ height: Int, _ orientation: Orientation = .upright, _ chroma: HEICPicture.Chroma = .s420,
        depth: Int = 8
    ) -> HEICPicture {
        var picture = HEICPicture(width, height)
        picture.tile = PixelSize(width: 64, height: 64)
        picture.orientation = orientation
        picture.chroma = chroma
        picture.depth = depth
        return picture
    }

    @Test(arguments: Orientation.allCases, [1, 2, 3, 8])
    func anyNumberOfThreadsYieldsTheSamePicture(orientation: Orientation, threads: Int) throws {
        let file = try Self.picture(300, 190, orientation).make()
        let expected = try draw(file, threads: nil)
        #expect(try draw(file, threads: threads) == expected)
        #expect(try draw(file, threads: threads, worksAhead: false) == expected)
    }

    /// The container is asked first and refuses such; here it is not. libheif 1.19 would write past the picture.
    @Test func tilesThatAreLargerThanToldAreRefused() throws {
        var file = try Self.picture(300, 180).make()
        let told = Array("ispe".utf8) + [0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0]
        let place = try #require(file.firstRange(of: told + [64]))
        file[place.upperBound - 1] = 63
        let error = #expect(throws: CodecError.self) { try draw(file, threads: nil) }
        #expect(error?.kind == .corrupt)
    }

    @Test(arguments: [1, 3])
    func onlyWhatIsLookedAtIsDecoded(threads: Int) throws {
        let file = try Self.picture(300, 190).make()
        let part = PixelRectangle(x: 64, y: 64, width: 128, height: 64)
        let (drawn, expected) = (try draw(file, part: part, threads: threads), try draw(file, threads: nil))
        for y in 64..<128 {
            let row = (y * 300 + 64)..<(y * 300 + 192)
            #expect(drawn.planes[0][row] == expected.planes[0][row])
        }
    }

    struct Kind: Sendable, CustomTestStringConvertible {
        let chroma: HEICPicture.Chroma
        let depth: Int
        var testDescription: String { "\(chroma), \(depth) bits" }
    }

    private static let kinds = [
        Kind(chroma: .grey, depth: 8), Kind(chroma: .s420, depth: 8), Kind(chroma: .s420, depth: 10),
        Kind(chroma: .s422, depth: 8), Kind(chroma: .s422, depth: 10), Kind(chroma: .s444, depth: 8),
    ]

    @Test(arguments: kinds) func anyKindComesAsLibheifDecodesIt(kind: Kind) throws {
        let file = try Self.picture(150, 92, .rotated90, kind.chroma, depth: kind.depth).make()
        #expect(try draw(file, threads: 2) == (try draw(file, threads: nil)))
    }

    // MARK: - The decoder

    /// Decodes tiles in turn by one decoder; what each shows, nil where it is not taken.
    private func decode(_ tiles: [[UInt8]], of file: [UInt8]) throws -> [[[UInt8]]?] {
        try HEIFLibrary.prepare()
        let coded = try self.tiles(of: file)
        return try file.withUnsafeBytes { bytes in
            let context = try HEIFContext.reading(bytes, limits: Limits())
            let handle = try context.primaryHandle()
            let kind = try HEICPlanes(try handle.decode(.tile(column: 0, row: 0), by: .libde265), matrix: 6)
            let configuration = UnsafeRawBufferPointer(rebasing: bytes[coded.configuration])
            guard let decoder = HEVCDecoder.opening(configuration) else {
                Issue.record("no decoder")
                return []
            }
            return tiles.map { tile in
                tile.withUnsafeBytes { tile in
                    var shown: [[UInt8]] = []
                    let pieces = [
                        UnsafeRawBufferPointer(rebasing: tile[..<5]), UnsafeRawBufferPointer(rebasing: tile[5...]),
                    ]
                    let isTaken = decoder.decode(
                        pieces, as: kind, size: PixelSize(width: 64, height: 64), mayHaveSlices: true
                    ) { planes in
                        shown = planes.map { plane in
                            (0..<plane.height).flatMap { row in
                                let start = plane.base + row * plane.stride
                                return Array(UnsafeRawBufferPointer(start: start, count: plane.width))
                            }
                        }
                        return true
                    }
                    return isTaken ? shown : nil
                }
            }
        }
    }

    private func coded(_ file: [UInt8]) throws -> [[UInt8]] {
        try tiles(of: file).data.map { $0.flatMap { Array(file[$0]) } }
    }

    @Test func oneDecoderTakesTileAfterTile() throws {
        let file = try Self.picture(128, 64).make()
        let whole = try draw(file, threads: nil)
        let shown = try decode(try coded(file), of: file)
        for (column, planes) in shown.enumerated() {
            let luma = try #require(planes)[0]
            for y in 0..<64 {
                let start = y * 128 + column * 64
                #expect(luma[(y * 64)..<(y * 64 + 64)] == whole.planes[0][start..<(start + 64)])
            }
        }
    }

    /// Where slices are missing nothing of the tile before may show, and the gap can be found.
    @Test func nothingIsLeftOfTheTileBefore() throws {
        var picture = Self.picture(128, 64)
        picture.isTextured = true
        picture.slices = 2
        let file = try picture.make()
        let whole = try coded(file)[0]
        var gapped = whole
        let second = try #require(units(whole).filter { whole[$0] >> 1 < 32 }.dropFirst().first)
        // Filler data in its place.
        gapped[second] = 38 << 1
        let shown = try decode([whole, gapped], of: file)
        let (first, last) = (try #require(shown[0]), try #require(shown[1]))
        #expect(first[0].suffix(64 * 16).contains { $0 != 0 })
        for plane in last { #expect(plane.suffix(plane.count / 8).allSatisfy { $0 == 0 }) }
    }

    /// Where the NAL units of a tile begin, each after its length.
    private func units(_ tile: [UInt8]) -> [Int] {
        var found: [Int] = []
        var position = 0
        while position + 4 < tile.count {
            found.append(position + 4)
            position += 4 + tile[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
        }
        return found
    }

    @Test func tilesThatAreMoreThanAPictureAreNotTaken() throws {
        let file = try Self.picture(128, 64).make()
        let tile = try coded(file)[0]
        func unit(_ bytes: [UInt8]) -> [UInt8] { [0, 0, 0, UInt8(bytes.count)] + bytes }
        let slice = try #require(units(tile).first { tile[$0] >> 1 < 32 })
        var other = tile
        other[slice] = 1 << 1
        var continued = tile
        continued[slice + 2] &= 0x7F
        for bad in [
            tile + tile, tile + unit([33 << 1, 1, 1]), tile + [0, 0, 0], tile + [0, 0, 0, 9, 76, 1, 0], other,
            continued, Array(tile.dropLast()), unit([76, 1, 0]), tile + unit([19 << 1 | 1, 1, 0]),
        ] {
            #expect(try decode([bad], of: file) == [nil])
        }
        #expect(try decode([tile + unit([38 << 1, 1, 0])], of: file)[0] != nil)
    }

    /// As they are in a file: one set of each kind behind 23 bytes, with the units' lengths in 4 bytes.
    @Test func onlyOneParameterSetOfEachKindIsPlain() throws {
        let file = try Self.picture(128, 64).make()
        let configuration = Array(file[try tiles(of: file).configuration])
        func isPlain(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { HEVCUnits.areParametersPlain($0) } }
        func changed(_ change: (inout [UInt8]) -> Void) -> [UInt8] {
            var bytes = configuration
            change(&bytes)
            return bytes
        }
        #expect(isPlain(configuration))
        for count in 0..<configuration.count { #expect(!isPlain(Array(configuration.prefix(count)))) }
        #expect(!isPlain(changed { $0[21] &= 0xFC }))
        #expect(!isPlain(changed { $0[23] = 33 }))
        #expect(
            !isPlain(
                changed {
                    $0[22] += 1
                    $0 += [34, 0, 1, 0, 2, 68, 1]
                }))
        #expect(
            isPlain(
                changed {
                    $0[22] += 1
                    $0 += [39, 0, 1, 0, 2, 78, 1]
                }))
    }

    // MARK: - Damage

    /// The first damaged tile in the display's order decides, as it does without threads.
    @Test func damageIsToldAsLibheifTellsIt() throws {
        var picture = Self.picture(320, 192)
        picture.isTextured = true
        let whole = try picture.make()
        let places = try tiles(of: whole).data.map { try #require($0.first) }
        var refused = 0
        for seed in 0..<24 {
            var bytes = whole
            for place in [places[(seed * 7) % places.count], places[(seed * 11 + 3) % places.count]] {
                let middle = place.lowerBound + place.count / 2
                for offset in 0..<12 {
                    bytes[middle + offset] = UInt8(truncatingIfNeeded: (seed + 1) * 73 * (offset + 5))
                }
            }
            func outcome(_ threads: Int?) throws -> CodecError? {
                do { _ = try draw(bytes, threads: threads) } catch let error as CodecError { return error }
                return nil
            }
            let expected = try outcome(nil)
            if expected != nil { refused += 1 }
            for threads in [1, 2, 4] {
                let told = try outcome(threads)
                #expect(told?.kind == expected?.kind && told?.message == expected?.message)
            }
        }
        #expect(refused > 0)
    }

    @Test func aCrewMayBeLetGoAtAnyLine() throws {
        let file = try Self.picture(320, 320).make()
        let tiles = try tiles(of: file)
        try file.withUnsafeBytes { bytes in
            for lines in 0...5 {
                var source = try HEICSource.opening(bytes, limits: Limits(), tiles: tiles, threads: 3)
                for _ in 0..<lines { _ = try source.nextBand() }
            }
        }
    }
}
