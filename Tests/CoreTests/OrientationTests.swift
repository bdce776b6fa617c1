import Core
import Testing

@Suite struct OrientationTests {
    /// EXIF 3.0, section 4.6.5.1.6, as pixels: where a 2×3 picture's stored rows `ab cd ef` are seen.
    static let displayed: [(Orientation, [String])] = [
        (.upright, ["ab", "cd", "ef"]), (.mirrored, ["ba", "dc", "fe"]), (.rotated180, ["fe", "dc", "ba"]),
        (.flipped, ["ef", "cd", "ab"]), (.transposed, ["ace", "bdf"]), (.rotated90, ["eca", "fdb"]),
        (.transversed, ["fdb", "eca"]), (.rotated270, ["bdf", "ace"]),
    ]

    @Test(arguments: displayed) func swapsAxes(orientation: Orientation, rows: [String]) {
        #expect(orientation.swapsAxes == (rows.count == 2))
        let size = PixelSize(width: 2, height: 3).applying(orientation)
        #expect(size == PixelSize(width: rows[0].count, height: rows.count))
    }

    @Test(arguments: Orientation.allCases) func inverseUndoes(orientation: Orientation) {
        #expect(orientation.followed(by: orientation.inverse) == .upright)
        #expect(orientation.inverse.followed(by: orientation) == .upright)
    }

    /// The pairs that Apple and libheif write for EXIF 1…8 (irot anti-clockwise first, then imir).
    @Test(
        arguments: [
            (0, nil, 1), (0, 1, 2), (2, nil, 3), (0, 0, 4), (3, 1, 5), (3, nil, 6), (3, 0, 7), (1, nil, 8),
        ] as [(UInt8, UInt8?, UInt8)])
    func fromHEIF(irot: UInt8, imir: UInt8?, exif: UInt8) {
        var orientation = Orientation(irot: irot)
        if let imir { orientation = orientation.followed(by: Orientation(imir: imir)) }
        #expect(orientation.rawValue == exif)
    }
}
