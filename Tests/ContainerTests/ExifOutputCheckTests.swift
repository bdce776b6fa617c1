import Container
import Core
import Support
import Testing

@Suite struct ExifOutputCheckTests {
    private let size = PixelSize(width: 48, height: 32)

    /// A lawful block, written here and not by the builder.
    private var lawful: TIFFBuilder {
        var block = TIFFBuilder()
        block.isBigEndian = true
        block.ifd0 = [
            (0x010F, .ascii("Maker")), (0x0112, .short(1)), (0x011A, .rational([(72, 1)])), (0x0128, .short(2)),
            (0x8298, .ascii("P\0E")),
        ]
        block.exif = [
            (0x829A, .rational([(1, 60)])), (0x9000, .undefined(Array("0300".utf8))),
            (0x9003, .ascii("2024:05:06 07:08:09")), (0x9204, .signedRational([(-1, 3)])), (0xA001, .short(1)),
            (0xA002, .long(48)), (0xA003, .long(32)),
            (0xA432, .rational([(24, 1), (24, 1), (0, 0), (0, 0)])),
        ]
        block.gps = place
        return block
    }

    private var place: [(UInt16, TIFFBuilder.Value)] {
        [
            (0x00, .bytes([2, 4, 0, 0])), (0x01, .ascii("N")), (0x02, .rational([(48, 1), (51, 1), (2996, 100)])),
            (0x03, .ascii("W")), (0x04, .rational([(2, 1), (17, 1), (402, 10)])), (0x05, .bytes([3])),
            (0x06, .rational([(3525, 100)])), (0x07, .rational([(5, 1), (8, 1), (9, 1)])), (0x1D, .ascii("2024:05:06")),
        ]
    }

    private var city: [(UInt16, TIFFBuilder.Value)] {
        [
            (0x00, .bytes([2, 4, 0, 0])), (0x01, .ascii("N")), (0x02, .rational([(489, 10), (0, 1), (0, 1)])),
            (0x03, .ascii("W")), (0x04, .rational([(2, 1), (0, 1), (0, 1)])), (0x1F, .rational([(7900, 1)])),
        ]
    }

    private func refusal(
        _ payload: [UInt8], exif: Bool = true, _ place: ExifOutputCheck.Place = .exact
    ) -> String? {
        do {
            let file = [1, 2, 3] + payload + [4, 5]
            try ExifOutputCheck.verify(
                file.span, payload: 3..<(3 + payload.count),
                allowing: ExifOutputCheck.Allowance(hasExif: exif, place: place, size: size))
            return nil
        } catch {
            #expect(error.code == .selfCheckFailed)
            return error.detail
        }
    }

    private func payload(_ block: TIFFBuilder) -> [UInt8] { Array("Exif\0\0".utf8) + block.bytes }

    private func changed(_ change: (inout TIFFBuilder) -> Void) -> [UInt8] {
        var block = lawful
        change(&block)
        return payload(block)
    }

    @Test func passes() {
        #expect(refusal(payload(lawful)) == nil)
        #expect(refusal(changed { $0.gps = [] }, .none) == nil)
        #expect(refusal(changed { $0.gps = city }, .city) == nil)
        let alone = changed {
            $0.ifd0 = []
            $0.exif = []
            $0.gps = city
        }
        #expect(refusal(alone, exif: false, .city) == nil)
    }

    @Test func holdsThePolicy() {
        #expect(refusal(payload(lawful), .none)?.contains("0x8825 of image is not allowed") == true)
        #expect(refusal(payload(lawful), exif: false)?.contains("0x010F of image is not allowed") == true)
        #expect(refusal(payload(lawful), .city)?.contains("0x0005 of gps is not allowed") == true)
        let alone = changed {
            $0.ifd0 = []
            $0.exif = []
        }
        // The time of the capture does not go with the place alone.
        #expect(refusal(alone, exif: false)?.contains("0x0007 of gps is not allowed") == true)
    }

