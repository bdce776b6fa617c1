import Core

/// Finds what was never decoded: a slice may be missing, and a damaged one may end early. Neither FFmpeg nor libde265
/// says so, strict decoding or not.
///
/// Samples that no slice brings are 0: FFmpeg's frames come from cleared memory, everything else does since
/// `HEIFLibrary.prepare`. Y, Cb and Cr of 0 together are far outside of RGB (H.273, section 8.3), so no encoder makes
/// them of a picture. Grey and RGB have no such mark.
extension HEICPlanes {
    /// The smallest coding block (H.265, section 7.4.3.2.1), in luma samples.
    private static let blockEdge = 8

    /// - Parameter planes: of this kind, what shows of a picture or of a tile. (Some phones' encoders fill with zeros
    ///   what hangs over the edge.)
    /// - Throws: `corrupt` where some of it was never decoded.
    func checkDecoded(_ planes: [Plane]) throws(CodecError) {
        guard case .ycbcr = layout else { return }
        let hasGap = bytesPerSample == 1 ? hasGap(planes, as: UInt8.self) : hasGap(planes, as: UInt16.self)
        if hasGap { throw CodecError(.corrupt, "blocks that no slice brings") }
    }

    private func hasGap<Sample: FixedWidthInteger>(_ planes: [Plane], as: Sample.Type) -> Bool {
        let step = subsampling
        let (luma, blue, red) = (planes[0], planes[1], planes[2])
        for top in stride(from: 0, to: luma.height, by: Self.blockEdge) {
            // Filters may have touched a block's edges, so the middle is asked first.
            let middle = min(top + Self.blockEdge / 2, luma.height - 1)
            let (y, chromaY) = (middle, middle / step.vertical)
            for left in stride(from: 0, to: luma.width, by: Self.blockEdge) {
                let x = min(left + Self.blockEdge / 2, luma.width - 1)
                guard luma.isZero(x, y, as: Sample.self), blue.isZero(x / step.horizontal, chromaY, as: Sample.self),
                    red.isZero(x / step.horizontal, chromaY, as: Sample.self)
                else { continue }
                if isEmpty(left..<min(left + Self.blockEdge, luma.width), top..<min(top + Self.blockEdge, luma.height))
                {
                    return true
                }
            }
        }
        return false

        func isEmpty(_ columns: Range<Int>, _ rows: Range<Int>) -> Bool {
            rows.allSatisfy { y in
                columns.allSatisfy { x in
                    luma.isZero(x, y, as: Sample.self)
                        && blue.isZero(x / step.horizontal, y / step.vertical, as: Sample.self)
                        && red.isZero(x / step.horizontal, y / step.vertical, as: Sample.self)
                }
            }
        }
    }
}

extension Plane {
    @inline(__always)
    fileprivate func isZero<Sample: FixedWidthInteger>(_ x: Int, _ y: Int, as: Sample.Type) -> Bool {
        base.load(fromByteOffset: y * stride + x * MemoryLayout<Sample>.size, as: Sample.self) == 0
    }
}
