internal import RTCShareLocks
internal import RTCShareMedia

/// Tells the person at the terminal what happens to a sound or a camera, and the share when it ends, which is no end of the
/// share.
final class SourceListener: CaptureSourceObserver {
    /// What the source is for.
    enum Role: String, Sendable {
        case sound = "audio", microphone, camera

        /// Its name in a sentence.
        fileprivate var name: String { self == .camera ? "your camera" : "the \(rawValue)" }
    }

    let role: Role
    private let events: AsyncStream<Share.Occurrence>.Continuation
    private let state = Locked<(interruption: CaptureInterruption?, end: Result<Void, CaptureSourceError>?)>((nil, nil))

    init(_ role: Role, _ events: AsyncStream<Share.Occurrence>.Continuation) {
        (self.role, self.events) = (role, events)
    }

    /// Why the source gives nothing; nil while it does.
    var interruption: CaptureInterruption? { state.withLock { $0.interruption } }

    /// How the source ended; nil while it has not.
    var end: Result<Void, CaptureSourceError>? { state.withLock { $0.end } }

    func captureDidStop() {
        state.withLock { $0.end = .success(()) }
        events.yield(.otherSourceEnded(self, nil))
    }

    func captureDidFail(error: CaptureSourceError) {
        // Capture continues after a frame that was left out.
        guard error.kind != .invalidFrame else { return }
        state.withLock { $0.end = .failure(error) }
        events.yield(.otherSourceEnded(self, error))
    }

    func captureWasInterrupted(by interruption: CaptureInterruption) {
        state.withLock { $0.interruption = interruption }
        Terminal.shared.say("The share continues without \(role.name): \(interruption).")
    }

    func captureInterruptionDidEnd(_ interruption: CaptureInterruption) {
        state.withLock { $0.interruption = nil }
        Terminal.shared.say(role == .camera ? "Your camera is back." : "The \(role.rawValue) is back.")
    }
}
