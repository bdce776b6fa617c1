import Core

/// A scan header (ITU-T T.81, section B.2.3).
struct JPEGScanHeader {
    /// A component of the scan.
    struct Part {
        /// Its index in the frame.
        let component: Int
        /// Numbers of its Huffman tables.
        let dc, ac: Int
    }

    let parts: [Part]
    /// Whether the numbers after the components are those that the frame's process asks for. Some Samsung phones write
    /// others into sequential pictures, where decoders pay no heed.
    let isRegular: Bool
    private let spectralStart: Int
    private let isRefinement: Bool

    /// - Throws: `corrupt` where it has the wrong length, names a component that the frame does not have, or a table
    ///   that no file can have.
    init(_ payload: Range<Int>, of bytes: Span<UInt8>, in frame: JPEGFrame) throws(Failure) {
        let at = payload.lowerBound
        guard let count = payload.isEmpty ? nil : bytes.byte(at: at), (1...4).contains(count),
            payload.count == 4 + 2 * count, let start = bytes.byte(at: payload.upperBound - 3),
            let approximation = bytes.byte(at: payload.upperBound - 1)
        else { throw Failure(.corrupt, "JPEG: a scan header has the wrong length") }
        var parts: [Part] = []
        for index in 0..<count {
            guard let id = bytes.byte(at: at + 1 + 2 * index), let tables = bytes.byte(at: at + 2 + 2 * index),
                let component = frame.components.firstIndex(where: { $0.id == id })
            else { throw Failure(.corrupt, "JPEG: a scan names a component that the frame does not have") }
            guard tables & 0xCC == 0 else { throw Failure(.corrupt, "JPEG: a scan names a table past 3") }
            parts.append(Part(component: component, dc: tables >> 4, ac: tables & 3))
        }
        self.parts = parts
        spectralStart = start
        isRefinement = approximation >> 4 > 0
        isRegular =
            switch frame.process {
            case .progressive: true
            case .baseline, .extended: bytes.matches([0, 63, 0], at: payload.upperBound - 3)
            // The predictor, and a point transform (T.81, table B.3).
            case .lossless: (1...7).contains(start) && bytes.byte(at: payload.upperBound - 2) == 0 && !isRefinement
            }
    }

    /// The Huffman tables that decoding `part` takes, numbered 0…3 for DC and 4…7 for AC (T.81, sections F.2.2, G.2 and
    /// H.2).
    func huffmanTables(of part: Part, in frame: JPEGFrame) -> [Int] {
        if frame.isArithmetic { return [] }
        return switch frame.process {
        case .baseline, .extended: [part.dc, 4 + part.ac]
        case .progressive where spectralStart > 0: [4 + part.ac]
        // The bits that refine DC coefficients are not coded.
        case .progressive: isRefinement ? [] : [part.dc]
        case .lossless: [part.dc]
        }
    }
}
