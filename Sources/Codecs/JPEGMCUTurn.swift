import CJPEG
import Core

/// Turns a JPEG of one sequential scan MCU by MCU: each is decoded when the turned picture comes to it, so that nothing
/// is held but a row of them.
///
/// A block is turned by exchanging its frequencies across and down, and mirrored by negating the odd ones.
final class JPEGMCUTurn {
    /// Where a block of the source's MCU comes to lie.
    private struct Place {
        let block: JPEGHuffmanScan.Block
        /// In the turned MCU.
        let x: Int
        let y: Int
        /// Blocks of its component in a row of turned MCUs, and in one of them.
        let rowBlocks: Int
        let mcuBlocks: Int
        /// Where its table begins in `values`.
        let values: Int
    }

    /// What becomes of a coefficient.
    private struct Coefficient {
        /// Its place in the turned block.
        let target: Int16
        /// 0, or -1 where it is negated.
        let mask: Int16

        @inline(__always) func put(_ value: Int16, _ block: UnsafeMutablePointer<Int16>) {
            block[Int(target)] = (value ^ mask) &- mask
        }
    }

    private let index: JPEGScanIndex
    private let tables: JPEGHuffmanTables
    let orientation: Orientation
    /// MCUs of the source across and down.
    private let mcus: PixelSize
    /// The part of the turned picture that is taken, in MCUs.
    private let part: PixelRectangle
    private let places: [Place]
    /// By the coefficient's number in zigzag order.
    private let coefficients: [Coefficient]
    /// Of all AC tables that the blocks use, one after the other.
    private let values: [JPEGHuffmanTables.Value]
    let componentCount: Int

    /// - Parameters:
    ///   - index: of the source's scan, whose tables are `tables`.
    ///   - part: of the turned picture, in samples, from where whole MCUs begin.
    init(
        _ index: JPEGScanIndex, _ tables: JPEGHuffmanTables, frame: JPEGGeometry, _ orientation: Orientation,
        part: PixelRectangle
    ) {
        self.index = index
        self.tables = tables
        self.orientation = orientation
        mcus = frame.interleavedMCUs
        let mcu = frame.mcuSize.applying(orientation)
        self.part = PixelRectangle(
            x: part.x / mcu.width, y: part.y / mcu.height, width: part.width.dividedUp(by: mcu.width),
            height: part.height.dividedUp(by: mcu.height))
        componentCount = frame.components.count
        coefficients = Self.coefficients(orientation)
        let used = Set(index.blocks.map(\.ac)).sorted()
        values = used.flatMap { tables.values($0) }
        var places: [Place] = []
        var next = 0
        for component in frame.components {
            let size = PixelSize(width: component.horizontal, height: component.vertical)
            let mcuBlocks = size.applying(orientation).width
            for row in 0..<size.height {
                for column in 0..<size.width {
                    let (x, y) = orientation.place(column, row, in: size)
                    let block = index.blocks[next]
                    let table = (used.firstIndex(of: block.ac) ?? 0) << JPEGHuffmanTables.runBits
                    places.append(
                        Place(
                            block: block, x: x, y: y, rowBlocks: mcuBlocks * self.part.width, mcuBlocks: mcuBlocks,
                            values: table))
                    next += 1
                }
            }
        }
        self.places = places
    }

    /// Whether a picture is one that this turns: grey, or of one of the subsamplings that TurboJPEG has names for, with
    /// no larger factors than it takes.
    static func canTurn(_ frame: JPEGGeometry) -> Bool {
        guard let last = frame.components.last, last.horizontal * last.vertical == 1 else { return false }
        guard frame.components.count > 1 else { return true }
        return frame.subsampling.map { [.s444, .s422, .s420, .s440, .s411].contains($0) } ?? false
    }

    private static func coefficients(_ orientation: Orientation) -> [Coefficient] {
        zigzag.map { place in
            let (down, across) = (Int(place) / 8, Int(place) % 8)
            let (turnedDown, turnedAcross) = orientation.swapsAxes ? (across, down) : (down, across)
            let isNegated =
                (orientation.reversesColumns && turnedAcross % 2 == 1)
                != (orientation.reversesRows && turnedDown % 2 == 1)
            return Coefficient(target: Int16(turnedDown * 8 + turnedAcross), mask: isNegated ? -1 : 0)
        }
    }

    /// T.81, figure A.6.
    private static let zigzag: [UInt8] = [
        0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6, 7, 14,
        21,
        28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61,
        54, 47, 55, 62, 63,
    ]

