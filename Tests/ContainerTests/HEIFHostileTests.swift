import Container
import Core
import Support
import Testing

/// Each file is a good one with one rule broken; it is refused by that rule's name.
@Suite struct HEIFHostileTests {
    private func failure(_ bytes: [UInt8], pixelsMax: Int = 1_000_000) -> Failure? {
        var limits = Limits()
        limits.pixelsMax = pixelsMax
        do {
            _ = try HEIFStructure(parsing: bytes.span, limits: limits)
            return nil
        } catch {
            return error
        }
    }

    private func expectRefusal(
        _ code: Failure.Code, _ words: String, _ bytes: [UInt8], pixelsMax: Int = 1_000_000,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let found = failure(bytes, pixelsMax: pixelsMax)
        #expect(found?.code == code, "\(found?.detail ?? "passed")", sourceLocation: sourceLocation)
        #expect(found?.detail.contains(words) == true, "\(found?.detail ?? "passed")", sourceLocation: sourceLocation)
    }

    private func expectRefusal(
        _ words: String, of shape: HEIFShape = HEIFShape(), sourceLocation: SourceLocation = #_sourceLocation,
        _ change: (inout HEIFShape) -> Void
    ) {
        expectRefusal(.corrupt, words, of: shape, sourceLocation: sourceLocation, change)
    }

    private func expectRefusal(
        _ code: Failure.Code, _ words: String, of shape: HEIFShape = HEIFShape(),
        sourceLocation: SourceLocation = #_sourceLocation, _ change: (inout HEIFShape) -> Void
    ) {
        #expect(failure(shape.bytes) == nil, "the shape is good before the change", sourceLocation: sourceLocation)
        var changed = shape
        change(&changed)
        expectRefusal(code, words, changed.bytes, sourceLocation: sourceLocation)
    }

    /// A megabyte shared by 16 items is 15 too many, and within the bound; by 18 items no more.
    @Test func boundsWhatItemsShare() {
        var shape = HEIFShape()
        let exif = HEIFShape.Item(id: 2, type: "Exif", data: [UInt8](repeating: 0, count: 1 << 20))
        shape.items.append(exif)
        func share(with count: Int) -> HEIFShape {
            var shape = shape
            for id in 3...(count + 1) {
                var other = exif
                other.id = id
                other.isShared = true
                shape.items.append(other)
            }
            return shape
        }
        #expect(failure(share(with: 16).bytes) == nil)
        expectRefusal(.corrupt, "the items have \((18 << 20) + 4) bytes in all", share(with: 18).bytes)
    }

    // MARK: The file

    @Test func refusesBrokenFiles() {
        let good = HEIFShape().bytes
        expectRefusal(.corrupt, "no box 'meta'", Array(good.prefix(24)))
        expectRefusal(.corrupt, "no box 'meta'", [])
        expectRefusal(.corrupt, "'ftyp'", HEIFShape.box("free", []) + good)
        expectRefusal(.corrupt, "no box starts", good.prefix(24) + Array(repeating: 0, count: 30))
        expectRefusal(.truncated, "'mdat'", good.dropLast())
        expectRefusal(.truncated, "'mpvd'", good + [0, 0, 0, 99] + Array("mpvd".utf8))
        expectRefusal(.corrupt, "size 7", good + [0, 0, 0, 7] + Array("free".utf8))
        let exabytes = good + [0, 0, 0, 1] + Array("free".utf8) + Array(repeating: 0xFF, count: 8)
        expectRefusal(.truncated, "18446744073709551615 bytes", exabytes)
        expectRefusal(.corrupt, "size 15", good + [0, 0, 0, 1] + Array("free".utf8) + HEIFShape.big(15, 8))
        expectRefusal("second box 'meta'") { $0.appended = HEIFShape.full("meta", []) }
        expectRefusal("second box 'idat'") { $0.extraMeta = HEIFShape.box("idat", [1]) }
        expectRefusal("'free' has 90 bytes") { $0.extraMeta = HEIFShape.big(90, 4) + Array("free".utf8) }
        expectRefusal("does not describe pictures") { $0.handler = "vide" }
        expectRefusal("no box 'pitm'") { $0.primary = nil }
        expectRefusal("no item 9") { $0.primary = 9 }
    }

