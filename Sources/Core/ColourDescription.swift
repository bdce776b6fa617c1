/// What the numbers of a picture mean, in the code points of ITU-T H.273 (CICP), as a HEIF `nclx` box or a HEVC VUI
/// states it. 2 stands for "unspecified".
package struct ColourDescription: Sendable, Hashable {
    package var primaries: UInt16
    package var transfer: UInt16
    package var matrix: UInt16
    package var isFullRange: Bool

    package init(primaries: UInt16, transfer: UInt16, matrix: UInt16, isFullRange: Bool) {
        self.primaries = primaries
        self.transfer = transfer
        self.matrix = matrix
        self.isFullRange = isFullRange
    }

    /// What JFIF files hold: BT.601 over the full range, of sRGB pixels.
    package static let jfif = ColourDescription(primaries: 1, transfer: 13, matrix: 6, isFullRange: true)

    /// Display P3 in a JPEG: sRGB's curve over wider primaries.
    package static let displayP3 = ColourDescription(primaries: 12, transfer: 13, matrix: 6, isFullRange: true)

    /// Whether the YCbCr numbers can stand in a JPEG as they are (T.871, section 7: BT.601, full range).
    package var isJFIFMatrix: Bool { (matrix == 5 || matrix == 6) && isFullRange }

    /// Whether the transfer characteristic is one of high dynamic range: PQ (16) or HLG (18).
    package var isHDR: Bool { transfer == 16 || transfer == 18 }
}
