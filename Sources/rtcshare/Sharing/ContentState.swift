internal import RTCShareContentShare
internal import RTCShareMedia
internal import RTCShareWireFormat

/// The content of a running share, the video that viewers see, and the effects of changes.
///
///              pause            replace
///       live ────────▶ held(nil) ────────▶ held(kept)
///        │▲               │                    │
///        ││ resume        │ pause with slate   │
///        ▼└───────────── slate ◀───────────────┘
///
/// Each event returns the effects in their order, and does nothing itself. Replacing the content changes the viewers'
/// video unless the share is paused.
struct ContentState: Sendable {
    enum View: Sendable {
        case live
        /// Viewers keep the last frame. It is a frame of `kept` if the content was replaced during the pause, and of
        /// the content otherwise.
        case held(kept: (any CaptureSource)?)
        /// Viewers see a slate.
        case slate(any CaptureSource)
    }

    enum Effect: Sendable {
        /// Start content that is not started yet, and check that it has not ended. This effect and ``show(_:canWait:)``
        /// can fail, so they come before all others.
        case prepare(OpenedContent, starts: Bool)
        /// Show a source to viewers. The encoder delays a source that can wait.
        case show(any CaptureSource, canWait: Bool)
        /// Mute or unmute the video of a source.
        case setMuted(Bool, any CaptureSource)
        /// Mute a slate when it is sharp.
        case muteWhenSharp(any CaptureSource)
        case stop(any CaptureSource)
    }

    /// The content that is shared, or will be when the share resumes.
    private(set) var current: OpenedContent
    private(set) var view = View.live
    /// Whether the sources are started. The first viewer starts them.
    private(set) var isCapturing = false

    init(_ content: OpenedContent) { current = content }

    var isPaused: Bool { if case .live = view { false } else { true } }

    var isSlateShown: Bool { if case .slate = view { true } else { false } }

    /// The end of the content's capture. Nil if it runs, or if the share is paused, because another source can replace
    /// it then.
    @SharingActor var end: Result<Void, CaptureSourceError>? { isPaused ? nil : current.observer.end }

    /// The reason why a paused share can't resume with its source. Nil if it can.
    @SharingActor var lossDuringPause: Explanation? {
        guard isPaused, let end = current.observer.end else { return nil }
        return Explanation(
            end.error?.explanation.statement ?? "the source has ended", remedy: "rtcshare switch SPEC")
    }

    /// Returns the answer to a request to pause that changes nothing. Nil if it changes something.
    func noticeOfPause(showingSlate: Bool) throws(CommandFailure) -> String? {
        guard isCapturing else {
            throw CommandFailure(
                .unavailable, "no viewer is connected yet", try: "pause the share when it has a viewer")
        }
        switch view {
        case .live: return nil
        case .held: return showingSlate ? nil : "The share is already paused."
        case .slate: return "The share is already paused: viewers see a slate."
        }
    }

    /// Returns the answer to a request to resume that changes nothing. Nil if it changes something.
    @SharingActor func noticeOfResume() throws(CommandFailure) -> String? {
        if let lossDuringPause { throw CommandFailure(.unavailable, lossDuringPause) }
        return isPaused ? nil : "The share is not paused."
    }

    /// Starts to capture. Returns whether sources must be started.
    mutating func start() -> Bool {
        defer { isCapturing = true }
        return !isCapturing
    }

    mutating func pause() -> [Effect] {
        view = .held(kept: nil)
        return [.setMuted(true, current.source)]
    }

    mutating func pause(showing slate: any CaptureSource) -> [Effect] {
        let stops = stopsOfPause
        view = .slate(slate)
        return [.show(slate, canWait: false), .muteWhenSharp(slate)] + stops
    }

    mutating func resume() -> [Effect] {
        if case .held(kept: nil) = view {
            view = .live
            return [.setMuted(false, current.source)]
        }
        let stops = stopsOfPause
        view = .live
        return [.show(current.source, canWait: current.canWait)] + stops
    }

    mutating func replace(with new: OpenedContent) -> [Effect] {
        let old = current
        current = new
        let preparation = Effect.prepare(new, starts: isCapturing && !new.isStarted)
        switch view {
        case .live: return [preparation, .show(new.source, canWait: new.canWait), .stop(old.source)]
        case .held(kept: nil):
            // The end of the old content must not end the share.
            view = .held(kept: old.source)
            return [preparation]
        case .held, .slate: return [preparation, .stop(old.source)]
        }
    }

    mutating func stop() -> [Effect] {
        defer { isCapturing = false }
        return stopsOfPause + [.stop(current.source)]
    }

    /// The effects that stop the sources of the pause: the kept source, or the slate.
    private var stopsOfPause: [Effect] {
        switch view {
        case .live: []
        case .held(let kept): kept.map { [.stop($0)] } ?? []
        case .slate(let slate): [.stop(slate)]
        }
    }
}