    /// Whatever a cut file still holds, it is refused.
    @Test func refusesEveryPrefix() {
        for shape in [HEIFShape(), HEIFShape.grid] {
            let good = shape.bytes
            for count in good.indices {
                let found = failure(Array(good.prefix(count)))
                #expect(found?.code == .truncated || found?.code == .corrupt, "\(count)")
            }
        }
    }

    // MARK: Items

    @Test(arguments: ["av01", "j2k1", "jpeg", "unci", "mski", "iden", "iovl", "tmap", "Exif"])
    func refusesOtherCodings(type: String) {
        expectRefusal(.unsupportedMedia, "'\(type)'") { $0.items[0].type = type }
    }

    /// Nobody asks for the second item, but a library would look at it.
    @Test(arguments: ["unci", "mski"]) func refusesWhatNoPhotoHolds(type: String) {
        expectRefusal(.unsupportedMedia, "item 2 is coded as '\(type)'") {
            $0.items.append(HEIFShape.Item(id: 2, type: type, properties: [1]))
        }
    }

    /// An identity of the picture is lawful, and one of an identity has no meaning of its own.
    @Test func refusesChainsOfIdentities() {
        var shape = HEIFShape()
        shape.items += (2...3).map { HEIFShape.Item(id: $0, type: "iden", data: nil) }
        shape.references = [.init(type: "dimg", from: 2, to: [1])]
        expectRefusal("item 3, an 'iden'", of: shape) {
            $0.references.append(.init(type: "dimg", from: 3, to: [2]))
        }
    }

    /// Lawful versions that name no type of item are not read; later ones are not known.
    @Test(arguments: [(0, Failure.Code.undecodable), (1, .undecodable), (4, .corrupt)] as [(UInt8, Failure.Code)])
    func namesTheVersionOfItsEntries(version: UInt8, code: Failure.Code) throws {
        var bytes = HEIFShape().bytes
        let entry = try #require(bytes.firstRange(of: Array("infe".utf8)))
        bytes[entry.upperBound] = version
        expectRefusal(code, "'infe' has the version \(version)", bytes)
    }

    @Test func refusesBrokenItems() {
        expectRefusal("second item 1") { $0.items.append($0.items[0]) }
        expectRefusal("'ispe'") { $0.items[0].properties = [2] }
        expectRefusal("'hvcC'") { $0.items[0].properties = [1] }
        expectRefusal("'hvcC' ends too early") { $0.properties[1] = HEIFShape.box("hvcC", [1]) }
        expectRefusal("'ispe' ends too early") { $0.properties[0] = HEIFShape.full("ispe", [0, 0]) }
        expectRefusal("property 3 of 2") { $0.items[0].properties.append(3) }
        expectRefusal("65 properties") { $0.items[0].properties += Array(repeating: 1, count: 63) }
        expectRefusal("0x48 pixels") { $0.properties[0] = HEIFShape.ispe(0, 48) }
        expectRefusal("no data") { $0.items[0].data = nil }
        expectRefusal("is empty") { $0.items[0].data = [] }
        expectRefusal("33 extents") { $0.items[0].extents = 33 }
        expectRefusal("more than 1024 items") { shape in
            shape.items += (2...1026).map { HEIFShape.Item(id: $0, type: "mime", data: nil) }
        }
        expectRefusal("more than 8192 properties") { shape in
            shape.properties += Array(repeating: HEIFShape.box("free", []), count: 8200)
        }
    }

    @Test func takesAsManyAsTheBoundsAllow() {
        var shape = HEIFShape()
        shape.items[0].properties += Array(repeating: 1, count: 62)
        shape.items[0].data = Array(repeating: 5, count: 64)
        shape.items[0].extents = 32
        shape.items += (2...1024).map { HEIFShape.Item(id: $0, type: "mime", data: nil) }
        #expect(failure(shape.bytes) == nil)
    }