    /// Tags that the source may have had, in each directory.
    @Test(
        arguments: [
            0x010E, 0x013C, 0x9C9B, 0x02BC, 0x83BB, 0x8773, 0x014A, 0xC612, 0x0201, 0x8649, 0xA005, 0x927C,
        ] as [UInt16])
    func refusesForeignTags(tag: UInt16) {
        #expect(refusal(changed { $0.ifd0.append((tag, .ascii("x"))) })?.contains("of image is not allowed") == true)
        #expect(refusal(changed { $0.exif.append((tag, .ascii("x"))) })?.contains("of exif is not allowed") == true)
        #expect(refusal(changed { $0.gps.append((tag, .ascii("x"))) })?.contains("of gps is not allowed") == true)
    }

    @Test(arguments: [0x9286, 0xA420, 0xA430, 0xA431, 0xA435, 0xA436, 0xA437] as [UInt16])
    func refusesWhatTellsWho(tag: UInt16) {
        #expect(refusal(changed { $0.exif.append((tag, .ascii("x"))) })?.contains("is not allowed") == true)
    }

    @Test func refusesOtherDirectories() {
        #expect(refusal(changed { $0.ifd1 = [(0x0103, .short(6))] })?.contains("follows image") == true)
        #expect(refusal(changed { $0.interoperability = [(1, .ascii("R03"))] })?.contains("0xA005") == true)
    }

    @Test(
        arguments: [
            (0x0112, .short(6)), (0x0112, .long(1)), (0x0112, .shorts([1, 1])),
            (0x010F, .undefined(Array("Maker".utf8))),
            (0x010F, .raw(type: 2, count: 5, Array("Maker".utf8))), (0x010F, .ascii("Ma\0er")),
            (0x010F, .ascii("Ma\u{1B}er")),
            (0x010F, .raw(type: 2, count: 6, [0x4D, 0xFF, 0xFE, 0x41, 0x41, 0])), (0x8298, .ascii("P\0E\0X")),
            (0x010F, .ascii(String(repeating: "x", count: 2002))), (0x0132, .ascii("12 Elm Street")),
            (0x011A, .rational([(300, 1)])), (0x0128, .short(3)),
        ] as [(UInt16, TIFFBuilder.Value)])
    func refusesUnlawfulValuesOfTheImage(tag: UInt16, value: TIFFBuilder.Value) {
        let bytes = changed { block in
            block.ifd0.removeAll { $0.0 == tag }
            block.ifd0.append((tag, value))
        }
        #expect(refusal(bytes)?.contains("of image is not as it must be") == true)
    }

    @Test(
        arguments: [
            (0xA002, .long(47)), (0xA003, .long(48)), (0xA002, .short(48)), (0xA001, .short(2)),
            (0x829A, .rational([(1, 0)])),
            (0x829A, .rational([(1, 2), (3, 4)])), (0x829A, .signedRational([(1, 2)])), (0x9204, .rational([(1, 3)])),
            (0x9003, .ascii("12 Elm Street")), (0x9004, .ascii("2024:05:06 07:08:09Z")), (0x9010, .ascii("Elm Street")),
            (0x9011, .ascii("+1:00")), (0x9290, .ascii("Elm")), (0x9291, .ascii("1234567890")), (0x9292, .ascii("-1")),
            (0x9000, .undefined(Array("0232".utf8))), (0xA432, .rational([(0, 0), (0, 0), (0, 0), (0, 0)])),
            (0xA432, .rational([(24, 1), (1, 0), (0, 0), (0, 0)])),
        ] as [(UInt16, TIFFBuilder.Value)])
    func refusesUnlawfulValuesOfExif(tag: UInt16, value: TIFFBuilder.Value) {
        let bytes = changed { block in
            block.exif.removeAll { $0.0 == tag }
            block.exif.append((tag, value))
        }
        #expect(refusal(bytes)?.contains("of exif is not as it must be") == true)
    }

    @Test(
        arguments: [
            (0x01, .ascii("X"), "must be"), (0x01, .ascii("NW"), "must be"), (0x02, .rational([(48, 1)]), "must be"),
            (0x02, .rational([(90, 1), (0, 1), (1, 100)]), "globe"),
            (0x04, .rational([(181, 1), (0, 1), (0, 1)]), "globe"),
            (0x02, .rational([(48, 1), (51, 0), (2996, 100)]), "must be"), (0x05, .bytes([4]), "must be"),
            (0x00, .bytes([2, 3, 0, 0]), "must be"), (0x1D, .ascii("12 Elm"), "must be"),
            (0x1D, .ascii("2024:05:0 "), "must be"),
        ] as [(UInt16, TIFFBuilder.Value, String)])
    func refusesUnlawfulPlaces(tag: UInt16, value: TIFFBuilder.Value, words: String) {
        let bytes = changed { block in
            block.gps.removeAll { $0.0 == tag }
            block.gps.append((tag, value))
        }
        #expect(refusal(bytes)?.contains(words) == true)
    }

