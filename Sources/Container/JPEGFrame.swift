package import Core

/// What a JPEG's frame header says (ITU-T T.81, section B.2.2).
package struct JPEGFrame: Sendable, Equatable {
    package enum Process: Sendable, Equatable {
        /// SOF0
        case baseline
        /// SOF1, SOF9
        case extended
        /// SOF2, SOF10
        case progressive
        /// SOF3: predicted samples in place of coefficients (T.81, annex H)
        case lossless
    }

    package struct Component: Sendable, Equatable {
        package let id: UInt8
        /// Sampling factors, 1…4.
        package let horizontal: Int
        package let vertical: Int
        package let quantizationTable: Int
    }

    package let process: Process
    /// Arithmetic coding in place of Huffman coding.
    package let isArithmetic: Bool
    package let size: PixelSize
    /// 1, 3 or 4.
    package let components: [Component]

    /// - Throws: `corrupt` where the header breaks its rules, `undecodable` where it is lawful and nothing here reads
    ///   it (hierarchical and arithmetic-coded lossless processes, 12 bits, 2 components, a height that DNL tells).
    init(_ marker: JPEGMarker, payload: Range<Int>, of bytes: Span<UInt8>) throws(Failure) {
        (process, isArithmetic) = try JPEGFrame.process(of: marker)
        let at = payload.lowerBound
        guard payload.count >= 6, let precision = bytes.byte(at: at), let height = bytes.bigEndian16(at: at + 1),
            let width = bytes.bigEndian16(at: at + 3), let count = bytes.byte(at: at + 5),
            payload.count == 6 + 3 * count
        else { throw Failure(.corrupt, "JPEG: the frame header has the wrong length") }
        guard precision == 8 else {
            throw Failure(.undecodable, "JPEG: \(precision) bits a sample; only 8 are read")
        }
        guard height > 0 else {
            throw Failure(.undecodable, "JPEG: the frame header leaves the height to a DNL segment, which is not read")
        }
        guard width > 0 else { throw Failure(.corrupt, "JPEG: the frame is 0 pixels wide") }
        guard count == 1 || count == 3 || count == 4 else {
            throw Failure(.undecodable, "JPEG: \(count) colour components; 1, 3 or 4 are read")
        }
        size = PixelSize(width: width, height: height)
        var components: [Component] = []
        for index in 0..<count {
            components.append(try JPEGFrame.component(at: at + 6 + 3 * index, of: bytes))
        }
        self.components = components
    }

    private static func process(of marker: JPEGMarker) throws(Failure) -> (Process, isArithmetic: Bool) {
        switch marker.rawValue {
        case 0xC0: return (.baseline, false)
        case 0xC1: return (.extended, false)
        case 0xC2: return (.progressive, false)
        case 0xC3: return (.lossless, false)
        case 0xC9: return (.extended, true)
        case 0xCA: return (.progressive, true)
        default:
            let kind = marker.rawValue == 0xCB ? "arithmetic-coded lossless" : "hierarchical"
            throw Failure(.undecodable, "JPEG: the \(kind) process SOF\(marker.rawValue - 0xC0) is not read")
        }
    }

    private static func component(at offset: Int, of bytes: Span<UInt8>) throws(Failure) -> Component {
        guard let id = bytes.byte(at: offset), let factors = bytes.byte(at: offset + 1),
            let table = bytes.byte(at: offset + 2), (1...4).contains(factors >> 4), (1...4).contains(factors & 15),
            table < 4
        else { throw Failure(.corrupt, "JPEG: a component's sampling factors or table number are out of range") }
        return Component(
            id: UInt8(id), horizontal: factors >> 4, vertical: factors & 15, quantizationTable: table)
    }
}

extension JPEGFrame {
    /// How many MCUs a scan has (T.81, sections A.2.2 and A.2.3): a single component's are its blocks. In lossless
    /// pictures a block is one sample.
    func mcus(of scan: JPEGScanHeader) -> Int {
        let side = process == .lossless ? 1 : 8
        var horizontal = 1
        var vertical = 1
        for component in components {
            horizontal = max(horizontal, component.horizontal)
            vertical = max(vertical, component.vertical)
        }
        func units(_ length: Int, _ factor: Int, of largest: Int) -> Int {
            let samples = (length * factor + largest - 1) / largest
            return (samples + side - 1) / side
        }
        if scan.parts.count == 1, let part = scan.parts.first {
            let component = components[part.component]
            return units(size.width, component.horizontal, of: horizontal)
                * units(size.height, component.vertical, of: vertical)
        }
        return units(size.width, 1, of: horizontal) * units(size.height, 1, of: vertical)
    }
}

/// What a JPEG's components mean.
package enum JPEGColourModel: Sendable, Equatable {
    case grey, ycbcr, rgb, cmyk, ycck

    /// Decided as libjpeg does (`default_decompress_parms`), whose reading is every browser's: JFIF first, then
    /// Adobe's marker, then the component numbers; numbers 1, 2, 3 of a lossless picture
    /// are R, G and B.
    /// - Parameter adobeTransform: the last byte of the Adobe marker, nil where there is none.
    init(components ids: [UInt8], hasJFIF: Bool, adobeTransform: UInt8?, isLossless: Bool) {
        switch (ids.count, adobeTransform) {
        case (1, _): self = .grey
        case (4, nil), (4, 0): self = .cmyk
        case (4, _): self = .ycck
        case (_, _) where hasJFIF: self = .ycbcr
        case (_, let transform?): self = transform == 0 ? .rgb : .ycbcr
        case (_, nil): self = ids == ascii("RGB") || isLossless && ids == [1, 2, 3] ? .rgb : .ycbcr
        }
    }
}