    @Test func refusesExtentsBeyondTheFile() {
        // The last item's length and offset are the last 8 bytes of `iloc`, which stands before `idat`.
        let good = HEIFShape().bytes
        guard let idat = good.firstRange(of: Array("idat".utf8))?.lowerBound else {
            Issue.record("no idat")
            return
        }
        var long = good
        long.replaceSubrange((idat - 8)..<(idat - 4), with: [0, 0, 1, 0])
        expectRefusal(.truncated, "ends at byte", long)
        var far = good
        far.replaceSubrange((idat - 12)..<(idat - 8), with: [0xFF, 0xFF, 0xFF, 0xFF])
        expectRefusal(.truncated, "ends at byte", far)
    }

    @Test func refusesExtentsThatOverflow() {
        var shape = HEIFShape()
        shape.isWide = true
        let good = shape.bytes
        #expect(failure(good) == nil)
        guard let idat = good.firstRange(of: Array("idat".utf8))?.lowerBound else {
            Issue.record("no idat")
            return
        }
        var overflowing = good
        overflowing.replaceSubrange((idat - 20)..<(idat - 4), with: Array(repeating: 0xFF, count: 16))
        expectRefusal(.corrupt, "beyond any file", overflowing)
        var long = good
        long.replaceSubrange((idat - 12)..<(idat - 4), with: Array(repeating: 0xFF, count: 8))
        expectRefusal(.truncated, "ends at byte", long)
    }

    @Test func refusesInlineDataBeyondItsBox() {
        expectRefusal("is empty") { shape in
            shape.items[0].isInline = true
            shape.items[0].data = []
        }
        var shape = HEIFShape()
        shape.items[0].isInline = true
        let good = shape.bytes
        #expect(failure(good) == nil)
        guard let idat = good.firstRange(of: Array("idat".utf8))?.lowerBound else { return }
        var long = good
        long[idat - 5] = 9
        expectRefusal(.corrupt, "ends at byte 9 of 4", long)
    }

    // MARK: Grids

    @Test func refusesBrokenGrids() {
        let grid = HEIFShape.grid
        expectRefusal("2x2 cells and 3 tiles", of: grid) { $0.references[0].to.removeLast() }
        expectRefusal("2x2 cells and 0 tiles", of: grid) { $0.references = [] }
        expectRefusal("too short", of: grid) { $0.items[4].data = [0, 0, 1, 1, 0] }
        expectRefusal("another version", of: grid) { $0.items[4].data?[0] = 1 }
        expectRefusal("its 'ispe' says", of: grid) { $0.properties[2] = HEIFShape.ispe(100, 81) }
        expectRefusal("cover 128x128 of 129x80", of: grid) {
            $0.properties[2] = HEIFShape.ispe(129, 80)
            $0.items[4].data = HEIFShape.grid(columns: 2, rows: 2, 129, 80)
        }
        expectRefusal("outside the picture", of: grid) {
            $0.properties[2] = HEIFShape.ispe(64, 80)
            $0.items[4].data = HEIFShape.grid(columns: 2, rows: 2, 64, 80)
        }
        expectRefusal("others 64x64", of: grid) {
            $0.properties.append(HEIFShape.ispe(64, 65))
            $0.items[2].properties[0] = 4
        }
        expectRefusal("tile 3 has no property 'ispe'", of: grid) { $0.items[2].properties = [2] }
        expectRefusal("'hvcC'", of: grid) { $0.items[2].properties = [1] }
        expectRefusal("differ", of: grid) {
            $0.properties.append(HEIFShape.hvcC(luma: 10))
            $0.items[2].properties[1] = 4
        }
        expectRefusal(.unsupportedMedia, "'av01'", of: grid) { $0.items[2].type = "av01" }
        expectRefusal("no data", of: grid) { $0.items[2].data = nil }
    }

    /// One tile may fill many cells.
    @Test func takesATileTwice() {
        var shape = HEIFShape.grid
        shape.references[0].to = [1, 1, 1, 1]
        #expect(failure(shape.bytes) == nil)
    }

