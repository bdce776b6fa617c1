/// Entropy-decodes the scans of a sequential Huffman-coded picture without keeping anything, so that nothing wrong goes
/// unnoticed: libjpeg-turbo's fast decoder takes an undefined code for a zero and a run past a block's end for its end.
struct JPEGHuffmanScan {
    /// The tables of one block of the MCU.
    struct Block {
        var component: Int
        var dc: Int
        var ac: Int
    }

    var blocks: [Block]
    var mcus: Int
    /// MCUs between restart markers, 0 for none.
    var restartInterval: Int
    /// Told where each MCU begins, where there is one.
    var index: JPEGScanIndex?

    /// - Parameter position: where the scan's data begins.
    /// - Throws: `truncated` where the data ends, or a marker comes, before the last MCU; `corrupt` where a code is
    ///   undefined, a block has more than 64 coefficients, a restart marker is missing or wrong, or data are left over.
    func prove(
        _ bytes: UnsafeRawBufferPointer, at position: Int, tables: borrowing JPEGHuffmanTables
    ) throws(CodecError) -> JPEGBits.End {
        var position = position
        var left = mcus
        var restarts = 0
        while true {
            let count = restartInterval > 0 ? min(left, restartInterval) : left
            var bits = JPEGBits(bytes, at: position)
            try decode(count, from: &bits, tables: tables, at: mcus - left)
            left -= count
            if left == 0 { return try bits.finish() }
            position = try bits.restart(restarts)
            restarts += 1
        }
    }

    private func decode(
        _ mcus: Int, from bits: inout JPEGBits, tables: borrowing JPEGHuffmanTables, at first: Int
    ) throws(CodecError) {
        var local = bits
        let looks = blocks.map { Look($0, tables) }
        var predictors: (Int, Int, Int) = (0, 0, 0)
        for mcu in first..<(first + mcus) {
            if let index { index.note(mcu, local, predictors) }
            // By index: iterating would retain the array for each MCU.
            for number in looks.indices {
                let look = looks[number]
                local.fill()
                if index != nil {
                    let difference = Self.difference(local.buffer, look, tables)
                    switch look.block.component {
                    case 0: predictors.0 &+= difference
                    case 1: predictors.1 &+= difference
                    default: predictors.2 &+= difference
                    }
                }
                try Self.decodeBlock(look, from: &local, tables: tables)
            }
        }
        bits = local
    }

    /// The DC difference that `bits` begin with (T.81, F.2.2.1); 0 where that is no code.
    @inline(__always)
    private static func difference(_ bits: UInt64, _ look: Look, _ tables: borrowing JPEGHuffmanTables) -> Int {
        var step = look.dc[Int(bits >> UInt64(64 - JPEGHuffmanTables.shortBits))]
        if step == 0 { step = tables.longStep(look.block.dc, bits: bits) }
        let category = Int(step >> 5)
        return JPEGBits.value(bits, after: Int(step & 31) - category, category)
    }

    /// What a block's codes are looked up in, found once for all blocks of its kind.
    private struct Look {
        let block: Block
        let dc: UnsafePointer<JPEGHuffmanTables.Step>
        let ac: UnsafePointer<JPEGHuffmanTables.Step>
        let runs: UnsafePointer<JPEGHuffmanTables.Run>

        init(_ block: Block, _ tables: borrowing JPEGHuffmanTables) {
            self.block = block
            dc = tables.shortSteps(block.dc)
            ac = tables.shortSteps(block.ac)
            runs = tables.runs(block.ac)
        }
    }

    /// - Parameter source: filled.
    @inline(__always)
    private static func decodeBlock(
        _ look: Look, from source: inout JPEGBits, tables: borrowing JPEGHuffmanTables
    ) throws(CodecError) {
        // In registers.
        var bits = source
        let shift = UInt64(64 - JPEGHuffmanTables.shortBits)
        let (dc, ac, runs) = (look.dc, look.ac, look.runs)
        var step = dc[Int(bits.buffer >> shift)]
        if step == 0 { step = tables.longStep(look.block.dc, bits: bits.buffer) }
        var isUndefined = step == 0
        bits.drop(Int(step & 31))
        var position = 1
        while position < 64 {
            bits.fill()
            let run = runs[Int(bits.buffer >> UInt64(64 - JPEGHuffmanTables.runBits))]
            // Where the block might end inside a run, its codes are taken one by one.
            if run != 0, position &+ Int(run >> 5 & 0xFF) < 64 {
                bits.drop(Int(run & 31))
                position &+= Int(run >> 13)
                continue
            }
            step = ac[Int(bits.buffer >> shift)]
            if step == 0 {
                step = tables.longStep(look.block.ac, bits: bits.buffer)
                if step == 0 {
                    isUndefined = true
                    break
                }
            }
            bits.drop(Int(step & 31))
            position &+= Int(step >> 5)
        }
        source = bits
        if bits.count < 0 { throw CodecError(.truncated, "premature end of entropy-coded data") }
        if isUndefined { throw CodecError(.corrupt, "undefined Huffman code") }
        if position > 64, position < JPEGHuffmanTables.endOfBlock {
            throw CodecError(.corrupt, "more than 64 coefficients in a block")
        }
    }
}
