internal import RTCShareMedia

/// What viewers see of the content while a share is paused, and what must be done when that changes.
///
///              pause            replace
///       live ────────▶ held(nil) ────────▶ held(kept)
///        │▲               │                    │
///        ││ resume        │ pause with slate   │
///        ▼└───────────── slate ◀───────────────┘
///
/// Each event returns the effects in their order and does nothing itself. Replacing the content changes the state only
/// if viewers keep the last frame of that content.
struct PauseState {
    enum State {
        case live
        /// Viewers keep the last frame: of `kept`, if the content was replaced during the pause, else of the content.
        case held(kept: (any CaptureSource)?)
        /// Viewers see a slate.
        case slate(any CaptureSource)
    }

    enum Effect {
        /// Show a source to viewers. No other effect can fail, and it comes before all others.
        case show(any CaptureSource)
        /// Mute or unmute the video of a source.
        case setMuted(Bool, any CaptureSource)
        /// Mute a slate when it is sharp.
        case muteWhenSharp(any CaptureSource)
        case stop(any CaptureSource)
    }

    private(set) var state = State.live

    var isPaused: Bool { if case .live = state { false } else { true } }

    var isSlateShown: Bool { if case .slate = state { true } else { false } }

    /// Whether a request to pause changes anything.
    func canPause(showingSlate: Bool) -> Bool {
        switch state {
        case .live: true
        case .held: showingSlate
        case .slate: false
        }
    }

    mutating func pause(_ content: any CaptureSource) -> [Effect] {
        state = .held(kept: nil)
        return [.setMuted(true, content)]
    }

    mutating func pause(showing slate: any CaptureSource) -> [Effect] {
        let stops = stops
        state = .slate(slate)
        return [.show(slate), .muteWhenSharp(slate)] + stops
    }

    mutating func resume(_ content: any CaptureSource) -> [Effect] {
        if case .held(kept: nil) = state {
            state = .live
            return [.setMuted(false, content)]
        }
        let stops = stops
        state = .live
        return [.show(content)] + stops
    }

    mutating func replace(_ old: any CaptureSource, with new: any CaptureSource) -> [Effect] {
        switch state {
        case .live: return [.show(new), .stop(old)]
        case .held(kept: nil):
            // Its end would be that of the share.
            state = .held(kept: old)
            return []
        case .held, .slate: return [.stop(old)]
        }
    }

    /// Stops the sources that only the pause needs: the kept source, or the slate.
    var stops: [Effect] {
        switch state {
        case .live: []
        case .held(let kept): kept.map { [.stop($0)] } ?? []
        case .slate(let slate): [.stop(slate)]
        }
    }
}
