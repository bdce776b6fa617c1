import CJPEG
import Core

/// Turns a JPEG of one sequential scan MCU by MCU: each is decoded when the turned picture comes to it, so that nothing is
/// held but a row of them.
///
/// A block is turned by exchanging its frequencies across and down, and mirrored by negating the odd ones.
final class JPEGMCUTurn {
    /// Where a block of the source's MCU comes to lie.
    private struct Place {
        let block: JPEGHuffmanScan.Block
        /// In the turned MCU.
        let x: Int
        let y: Int
    }

    private let index: JPEGScanIndex
    private let tables: JPEGHuffmanTables
    let orientation: Orientation
    /// MCUs of the source across and down.
    private let mcus: PixelSize
    /// The part of the turned picture that is taken, in MCUs.
    private let part: PixelRectangle
    private let places: [Place]
    /// Blocks of each component across, in a row of turned MCUs.
    private let blocksAcross: [Int]
    /// Blocks of each component across one turned MCU.
    private let widths: [Int]
    /// By the coefficient's number in zigzag order: its place in the turned block, and -1 where it is negated.
    private let targets: [UInt8]
    private let signs: [Int16]

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
        var places: [Place] = []
        var next = 0
        for component in frame.components {
            let (columns, rows) = (component.horizontal, component.vertical)
            for row in 0..<rows {
                for column in 0..<columns {
                    let (x, y) = orientation.place(column, row, in: PixelSize(width: columns, height: rows))
                    places.append(Place(block: index.blocks[next], x: x, y: y))
                    next += 1
                }
            }
        }
        self.places = places
        widths = frame.components.map { orientation.swapsAxes ? $0.vertical : $0.horizontal }
        let across = self.part.width
        blocksAcross = widths.map { $0 * across }
        (targets, signs) = Self.coefficients(orientation)
    }

    var componentCount: Int { widths.count }

    /// Whether a picture is one that this turns: grey, or of one of the subsamplings that TurboJPEG has names for, with no
    /// larger factors than it takes.
    static func canTurn(_ frame: JPEGGeometry) -> Bool {
        guard let last = frame.components.last, last.horizontal * last.vertical == 1 else { return false }
        guard frame.components.count > 1 else { return true }
        return frame.subsampling.map { [.s444, .s422, .s420, .s440, .s411].contains($0) } ?? false
    }

    private static func coefficients(_ orientation: Orientation) -> (targets: [UInt8], signs: [Int16]) {
        var targets: [UInt8] = []
        var signs: [Int16] = []
        for place in zigzag {
            let (down, across) = (Int(place) / 8, Int(place) % 8)
            let (turnedDown, turnedAcross) = orientation.swapsAxes ? (across, down) : (down, across)
            targets.append(UInt8(turnedDown * 8 + turnedAcross))
            let isNegated =
                (orientation.reversesColumns && turnedAcross % 2 == 1)
                != (orientation.reversesRows && turnedDown % 2 == 1)
            signs.append(isNegated ? -1 : 1)
        }
        return (targets, signs)
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
        targets.withUnsafeBufferPointer { targets in
            signs.withUnsafeBufferPointer { signs in
                for column in 0..<part.width {
                    guard decode(column, row, rows, targets, signs) else { return false }
                }
                return true
            }
        }
    }

    private func decode(
        _ column: Int, _ row: Int, _ rows: [UnsafeMutablePointer<Int16>], _ targets: UnsafeBufferPointer<UInt8>,
        _ signs: UnsafeBufferPointer<Int16>
    ) -> Bool {
        let (x, y) = orientation.inversePlace(part.x + column, part.y + row, of: mcus)
        var (bits, predictors) = index.start(of: y * mcus.width + x)
        var isNarrow = true
        for number in places.indices {
            let place = places[number]
            let component = place.block.component
            let block =
                rows[component] + 64 * (place.y * blocksAcross[component] + column * widths[component] + place.x)
            let difference = decode(place.block, from: &bits, to: block, targets, signs, &isNarrow)
            let value: Int
            switch component {
            case 0:
                predictors.0 &+= difference
                value = predictors.0
            case 1:
                predictors.1 &+= difference
                value = predictors.1
            default:
                predictors.2 &+= difference
                value = predictors.2
            }
            isNarrow = isNarrow && (-1024...1023).contains(value)
            block[0] = Int16(truncatingIfNeeded: value)
        }
        return isNarrow
    }

    /// Decodes one block, which has been proved, all but its DC value.
    ///
    /// - Returns: the DC difference.
    @inline(__always)
    private func decode(
        _ block: JPEGHuffmanScan.Block, from bits: inout JPEGBits, to target: UnsafeMutablePointer<Int16>,
        _ targets: UnsafeBufferPointer<UInt8>, _ signs: UnsafeBufferPointer<Int16>, _ isNarrow: inout Bool
    ) -> Int {
        let shift = UInt64(64 - JPEGHuffmanTables.shortBits)
        let (steps, categories) = (tables.shortSteps(block.ac), tables.shortCategories(block.ac))
        bits.fill()
        var code = (step: tables.shortSteps(block.dc)[Int(bits.buffer >> shift)], category: UInt8(0))
        if code.step == 0 { code.step = tables.longStep(block.dc, bits: bits.buffer) }
        let category = Int(code.step >> 5)
        let difference = JPEGBits.value(bits.buffer, after: Int(code.step & 31) &- category, category)
        bits.drop(Int(code.step & 31))
        var position = 1
        while position < 64 {
            bits.fill()
            let place = Int(bits.buffer >> shift)
            code = (steps[place], categories[place])
            if code.step == 0 { code = tables.longCode(block.ac, bits: bits.buffer) }
            let taken = Int(code.step & 31)
            let category = Int(code.category)
            position &+= Int(code.step >> 5)
            if category > 0, position <= 64 {
                isNarrow = isNarrow && category <= 10
                let value = JPEGBits.value(bits.buffer, after: taken &- category, category)
                let number = position &- 1
                target[Int(targets[number])] = Int16(truncatingIfNeeded: value) &* signs[number]
            }
            // Never in data that was proved; without it, there would be no end.
            if code.step == 0 { return difference }
            bits.drop(taken)
        }
        return difference
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
