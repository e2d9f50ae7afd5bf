internal import RTCShareLocks

/// Keeps a track or a mixer connected to a source exactly while it has sinks, whichever threads add and remove them.
///
/// No lock is held while the source is called: one thread does it, and checks again afterwards.
package final class SinkConnection: Sendable {
    private struct State {
        var isConnected = false
        var isSwitching = false
    }

    private let state = Locked(State())

    package init() {}

    /// Connects or disconnects until the state is the one that `isWanted` returns.
    package func update(isWanted: () -> Bool, connect: () -> Void, disconnect: () -> Void) {
        while true {
            let next = state.withLock { state -> Bool? in
                let wanted = isWanted()
                guard !state.isSwitching, wanted != state.isConnected else { return nil }
                state.isSwitching = true
                state.isConnected = wanted
                return wanted
            }
            guard let next else { return }
            LockCheck.assertNoneHeld("a source is called")
            if next { connect() } else { disconnect() }
            state.withLock { $0.isSwitching = false }
        }
    }
}
