internal import RTCShareCapture
internal import RTCShareCaptureBroadcast
internal import RTCShareContentShare
internal import RTCShareLocks
internal import RTCShareMedia
internal import RTCShareWireFormat

/// Tells the person at the terminal what happens to the source of a share, and the share that it has ended.
final class CaptureReporter: CaptureSourceObserver, BroadcastObserver {
    private struct State {
        /// Whether the source is shared. What happens to one that is not is nobody's business yet.
        var isInPlace = false
        var interruption: CaptureInterruption?
        /// The size that was told last.
        var reportedSize: PixelSize
        /// How often the size has changed.
        var changes = 0
        var end: Result<Void, CaptureSourceError>?
    }

    private let state: Locked<State>
    /// A window that a person resizes has another size many times a second: the one at which it rests is told.
    private static let restTime = Duration.milliseconds(500)

    /// How the capture ended; nil while it has not.
    var end: Result<Void, CaptureSourceError>? { state.withLock { $0.end } }

    /// What the source stands still for, or where it is; nil where it goes on.
    var interruption: CaptureInterruption? { state.withLock { $0.interruption } }

    /// Called when the capture has ended.
    private let onEnd: @Sendable () -> Void
    /// Whether the person has said how large the picture may be.
    private let isSizeChosen: Bool

    init(_ source: any CaptureSource, isSizeChosen: Bool, onEnd: @escaping @Sendable () -> Void) {
        self.onEnd = onEnd
        self.isSizeChosen = isSizeChosen
        state = Locked(State(reportedSize: source.captureFormat.size))
        source.add(observer: self)
        (source as? BroadcastSource)?.add(broadcastObserver: self)
    }

    /// Says what a person should know of a source that is shared from now on.
    func introduce(_ source: any CaptureSource) {
        let interruption = state.withLock { state in
            state.isInPlace = true
            return state.interruption
        }
        if let interruption { captureWasInterrupted(by: interruption) }
        let size = source.captureFormat.size
        if let note = shrinkage(of: size) { Terminal.shared.say("The source is \(size). \(note)") }
        if let broadcast = source as? BroadcastSource {
            Terminal.shared.say("Waiting for the capturing process at \(broadcast.endpoint).")
        }
    }

    func captureDidStop() { didEnd(.success(())) }

    func captureDidFail(error: CaptureSourceError) {
        // Capture continues after a frame that was left out.
        if error.kind != .invalidFrame { didEnd(.failure(error)) }
    }

    /// Tells the person, if the source is shared.
    private func say(_ text: String) {
        if state.withLock(\.isInPlace) { Terminal.shared.say(text) }
    }

    private func didEnd(_ end: Result<Void, CaptureSourceError>) {
        state.withLock { $0.end = end }
        onEnd()
    }

    func captureWasInterrupted(by interruption: CaptureInterruption) {
        state.withLock { $0.interruption = interruption }
        switch interruption {
        case .movedOffScreen:
            say("The window was moved off the screen. Viewers still see it.")
        case .minimised, .awaitingChoice, .awaitingPicture, .heldByDesktop, .extensionAway, .cameraAway, .displayAway,
            .sourceMuted, .soundAway:
            say("The video is paused: \(interruption).")
        }
    }

    func captureInterruptionDidEnd(_ interruption: CaptureInterruption) {
        state.withLock { $0.interruption = nil }
        switch interruption {
        case .movedOffScreen: say("The window is back on the screen.")
        case .minimised, .awaitingChoice, .awaitingPicture, .heldByDesktop, .extensionAway, .cameraAway, .displayAway,
            .sourceMuted, .soundAway:
            say("The video continues.")
        }
    }

    func captureSizeDidChange(to size: PixelSize) {
        let change = state.withLock { state in
            state.changes += 1
            return state.changes
        }
        Task { [weak self] in
            try? await Task.sleep(for: Self.restTime)
            self?.report(size, change: change)
        }
    }

    private func report(_ size: PixelSize, change: Int) {
        let isNews = state.withLock { state in
            guard state.changes == change, state.reportedSize != size else { return false }
            state.reportedSize = size
            return true
        }
        guard isNews else { return }
        say("The source is now \(size)." + (shrinkage(of: size).map { " \($0)" } ?? ""))
    }

    /// What a person should know of a source that is larger than the video.
    private func shrinkage(of size: PixelSize) -> String? {
        let sent = size.fitted(within: VideoEncodingParameters.usualSize)
        guard !isSizeChosen, sent != size else { return nil }
        return "The video is scaled to \(sent). To send the full size, add --size \(size)."
    }

    func broadcastDidStart(transport: BroadcastTransport) {
        Terminal.shared.say("The capturing process is connected over \(transport.rawValue).")
    }

    func broadcastDidFail(error: BroadcastError) {
        let refusal = Explanation(
            "a capturing process was refused: \(error.reason)", remedy: error.explanation.remedy)
        Terminal.shared.say(CommandFailure(.notPermitted, refusal).lines(after: "Warning: "))
    }
}
