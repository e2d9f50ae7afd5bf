internal import RTCShareLocks

/// What holds a track back: its own switch, or that of its source.
final class MuteSwitch: Sendable {
    private struct State {
        var isPaused = false
        var sourceIsMuted = false
    }

    private let state = Locked(State())

    var isPaused: Bool { state.withLock { $0.isPaused } }

    /// Sets the track's own switch. `tell` is called with what holds now, by a thread that found another state told.
    func setPaused(_ isPaused: Bool, reported: () -> Bool, notify: (Bool) -> Void) {
        change(reported: reported, notify: notify) { $0.isPaused = isPaused }
    }

    /// Takes note of the source's switch.
    func setSourceMuted(_ isMuted: Bool, reported: () -> Bool, notify: (Bool) -> Void) {
        change(reported: reported, notify: notify) { $0.sourceIsMuted = isMuted }
    }

    /// Sinks are told without the lock; should another thread have changed it meanwhile, they are told that too.
    private func change(reported: () -> Bool, notify: (Bool) -> Void, _ body: (inout State) -> Void) {
        state.withLock { body(&$0) }
        while true {
            let isHeldBack = state.withLock { $0.isPaused || $0.sourceIsMuted }
            guard reported() != isHeldBack else { return }
            notify(isHeldBack)
        }
    }
}
