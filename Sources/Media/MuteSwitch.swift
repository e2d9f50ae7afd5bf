internal import RTCShareLocks

/// Whether a track is muted: by its own switch, or by its source's.
final class MuteSwitch: Sendable {
    private struct State {
        var isPaused = false
        var sourceIsMuted = false
    }

    private let state = Locked(State())

    var isPaused: Bool { state.withLock { $0.isPaused } }

    /// Sets the track's own switch. `notify` is called with the resulting state, if the reported one differs.
    func setPaused(_ isPaused: Bool, reported: () -> Bool, notify: (Bool) -> Void) {
        change(reported: reported, notify: notify) { $0.isPaused = isPaused }
    }

    /// Sets the source's switch.
    func setSourceMuted(_ isMuted: Bool, reported: () -> Bool, notify: (Bool) -> Void) {
        change(reported: reported, notify: notify) { $0.sourceIsMuted = isMuted }
    }

    /// Sinks are notified without the lock. If another thread changes the state during that, they are notified again.
    private func change(reported: () -> Bool, notify: (Bool) -> Void, _ body: (inout State) -> Void) {
        state.withLock { body(&$0) }
        while true {
            let isHeldBack = state.withLock { $0.isPaused || $0.sourceIsMuted }
            guard reported() != isHeldBack else { return }
            notify(isHeldBack)
        }
    }
}
