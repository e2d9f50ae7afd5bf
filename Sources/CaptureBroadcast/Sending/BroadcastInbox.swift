import RTCShareCapture
import RTCShareLocks
import RTCShareMedia

/// What waits to be sent: written by the source's threads, emptied by the sender's.
final class BroadcastInbox: Sendable {
    /// What the sender takes out at once.
    struct Contents {
        var frame: VideoFrame?
        /// What the frame changes of the one that was taken before.
        var changes = ChangedParts.nothing
        var sounds: [AudioFrame] = []
        var voices: [AudioFrame] = []
        var messages: [BroadcastMessage] = []
        var finished: BroadcastMessage?
    }

    private struct State {
        var contents = Contents()
        var isConnected = false
        /// The app has no picture yet.
        var needsPicture = false
        /// The newest picture that was taken out: a source that does not change gives the next app no other.
        var lastFrame: VideoFrame?
        var framesDropped = 0
        var hint: ContentHint?
        /// Whether the source is muted, and why it is interrupted, where it says so.
        var isMuted = false
        var interruption: CaptureInterruption?
        /// What the app was told last of both.
        var reported: CaptureInterruption?

        /// Tells the app, where it is there, whether the source is interrupted, unless it knows that.
        mutating func reportInterruption() {
            let current = interruption ?? (isMuted ? .sourceMuted : nil)
            guard isConnected, current != reported else { return }
            reported = current
            contents.messages.append(current.map { .interrupted($0) } ?? .resumed)
        }
    }

    /// More blocks of a sound do not wait: a second's.
    private static let mostSounds = 50
    /// Nor do more messages, of which the last ones count.
    private static let mostMessages = 64

    let wake: WakeEvent
    private let state = Locked(State())
    let video: Video
    let audio: Audio
    let microphone: Audio

    init(wake: WakeEvent) {
        self.wake = wake
        video = Video()
        audio = Audio(\.sounds)
        microphone = Audio(\.voices)
        video.inbox.set(self)
        audio.inbox.set(self)
        microphone.inbox.set(self)
    }

    var framesDropped: Int { state.withLock { $0.framesDropped } }

    /// The app knows nothing so far, and needs a picture; or it is gone.
    func setConnected(_ isConnected: Bool) {
        state.withLock { state in
            state.isConnected = isConnected
            state.needsPicture = isConnected
            state.reported = nil
            state.contents.sounds = []
            state.contents.voices = []
            state.contents.messages = []
            guard isConnected else { return }
            if let hint = state.hint { state.contents.messages.append(.hint(hint)) }
            state.reportInterruption()
            if state.contents.frame == nil { state.contents.frame = state.lastFrame }
        }
    }

    /// Takes out what waits: a picture only where there is room for one.
    func take(withFrame: Bool) -> Contents {
        state.withLock { state in
            var taken = state.contents
            state.contents.sounds = []
            state.contents.voices = []
            state.contents.messages = []
            if withFrame {
                state.lastFrame = state.contents.frame ?? state.lastFrame
                state.contents.frame = nil
                state.contents.changes = .nothing
            } else {
                taken.frame = nil
                // Nothing ends before its last picture.
                if state.contents.frame != nil { taken.finished = nil }
            }
            return taken
        }
    }

    /// Puts back a picture that found no room; a newer one that came meanwhile stays.
    func putBack(_ frame: VideoFrame, changes: ChangedParts) {
        state.withLock { state in
            if state.contents.frame == nil { state.contents.frame = frame }
            state.contents.changes.add(changes)
        }
    }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            let surplus = state.contents.messages.count - Self.mostMessages
            if surplus > 0 { state.contents.messages.removeFirst(surplus) }
        }
        wake.signal()
    }

    /// Knows its inbox without keeping it alive.
    struct Owner: Sendable {
        private struct Weak: Sendable {
            weak var inbox: BroadcastInbox?
        }
        private final class Box: Sendable {
            let value = Locked(Weak())
        }
        private let box = Box()

        func set(_ inbox: BroadcastInbox) { box.value.withLock { $0.inbox = inbox } }
        var inbox: BroadcastInbox? { box.value.withLock { $0.inbox } }
    }

    /// The sink of pictures.
    final class Video: VideoSink, CaptureSourceObserver {
        fileprivate let inbox = Owner()

        func receive(_ frame: VideoFrame) {
            inbox.inbox?.change { state in
                if state.contents.frame != nil { state.framesDropped += 1 }
                let sizeBefore = state.contents.frame?.size ?? frame.size
                state.contents.changes.add(
                    sizeBefore == frame.size ? ChangedParts(parts: frame.damage) : .everything)
                state.contents.frame = frame
                state.needsPicture = false
            }
        }

        func sourceDidEnd(error: (any Error)?) {
            inbox.inbox?.change { $0.contents.finished = .finished(error: error.map { "\($0)" }) }
        }

        func contentHintDidChange(_ hint: ContentHint) {
            inbox.inbox?.change { state in
                state.hint = hint
                if state.isConnected { state.contents.messages.append(.hint(hint)) }
            }
        }

        var demand: FrameDemand {
            inbox.inbox?.state.withLock { state in
                guard state.isConnected, state.contents.frame == nil else { return .nothing }
                return state.needsPicture ? .picture : .changes
            } ?? .nothing
        }

        func muteDidChange(_ isMuted: Bool) {
            inbox.inbox?.change { state in
                state.isMuted = isMuted
                state.reportInterruption()
            }
        }

        func captureWasInterrupted(by interruption: CaptureInterruption) {
            inbox.inbox?.change { state in
                state.interruption = interruption
                state.reportInterruption()
            }
        }

        func captureInterruptionDidEnd(_ interruption: CaptureInterruption) {
            inbox.inbox?.change { state in
                state.interruption = nil
                state.reportInterruption()
            }
        }
    }

    /// The sink of a sound.
    final class Audio: AudioSink {
        fileprivate let inbox = Owner()
        private let blocks: any WritableKeyPath<Contents, [AudioFrame]> & Sendable

        /// A sink that has blocks wait in `blocks`.
        fileprivate init(_ blocks: any WritableKeyPath<Contents, [AudioFrame]> & Sendable) {
            self.blocks = blocks
        }

        func receive(_ frame: AudioFrame) {
            inbox.inbox?.change { state in
                guard state.isConnected else { return }
                state.contents[keyPath: blocks].append(frame)
                if state.contents[keyPath: blocks].count > mostSounds { state.contents[keyPath: blocks].removeFirst() }
            }
        }
    }
}
