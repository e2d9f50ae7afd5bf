public import FoundationEssentials
internal import Glibc
public import RTCShareCapture
import RTCShareLocks
public import RTCShareMedia

/// Hands what it is given to an app that shares it: the extension's side of a broadcast.
///
/// It is a sink for a picture's source, and has one for a sound's. Frames never wait in a row: one is under way, the newest
/// waits, and what those in between changed is not forgotten. Where the app is not there, or goes, it tries again until it
/// is; meanwhile its source is told that nothing is of use.
public final class BroadcastSender: Sendable {
    /// Where the app is.
    public let endpoint: BroadcastEndpoint
    /// How frames go.
    public let transport: BroadcastTransport
    private let tokens: BroadcastTokens
    private let environment: [String: String]
    private let inbox: BroadcastInbox
    private let thread = CaptureThread()
    private let observers = ObserverList<any BroadcastSenderObserver>()

    /// A sender to the app at `endpoint`, which shared memory reaches through a Unix domain socket alone: of a port, the
    /// one beside it.
    public init(
        endpoint: BroadcastEndpoint, tokens: BroadcastTokens, transport: BroadcastTransport = .tcp,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(BroadcastError) {
        if case .path(let path) = endpoint { _ = try SocketAddress.path(path) }
        self.endpoint = endpoint
        self.tokens = tokens
        self.transport = transport
        self.environment = environment
        inbox = BroadcastInbox(wake: try WakeEvent())
    }

    /// Takes pictures: add it to a source. A source that ends ends the share at the app.
    public var video: any VideoSink { inbox.video }
    /// Takes sound: add it to a source.
    public var audio: any AudioSink { inbox.audio }
    /// Hears of a source's interruptions, which the app is told: add it to a source as an observer.
    public var captureObserver: any CaptureSourceObserver { inbox.video }

    /// Tells `observer` how it goes from now on.
    public func add(observer: any BroadcastSenderObserver) { observers.add(observer) }

    /// Tells `observer` nothing more.
    public func remove(observer: any BroadcastSenderObserver) { observers.remove(observer) }

    /// Frames that newer ones replaced before they left.
    public var framesDropped: Int { inbox.framesDropped }

    /// Begins to look for the app.
    public func start() throws(CaptureError) {
        let (endpoint, tokens, transport, inbox, observers) = (endpoint, tokens, transport, inbox, observers)
        let environment = environment
        try thread.start { signal in
            let run = BroadcastSending(
                endpoint: endpoint, tokens: tokens, transport: transport, environment: environment, inbox: inbox,
                observers: observers)
            var failure: BroadcastError?
            do throws(BroadcastError) {
                try run.run(until: signal)
            } catch {
                failure = error
            }
            signal.finish()
            observers.forEach { $0.broadcastSenderDidEnd(error: failure) }
        }
    }

    /// Ends it: the app shows the share as paused, until an extension comes again.
    public func stop() { thread.stop() }
}

/// Hears how a ``BroadcastSender`` fares, one call after the other, on its thread.
public protocol BroadcastSenderObserver: AnyObject, Sendable {
    /// The app has let the extension in.
    func broadcastSenderDidConnect()
    /// The app is not there, or is no longer: why, for a person. It is looked for.
    func broadcastSenderIsWaiting(reason: String)
    /// It is over: the share has ended, the source has, it was stopped; or with an error that trying again won't mend.
    func broadcastSenderDidEnd(error: BroadcastError?)
}

extension BroadcastSenderObserver {
    /// Nothing is done.
    public func broadcastSenderDidConnect() {}
    /// Nothing is done.
    public func broadcastSenderIsWaiting(reason: String) {}
    /// Nothing is done.
    public func broadcastSenderDidEnd(error: BroadcastError?) {}
}

/// What waits to be sent: written by the source's threads, emptied by the sender's.
final class BroadcastInbox: Sendable {
    /// What the sender takes out at once.
    struct Contents {
        var frame: VideoFrame?
        /// What the frame changes of the one that was taken before.
        var changes = ChangedParts.nothing
        var sounds: [AudioFrame] = []
        var messages: [BroadcastMessage] = []
        var finished: BroadcastMessage?
    }

    private struct State {
        var contents = Contents()
        var isConnected = false
        /// The app has no picture yet.
        var needsPicture = false
        var framesDropped = 0
        var hint: ContentHint?
        var interruption: CaptureInterruption?
    }

    /// More blocks of sound do not wait: a second's.
    private static let mostSounds = 50
    /// Nor do more messages, of which the last ones count.
    private static let mostMessages = 64

    let wake: WakeEvent
    private let state = Locked(State())
    let video: Video
    let audio: Audio

    init(wake: WakeEvent) {
        self.wake = wake
        video = Video()
        audio = Audio()
        video.inbox.set(self)
        audio.inbox.set(self)
    }

    var framesDropped: Int { state.withLock { $0.framesDropped } }

    /// The app was let know of nothing so far, and has a use for a picture; or it is gone.
    func setConnected(_ isConnected: Bool) {
        state.withLock { state in
            state.isConnected = isConnected
            state.needsPicture = isConnected
            state.contents.sounds = []
            state.contents.messages = []
            guard isConnected else { return }
            if let hint = state.hint { state.contents.messages.append(.hint(hint)) }
            if let interruption = state.interruption { state.contents.messages.append(.interrupted(interruption)) }
        }
    }

    /// Takes out what waits: a picture only where there is room for one.
    func take(withFrame: Bool) -> Contents {
        state.withLock { state in
            var taken = state.contents
            state.contents.sounds = []
            state.contents.messages = []
            if withFrame {
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

        func captureWasInterrupted(by interruption: CaptureInterruption) {
            inbox.inbox?.change { state in
                state.interruption = interruption
                if state.isConnected { state.contents.messages.append(.interrupted(interruption)) }
            }
        }

        func captureInterruptionDidEnd(_ interruption: CaptureInterruption) {
            inbox.inbox?.change { state in
                state.interruption = nil
                if state.isConnected { state.contents.messages.append(.resumed) }
            }
        }
    }

    /// The sink of sound.
    final class Audio: AudioSink {
        fileprivate let inbox = Owner()

        func receive(_ frame: AudioFrame) {
            inbox.inbox?.change { state in
                guard state.isConnected else { return }
                state.contents.sounds.append(frame)
                if state.contents.sounds.count > mostSounds { state.contents.sounds.removeFirst() }
            }
        }
    }
}
