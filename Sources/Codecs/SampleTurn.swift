import Core

/// Copies a block of samples to its place on the display, turned on the way.
enum SampleTurn {
    /// - Parameters:
    ///   - source: the block as stored.
    ///   - target: the top left of its place on the display; `targetStride` bytes from row to row.
    static func copy(
        _ source: Plane, bytesPerSample: Int, by orientation: Orientation, to target: UnsafeMutableRawPointer,
        targetStride: Int
    ) {
        if bytesPerSample == 1 {
            Block<UInt8>(source, orientation, target, targetStride).copy()
        } else {
            Block<UInt16>(source, orientation, target, targetStride).copy()
        }
    }

    /// A copy in hand. Rows and columns that are counted backwards on the display become negative strides.
    private struct Block<Sample: TurnedSample> {
        let source: UnsafeRawPointer
        let sourceStride: Int
        let width: Int
        let height: Int
        let target: UnsafeMutableRawPointer
        let targetStride: Int
        let orientation: Orientation

        init(_ plane: Plane, _ orientation: Orientation, _ target: UnsafeMutableRawPointer, _ targetStride: Int) {
            width = plane.width
            height = plane.height
            self.orientation = orientation
            // Turned by a quarter, the display's columns are the stored rows.
            let upwards = orientation.swapsAxes && orientation.reversesColumns
            source = upwards ? plane.base + (height - 1) * plane.stride : plane.base
            sourceStride = upwards ? -plane.stride : plane.stride
            let lines = orientation.swapsAxes ? width : height
            self.target = orientation.reversesRows ? target + (lines - 1) * targetStride : target
            self.targetStride = orientation.reversesRows ? -targetStride : targetStride
        }

        func copy() {
            if orientation.swapsAxes {
                transpose()
            } else if orientation.reversesColumns {
                for y in 0..<height { mirror(source + y * sourceStride, target + y * targetStride) }
            } else {
                let count = width * MemoryLayout<Sample>.size
                for y in 0..<height {
                    (target + y * targetStride).copyMemory(from: source + y * sourceStride, byteCount: count)
                }
            }
        }

        private func mirror(_ row: UnsafeRawPointer, _ mirrored: UnsafeMutableRawPointer) {
            let size = MemoryLayout<Sample>.size
            let edge = Sample.edge
            var x = 0
            while x + edge <= width {
                let word = row.loadUnaligned(fromByteOffset: x * size, as: UInt64.self)
                mirrored.storeBytes(
                    of: Sample.reversed(word), toByteOffset: (width - x - edge) * size, as: UInt64.self)
                x += edge
            }
            while x < width {
                mirrored.storeBytes(
                    of: row.loadUnaligned(fromByteOffset: x * size, as: Sample.self),
                    toByteOffset: (width - 1 - x) * size, as: Sample.self)
                x += 1
            }
        }

        private func transpose() {
            let size = MemoryLayout<Sample>.size
            let edge = Sample.edge
            let whole = (columns: width - width % edge, rows: height - height % edge)
            for x in stride(from: 0, to: whole.columns, by: edge) {
                for y in stride(from: 0, to: whole.rows, by: edge) {
                    Sample.transpose(
                        source + y * sourceStride + x * size, sourceStride, target + x * targetStride + y * size,
                        targetStride)
                }
            }
            transpose(columns: whole.columns..<width, rows: 0..<height)
            transpose(columns: 0..<whole.columns, rows: whole.rows..<height)
        }

        /// What is left over beside the square blocks, sample by sample.
        private func transpose(columns: Range<Int>, rows: Range<Int>) {
            let size = MemoryLayout<Sample>.size
            for x in columns {
                for y in rows {
                    let sample = source.loadUnaligned(fromByteOffset: y * sourceStride + x * size, as: Sample.self)
                    target.storeBytes(of: sample, toByteOffset: x * targetStride + y * size, as: Sample.self)
                }
            }
        }
    }
}

