import RTCShareCapture
import RTCShareLocks
import RTCShareMedia

/// The frame, audio and messages that wait to be sent: written by the source's threads, read by the sender's.
final class BroadcastInbox: Sendable {
    /// The content that the sender takes at once.
    struct Contents {
        var frame: VideoFrame?
        /// The changes of the frame since the last one that was taken.
        var changes = ChangedParts.nothing
        var sounds: [AudioFrame] = []
        var voices: [AudioFrame] = []
        var messages: [BroadcastMessage] = []
        var finished: BroadcastMessage?
    }

    private struct State {
        var contents = Contents()
        var isConnected = false
        /// Whether the sharing process has no frame yet.
        var needsPicture = false
        /// The newest frame that was taken: an idle source sends no other to the next sharing process.
        var lastFrame: VideoFrame?
        var framesDropped = 0
        var hint: ContentHint?
        /// Whether the source is muted and, if it reports that, why it is interrupted.
        var isMuted = false
        var interruption: CaptureInterruption?
        /// The state of both that was reported last.
        var reported: CaptureInterruption?

        /// Reports a change of the interruption to the sharing process, if it is connected.
        mutating func reportInterruption() {
            let current = interruption ?? (isMuted ? .sourceMuted : nil)
            guard isConnected, current != reported else { return }
            reported = current
            contents.messages.append(current.map { .interrupted($0) } ?? .resumed)
        }
    }

    /// The maximum number of waiting audio blocks: those of a second.
    private static let mostSounds = 50
    /// The maximum number of waiting messages, of which the last ones count.
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

    /// Records that a sharing process has connected, which has no state and no frame yet, or has disconnected.
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

    /// Takes the waiting content: a frame only if there is room for one.
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
                // The end is sent after the last frame.
                if state.contents.frame != nil { taken.finished = nil }
            }
            return taken
        }
    }

    /// Returns a frame that found no room; a newer one that arrived in between stays.
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

    /// A weak reference to the inbox.
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

    /// The sink of frames.
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

    /// The sink of audio.
    final class Audio: AudioSink {
        fileprivate let inbox = Owner()
        private let blocks: any WritableKeyPath<Contents, [AudioFrame]> & Sendable

        /// Creates a sink whose blocks wait in `blocks`.
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
