import Synchronization

/// The bytes that bodies may hold in memory, all together: from a request's head, where it tells its length, or as they
/// come, until whoever has the body lets go of it.
final class BodyBudget: Sendable {
    private let bytesMax: Int
    private let held = Mutex(0)

    init(bytesMax: Int) { self.bytesMax = bytesMax }

    var heldBytes: Int { held.withLock { $0 } }

    /// Room for a body of `count` bytes; nil where there is none.
    ///
    /// - Parameter mayBeAlone: whether one that is larger than all there is may have it where nobody else does.
    func hold(_ count: Int, mayBeAlone: Bool = false) -> Hold? {
        guard take(count, mayBeAlone: mayBeAlone) else { return nil }
        return Hold(count, of: self)
    }

    private func take(_ count: Int, mayBeAlone: Bool = false) -> Bool {
        held.withLock { held in
            guard count == 0 || count <= bytesMax - held || mayBeAlone && held == 0 else { return false }
            held += count
            return true
        }
    }

    private func giveBack(_ count: Int) {
        held.withLock { held in
            held -= count
            precondition(held >= 0, "a body gives back what it took")
        }
    }

    /// One body's share, which goes back when the last one who has this lets go of it: exactly once, on whatever way.
    final class Hold: Sendable {
        private let budget: BodyBudget
        private let count: Mutex<Int>

        fileprivate init(_ count: Int, of budget: BodyBudget) {
            self.budget = budget
            self.count = Mutex(count)
        }

        var bytes: Int { count.withLock { $0 } }

        deinit { budget.giveBack(count.withLock { $0 }) }

        /// Takes what is missing to `total`; false, and nothing taken, where there is no room for it.
        func grow(to total: Int) -> Bool {
            count.withLock { count in
                guard total > count else { return true }
                guard budget.take(total - count) else { return false }
                count = total
                return true
            }
        }

        /// Gives back what is more than `total`.
        func shrink(to total: Int) {
            count.withLock { count in
                guard total < count else { return }
                budget.giveBack(count - total)
                count = total
            }
        }
    }
}
