import Synchronization

/// Whether somebody still waits for a request's answer.
package final class Requester: Sendable {
    private struct State {
        var hasLeft = false
        var action: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    package init() {}

    /// True from the moment when the client is known to have gone, or has been answered by the server itself.
    package var hasLeft: Bool { state.withLock { $0.hasLeft } }

    /// Has `action` called at that moment, once, at once where it has passed; on a thread that must not be blocked.
    package func onLeaving(_ action: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            if !state.hasLeft { state.action = action }
            return state.hasLeft
        }
        if isLate { action() }
    }

    func leave() {
        let action = state.withLock { state in
            state.hasLeft = true
            return state.action.take()
        }
        action?()
    }
}