    @Test func holdsThePixelLimit() {
        #expect(failure(HEIFShape().bytes, pixelsMax: 64 * 48) == nil)
        expectRefusal(.tooManyPixels, "3072 pixels; the limit is 3071", HEIFShape().bytes, pixelsMax: 3071)
        // The grid shows 8,000 pixels and makes a decoder produce 16,384.
        #expect(failure(HEIFShape.grid.bytes, pixelsMax: 16_384) == nil)
        expectRefusal(.tooManyPixels, "16384 pixels; the limit is 16383", HEIFShape.grid.bytes, pixelsMax: 16_383)
        expectRefusal(.tooManyPixels, "4294967295x4294967295") {
            $0.properties[0] = HEIFShape.ispe(0xFFFF_FFFF, 0xFFFF_FFFF)
        }
    }

    // MARK: References

    @Test func refusesBrokenReferences() {
        for type in ["auxl", "thmb", "dimg"] {
            expectRefusal("item 77, which is not there") { $0.references = [.init(type: type, from: 1, to: [77])] }
            expectRefusal("item 78, which is not there") { $0.references = [.init(type: type, from: 78, to: [1])] }
            expectRefusal("circle") { $0.references = [.init(type: type, from: 1, to: [1])] }
        }
        expectRefusal("circle", of: HEIFShape.grid) { $0.references.append(.init(type: "dimg", from: 3, to: [5])) }
        expectRefusal("circle", of: HEIFShape.grid) {
            $0.references += [.init(type: "thmb", from: 1, to: [2]), .init(type: "auxl", from: 2, to: [1])]
        }
        expectRefusal("derived twice", of: HEIFShape.grid) { $0.references.append($0.references[0]) }
        expectRefusal("more than 16384 references") { shape in
            shape.references = [.init(type: "cdsc", from: 1, to: Array(repeating: 1, count: 16_384))]
        }
    }

    @Test func refusesABrokenAlpha() {
        var shape = HEIFShape()
        shape.properties.append(HEIFShape.auxC("urn:mpeg:hevc:2015:auxid:1"))
        shape.items.append(HEIFShape.Item(id: 2, type: "hvc1", properties: [1, 2, 3]))
        shape.references = [.init(type: "auxl", from: 2, to: [1])]
        expectRefusal("'ispe'", of: shape) { $0.items[1].properties = [2, 3] }
        expectRefusal(.unsupportedMedia, "'av01'", of: shape) { $0.items[1].type = "av01" }
        expectRefusal("no data", of: shape) { $0.items[1].data = nil }
    }

    // MARK: Clean aperture

    @Test(
        arguments: [
            ("denominator 0", [10, 0, 10, 1, 0, 1, 0, 1]), ("denominator 0", [10, 1, 10, 0, 0, 1, 0, 1]),
            ("denominator 0", [10, 1, 10, 1, 0, 0, 0, 1]), ("denominator 0", [10, 1, 10, 1, 0, 1, 0, 0]),
            ("negative", [10, -1, 10, 1, 0, 1, 0, 1]), ("empty", [0, 1, 10, 1, 0, 1, 0, 1]),
            ("empty", [-5, 1, 10, 1, 0, 1, 0, 1]), ("within", [65, 1, 48, 1, 0, 1, 0, 1]),
            ("within", [64, 1, 48, 1, 1, 1, 0, 1]), ("within", [64, 1, 48, 1, 0, 1, -1, 1]),
            ("within", [1, 3, 48, 1, 0, 1, 0, 1]),
            ("within", [0x7FFF_FFFF, 1, 48, 1, 0x7FFF_FFFF, 1, 0, 1]),
            ("within", [0x7FFF_FFFF, 0x7FFF_FFFF, 1, 1, -0x8000_0000, 0x7FFF_FFFF, -0x8000_0000, 1]),
        ] as [(String, [Int])])
    func refusesABrokenAperture(words: String, numbers: [Int]) {
        expectRefusal(words) {
            $0.properties.append(HEIFShape.box("clap", numbers.flatMap { HEIFShape.big($0, 4) }))
            $0.items[0].properties.append(3)
        }
    }

    /// Broken properties of pictures that nobody asked for still reach the decoder's parser.
    @Test func refusesABrokenPropertyThatNobodyUses() {
        expectRefusal("denominator 0") { $0.properties.append(HEIFShape.clap(1, 0, 1, 1, 0, 1, 0, 1)) }
    }
}
