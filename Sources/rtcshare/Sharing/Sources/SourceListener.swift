internal import RTCShareLocks
internal import RTCShareMedia

/// Tells the person at the terminal what happens to a sound or a camera, and the share when it ends, which is no end of the
/// share.
final class SourceListener: CaptureSourceObserver {
    /// The role of the source.
    enum Role: String, Sendable {
        case sound = "audio", microphone, camera

        /// Its name in a sentence.
        fileprivate var name: String { self == .camera ? "your camera" : "the \(rawValue)" }
    }

    let role: Role
    private let events: AsyncStream<Share.Occurrence>.Continuation
    private struct State {
        /// Whether the source is sent. What happens to one that is not is nobody's business yet.
        var isInPlace: Bool
        var interruption: CaptureInterruption?
        var end: Result<Void, CaptureSourceError>?
    }

    private let state: Locked<State>

    init(_ role: Role, _ events: AsyncStream<Share.Occurrence>.Continuation, isInPlace: Bool = true) {
        (self.role, self.events) = (role, events)
        state = Locked(State(isInPlace: isInPlace))
    }

    /// The source is sent from now on.
    func enter() {
        let end = state.withLock { state in
            state.isInPlace = true
            return state.end
        }
        if let end { events.yield(.otherSourceEnded(self, end.error)) }
    }

    /// Why the source gives nothing; nil while it does.
    var interruption: CaptureInterruption? { state.withLock { $0.interruption } }

    /// How the source ended; nil while it has not.
    var end: Result<Void, CaptureSourceError>? { state.withLock { $0.end } }

    func captureDidStop() { didEnd(.success(())) }

    func captureDidFail(error: CaptureSourceError) {
        // Capture continues after a frame that was left out.
        if error.kind != .invalidFrame { didEnd(.failure(error)) }
    }

    private func didEnd(_ end: Result<Void, CaptureSourceError>) {
        let isInPlace = state.withLock { state in
            state.end = end
            return state.isInPlace
        }
        if isInPlace { events.yield(.otherSourceEnded(self, end.error)) }
    }

    func captureWasInterrupted(by interruption: CaptureInterruption) {
        guard set(interruption) else { return }
        Terminal.shared.say("The share continues without \(role.name): \(interruption).")
    }

    func captureInterruptionDidEnd(_ interruption: CaptureInterruption) {
        guard set(nil) else { return }
        Terminal.shared.say(role == .camera ? "Your camera is back." : "The \(role.rawValue) is back.")
    }

    /// Returns whether the source is sent.
    private func set(_ interruption: CaptureInterruption?) -> Bool {
        state.withLock { state in
            state.interruption = interruption
            return state.isInPlace
        }
    }
}

extension Result<Void, CaptureSourceError> {
    /// Why a capture ended; nil where it was meant to.
    var error: CaptureSourceError? { if case .failure(let error) = self { error } else { nil } }
}