/// Samples of which a machine word holds some, so that a square block can be transposed in registers.
private protocol TurnedSample: FixedWidthInteger {
    /// Samples in a word: the side of the block.
    static var edge: Int { get }
    static func reversed(_ word: UInt64) -> UInt64
    static func transpose(
        _ source: UnsafeRawPointer, _ sourceStride: Int, _ target: UnsafeMutableRawPointer, _ targetStride: Int)
}

extension UInt8: TurnedSample {
    static var edge: Int { 8 }

    static func reversed(_ word: UInt64) -> UInt64 { word.byteSwapped }

    @inline(__always)
    static func transpose(
        _ source: UnsafeRawPointer, _ sourceStride: Int, _ target: UnsafeMutableRawPointer, _ targetStride: Int
    ) {
        func row(_ index: Int) -> UInt64 { source.loadUnaligned(fromByteOffset: index * sourceStride, as: UInt64.self) }
        var (a, b, c, d) = (row(0), row(1), row(2), row(3))
        var (e, f, g, h) = (row(4), row(5), row(6), row(7))
        exchange(&a, &b, 8, 0x00FF_00FF_00FF_00FF)
        exchange(&c, &d, 8, 0x00FF_00FF_00FF_00FF)
        exchange(&e, &f, 8, 0x00FF_00FF_00FF_00FF)
        exchange(&g, &h, 8, 0x00FF_00FF_00FF_00FF)
        exchange(&a, &c, 16, 0x0000_FFFF_0000_FFFF)
        exchange(&b, &d, 16, 0x0000_FFFF_0000_FFFF)
        exchange(&e, &g, 16, 0x0000_FFFF_0000_FFFF)
        exchange(&f, &h, 16, 0x0000_FFFF_0000_FFFF)
        exchange(&a, &e, 32, 0x0000_0000_FFFF_FFFF)
        exchange(&b, &f, 32, 0x0000_0000_FFFF_FFFF)
        exchange(&c, &g, 32, 0x0000_0000_FFFF_FFFF)
        exchange(&d, &h, 32, 0x0000_0000_FFFF_FFFF)
        func store(_ word: UInt64, _ index: Int) {
            target.storeBytes(of: word, toByteOffset: index * targetStride, as: UInt64.self)
        }
        store(a, 0)
        store(b, 1)
        store(c, 2)
        store(d, 3)
        store(e, 4)
        store(f, 5)
        store(g, 6)
        store(h, 7)
    }
}

extension UInt16: TurnedSample {
    static var edge: Int { 4 }

    static func reversed(_ word: UInt64) -> UInt64 {
        let swapped = word.byteSwapped
        return (swapped & 0x00FF_00FF_00FF_00FF) << 8 | (swapped >> 8) & 0x00FF_00FF_00FF_00FF
    }

    @inline(__always)
    static func transpose(
        _ source: UnsafeRawPointer, _ sourceStride: Int, _ target: UnsafeMutableRawPointer, _ targetStride: Int
    ) {
        func row(_ index: Int) -> UInt64 { source.loadUnaligned(fromByteOffset: index * sourceStride, as: UInt64.self) }
        var (a, b, c, d) = (row(0), row(1), row(2), row(3))
        exchange(&a, &b, 16, 0x0000_FFFF_0000_FFFF)
        exchange(&c, &d, 16, 0x0000_FFFF_0000_FFFF)
        exchange(&a, &c, 32, 0x0000_0000_FFFF_FFFF)
        exchange(&b, &d, 32, 0x0000_0000_FFFF_FFFF)
        func store(_ word: UInt64, _ index: Int) {
            target.storeBytes(of: word, toByteOffset: index * targetStride, as: UInt64.self)
        }
        store(a, 0)
        store(b, 1)
        store(c, 2)
        store(d, 3)
    }
}

/// Exchanges the high parts of `a` with the low parts of `b`: one step of a transposition by halving (Warren, Hacker's
/// Delight, section 7-3), little-endian.
@inline(__always)
private func exchange(_ a: inout UInt64, _ b: inout UInt64, _ shift: UInt64, _ low: UInt64) {
    let difference = ((a &>> shift) ^ b) & low
    b ^= difference
    a ^= difference &<< shift
}
