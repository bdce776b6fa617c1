import Core
import Posix
import Synchronization

/// Decodes the tiles of a grid in the display's order: on the caller's thread, which takes the bands, and on helpers
/// that work up to a line ahead of it. What comes out does not depend on how many there are.
///
/// Each thread has a decoder of its own. A tile that it does not take, or finds damaged, is left to the caller, who
/// asks libheif what is wrong with it.
final class HEICTileCrew: @unchecked Sendable {
    // All but `state`, which has its lock, is constant; `file` and `configuration` are only read, and stay where they
    // are until `stop` has returned.

    private struct Tile {
        let cell: HEICGrid.Cell
        let line: Int
        let pieces: [UnsafeRawBufferPointer]
    }

    fileprivate struct State {
        /// The first tile that nobody has taken.
        var next = 0
        /// The line that the caller waits for.
        var line = 0
        /// Tiles that are not done, by lines.
        var unfinished: [Int]
        /// Tiles that are left to the caller.
        var left: [Int] = []
        /// Helpers that wait for work.
        var idle = 0
        var isCallerWaiting = false
        var isOver = false
    }

    private let canvas: HEICCanvas
    private let configuration: UnsafeRawBufferPointer
    private let tiles: [Tile]
    private let state: Mutex<State>
    private let work = Semaphore()
    private let lineIsDone = Semaphore()
    private let helpers = ThreadGroup()

    /// - Parameters:
    ///   - coded: where the tiles are in `file`, which stays there until `stop` returns.
    ///   - threads: how many threads shall work, the caller's among them.
    /// - Returns: nil where decoders cannot go from one of these tiles to the next.
    static func gathering(
        _ coded: CodedTiles, of file: UnsafeRawBufferPointer, for canvas: HEICCanvas, threads: Int
    ) -> HEICTileCrew? {
        let configuration = UnsafeRawBufferPointer(rebasing: file[coded.configuration])
        guard HEVCUnits.areParametersPlain(configuration), HEVCDecoder.opening(configuration) != nil else { return nil }
        let crew = HEICTileCrew(coded, of: file, configuration, canvas)
        for index in 1..<max(1, min(threads, crew.tiles.count / 2)) {
            // With fewer threads the same work is done.
            do { try crew.helpers.start("tiles-\(index)") { crew.help() } } catch { break }
        }
        return crew
    }

    private init(
        _ coded: CodedTiles, of file: UnsafeRawBufferPointer, _ configuration: UnsafeRawBufferPointer,
        _ canvas: HEICCanvas
    ) {
        self.canvas = canvas
        self.configuration = configuration
        let grid = canvas.grid
        var tiles: [Tile] = []
        var unfinished = [Int](repeating: 0, count: grid.lineCount)
        for index in 0..<grid.lineCount {
            let line = grid.line(index)
            // The very first was decoded when the picture was opened.
            for cell in line.cells.dropFirst(index == 0 ? 1 : 0) where canvas.shows(cell, line) {
                let pieces = coded.data[cell.row * grid.storedColumns + cell.column]
                tiles.append(
                    Tile(cell: cell, line: index, pieces: pieces.map { UnsafeRawBufferPointer(rebasing: file[$0]) }))
                unfinished[index] += 1
            }
        }
        self.tiles = tiles
        state = Mutex(State(unfinished: unfinished))
    }

    /// Ends the helpers. To be called before the crew is let go.
    func stop() {
        let idle = state.withLock { state in
            state.isOver = true
            return state.dismissIdle()
        }
        for _ in 0..<idle { work.signal() }
        helpers.join()
    }

    /// Works until all tiles of a line are placed, but those it returns. The lines are asked for in their order; what
    /// the line before was placed in is used again from now on.
    ///
    /// - Parameter decoder: the caller's own, to be given again for the next line; nil at first.
    func finish(line: Int, by decoder: inout HEVCDecoder?) -> [HEICGrid.Cell] {
        let idle = state.withLock { state in
            state.line = line
            return state.dismissIdle()
        }
        for _ in 0..<idle { work.signal() }
        while true {
            switch state.withLock({ callerStep(&$0) }) {
            case .decode(let index): run(index, &decoder)
            case .wait: lineIsDone.wait()
            case .end: return takeLeft(of: line)
            }
        }
    }

    private func takeLeft(of line: Int) -> [HEICGrid.Cell] {
        state.withLock { state in
            let left = state.left.filter { tiles[$0].line == line }
            state.left.removeAll { tiles[$0].line == line }
            return left.sorted().map { tiles[$0].cell }
        }
    }

    private func help() {
        var decoder: HEVCDecoder?
        while true {
            switch state.withLock({ helperStep(&$0) }) {
            case .decode(let index): run(index, &decoder)
            case .wait: work.wait()
            case .end: return
            }
        }
    }

    private func run(_ index: Int, _ decoder: inout HEVCDecoder?) {
        let tile = tiles[index]
        if decoder == nil { decoder = HEVCDecoder.opening(configuration) }
        let isPlaced = decoder?.decode(tile.pieces, as: canvas.planes, size: canvas.tile) { planes in
            do throws(CodecError) { try canvas.place(planes, tile.cell, line: tile.line) } catch { return false }
            return true
        }
        if isPlaced != true { decoder = nil }
        let isAwaited = state.withLock { state in
            state.unfinished[tile.line] -= 1
            if isPlaced != true { state.left.append(index) }
            guard state.isCallerWaiting, state.unfinished[state.line] == 0 else { return false }
            state.isCallerWaiting = false
            return true
        }
        if isAwaited { lineIsDone.signal() }
    }
}

extension HEICTileCrew {
    private enum Step {
        case decode(Int)
        case wait
        case end
    }

    private func callerStep(_ state: inout State) -> Step {
        guard state.unfinished[state.line] > 0 else { return .end }
        // Rather than wait for the line's last tiles, begin with the next line's.
        if let index = take(&state) { return .decode(index) }
        state.isCallerWaiting = true
        return .wait
    }

    private func helperStep(_ state: inout State) -> Step {
        guard !state.isOver, state.next < tiles.count else { return .end }
        if let index = take(&state) { return .decode(index) }
        state.idle += 1
        return .wait
    }

    /// The next tile, where what it is placed in is not in use for an earlier line.
    private func take(_ state: inout State) -> Int? {
        guard state.next < tiles.count, tiles[state.next].line < state.line + canvas.linesHeld else { return nil }
        state.next += 1
        return state.next - 1
    }
}

extension HEICTileCrew.State {
    /// How many wait; they are to be woken.
    fileprivate mutating func dismissIdle() -> Int {
        let count = idle
        idle = 0
        return count
    }
}
