internal import RTCShareLocks

/// What holds a track back: its own switch, or that of its source.
final class MuteSwitch: Sendable {
    private struct State {
        var isMuted = false
        var sourceIsMuted = false
    }

    private let state = Locked(State())

    /// Sets the track's own switch. `tell` is called with what holds now, by a thread that found another state told.
    func setMuted(_ isMuted: Bool, reported: () -> Bool, notify: (Bool) -> Void) {
        change(reported: reported, notify: notify) { $0.isMuted = isMuted }
    }

    /// Takes note of the source's switch.
    func setSourceMuted(_ isMuted: Bool, reported: () -> Bool, notify: (Bool) -> Void) {
        change(reported: reported, notify: notify) { $0.sourceIsMuted = isMuted }
    }

    /// Sinks are told without the lock; should another thread have changed it meanwhile, they are told that too.
    private func change(reported: () -> Bool, notify: (Bool) -> Void, _ body: (inout State) -> Void) {
        state.withLock { body(&$0) }
        while true {
            let isHeldBack = state.withLock { $0.isMuted || $0.sourceIsMuted }
            guard reported() != isHeldBack else { return }
            notify(isHeldBack)
        }
    }
}