    /// Fills row `row` of turned MCUs.
    ///
    /// - Parameter rows: of each component, blocks of zeros.
    /// - Returns: false where a value is none that 8-bit samples have, for which there need be no code.
    func fill(_ row: Int, _ rows: [UnsafeMutablePointer<Int16>]) -> Bool {
        coefficients.withUnsafeBufferPointer { coefficients in
            values.withUnsafeBufferPointer { values in
                places.withUnsafeBufferPointer { places in
                    for column in 0..<part.width {
                        let (x, y) = orientation.inversePlace(part.x + column, part.y + row, of: mcus)
                        var (bits, predictors) = index.start(of: y * mcus.width + x)
                        for place in places {
                            let target =
                                rows[place.block.component] + 64
                                * (place.y * place.rowBlocks + column * place.mcuBlocks + place.x)
                            let difference = difference(place.block, from: &bits)
                            let dc: Int
                            switch place.block.component {
                            case 0:
                                predictors.0 &+= difference
                                dc = predictors.0
                            case 1:
                                predictors.1 &+= difference
                                dc = predictors.1
                            default:
                                predictors.2 &+= difference
                                dc = predictors.2
                            }
                            target[0] = Int16(truncatingIfNeeded: dc)
                            guard (-1024...1023).contains(dc),
                                decode(place, from: &bits, to: target, coefficients, values)
                            else { return false }
                        }
                    }
                    return true
                }
            }
        }
    }

    @inline(__always)
    private func difference(_ block: JPEGHuffmanScan.Block, from bits: inout JPEGBits) -> Int {
        bits.fill()
        var step = tables.shortSteps(block.dc)[Int(bits.buffer >> UInt64(64 - JPEGHuffmanTables.shortBits))]
        if step == 0 { step = tables.longStep(block.dc, bits: bits.buffer) }
        let (taken, category) = (Int(step & 31), Int(step >> 5))
        let difference = JPEGBits.value(bits.buffer, after: taken &- category, category)
        bits.drop(taken)
        return difference
    }

    /// Decodes the AC coefficients of a block; the data has been proved.
    ///
    /// - Returns: false where one is too large.
    @inline(__always)
    private func decode(
        _ place: Place, from bits: inout JPEGBits, to target: UnsafeMutablePointer<Int16>,
        _ coefficients: UnsafeBufferPointer<Coefficient>, _ values: UnsafeBufferPointer<JPEGHuffmanTables.Value>
    ) -> Bool {
        var position = 1
        while position < 64 {
            bits.fill()
            let code = values[place.values &+ Int(bits.buffer >> UInt64(64 - JPEGHuffmanTables.runBits))]
            guard code != 0 else {
                guard let taken = decodeLong(place.block, from: &bits, &position) else { return false }
                guard let value = taken else { continue }
                coefficients[position &- 1].put(value, target)
                continue
            }
            bits.drop(Int(code & 31))
            position &+= Int(code >> 5 & 0xFF)
            let value = Int16(truncatingIfNeeded: code >> 16)
            if value != 0, position <= 64 { coefficients[position &- 1].put(value, target) }
        }
        return true
    }

    /// A code that does not stand with its value in the bits that are looked up at once.
    ///
    /// - Returns: the value, nil inside where there is none; nil where it is too large. (Or undefined, which it never
    ///   is in proved data.)
    @inline(never)
    private func decodeLong(
        _ block: JPEGHuffmanScan.Block, from bits: inout JPEGBits, _ position: inout Int
    ) -> Int16?? {
        let short = Int(bits.buffer >> UInt64(64 - JPEGHuffmanTables.shortBits))
        var code = (step: tables.shortSteps(block.ac)[short], category: tables.shortCategories(block.ac)[short])
        if code.step == 0 { code = tables.longCode(block.ac, bits: bits.buffer) }
        let (taken, category) = (Int(code.step & 31), Int(code.category))
        guard code.step != 0, category <= 10 else { return nil }
        let value = JPEGBits.value(bits.buffer, after: taken &- category, category)
        bits.drop(taken)
        position &+= Int(code.step >> 5)
        return .some(category > 0 && position <= 64 ? Int16(truncatingIfNeeded: value) : nil)
    }
}

extension Orientation {
    /// Where the cell of a grid of `size` comes to lie.
    fileprivate func place(_ x: Int, _ y: Int, in size: PixelSize) -> (x: Int, y: Int) {
        let (columns, rows) = swapsAxes ? (size.height, size.width) : (size.width, size.height)
        let (column, row) = swapsAxes ? (y, x) : (x, y)
        return (reversesColumns ? columns - 1 - column : column, reversesRows ? rows - 1 - row : row)
    }

    /// Which cell of a grid of `size` comes to lie there.
    fileprivate func inversePlace(_ x: Int, _ y: Int, of size: PixelSize) -> (x: Int, y: Int) {
        let (columns, rows) = swapsAxes ? (size.height, size.width) : (size.width, size.height)
        let (column, row) = (reversesColumns ? columns - 1 - x : x, reversesRows ? rows - 1 - y : y)
        return swapsAxes ? (row, column) : (column, row)
    }
}