    @Test(
        arguments: [
            (0x02, .rational([(4886, 100), (0, 1), (0, 1)])), (0x02, .rational([(48, 1), (54, 1), (0, 1)])),
            (0x04, .rational([(2, 1), (0, 1), (1, 1)])), (0x1F, .rational([(5, 1)])), (0x1F, .rational([(79000, 10)])),
        ] as [(UInt16, TIFFBuilder.Value)])
    func refusesPlacesFinerThanTheCity(tag: UInt16, value: TIFFBuilder.Value) {
        let bytes = changed { block in
            block.gps = city.filter { $0.0 != tag } + [(tag, value)]
        }
        #expect(refusal(bytes, .city)?.contains("of gps") == true)
    }

    @Test func refusesWhatIsMissing() {
        for tag in [0x9000, 0xA001, 0xA002, 0xA003] as [UInt16] {
            #expect(refusal(changed { $0.exif.removeAll { $0.0 == tag } })?.contains("is missing") == true)
        }
        for tag in 0x00...0x04 as ClosedRange<UInt16> {
            #expect(refusal(changed { $0.gps.removeAll { $0.0 == tag } })?.contains("is missing") == true)
        }
        #expect(refusal(changed { $0.ifd0.removeAll { $0.0 == 0x0112 } })?.contains("nothing of the picture") == true)
        #expect(refusal(changed { $0.exif = [] })?.contains("nothing of the picture") == true)
    }

    /// Bytes that no entry names, wherever they stand.
    @Test func refusesHiddenBytes() {
        let good = payload(lawful)
        #expect((refusal(good + [0]) != nil) == (good.count % 2 == 0))
        #expect(refusal(good + [0, 0])?.contains("belong to nothing") == true)
        #expect(refusal(good + [0x41])?.contains("belong to nothing") == true)
        // Orientation's value is followed by two bytes that mean nothing.
        let entry = [0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 1, 0, 0] as [UInt8]
        var hidden = good
        guard let at = hidden.indices.first(where: { hidden[$0...].starts(with: entry) }) else {
            Issue.record("no Orientation")
            return
        }
        hidden[at + 11] = 7
        #expect(refusal(hidden)?.contains("hides bytes") == true)
    }

    /// Two entries that share bytes, and one that reads a directory as its value.
    @Test func refusesOverlaps() {
        for target in [8, 26] as [UInt32] {
            let bytes = changed { block in
                block.ifd0.removeAll { $0.0 == 0x010F }
                block.ifd0.append((0x010F, .raw(type: 2, count: 6, Array("Maker\0".utf8))))
            }
            var moved = bytes
            let entry = [0x01, 0x0F, 0, 2, 0, 0, 0, 6] as [UInt8]
            guard let at = moved.indices.first(where: { moved[$0...].starts(with: entry) }) else { continue }
            moved[at + 11] = UInt8(target)
            #expect(refusal(moved) != nil)
        }
    }

    @Test func refusesOtherBlocks() {
        var little = lawful
        little.isBigEndian = false
        #expect(refusal(payload(little))?.contains("not ours") == true)
        #expect(refusal(lawful.bytes)?.contains("not ours") == true)
        #expect(refusal([]) != nil)
        #expect(refusal(changed { $0.ifd0.append((0x0112, .short(1))) })?.contains("out of order") == true)
    }

    /// Every prefix is refused, and no change of a byte makes it read outside or loop.
    @Test func survivesDamage() {
        let good = payload(lawful)
        for count in good.indices { #expect(refusal(Array(good.prefix(count))) != nil, "\(count)") }
        for index in good.indices {
            for flip in [0x01, 0x80, 0xFF] as [UInt8] {
                var bytes = good
                bytes[index] ^= flip
                _ = refusal(bytes)
            }
        }
        for seed in 0..<2000 as Range<UInt64> { _ = refusal(good.mutated(seed: seed)) }
    }
}
