public import FoundationEssentials
public import RTCShareCapture
import RTCShareLocks
public import RTCShareMedia

/// Hands what it is given to an app that shares it: the extension's side of a broadcast.
///
/// It has a sink for a picture's source, and two for sounds: of what is shared, and of a microphone. Frames never wait in a
/// row: one is under way, the newest waits, and what those in between changed is not forgotten. Where the app is not there,
/// or goes, it tries again until it is; meanwhile its source is told that nothing is of use. An app that comes is given the
/// last picture.
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

    /// Takes pictures: add it to a source. A source that ends ends the share at the app; one that is muted pauses it.
    public var video: any VideoSink { inbox.video }
    /// Takes the sound of what is shared: add it to a source. The app has it as ``BroadcastSource/sound``.
    public var audio: any AudioSink { inbox.audio }
    /// Takes the sound of a microphone: add it to a source. The app has it as ``BroadcastSource/microphone``.
    public var microphone: any AudioSink { inbox.microphone }
    /// Takes note of why a source is interrupted, which the app is told: add it to a source as an observer.
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
    /// Does nothing.
    public func broadcastSenderDidConnect() {}
    /// Does nothing.
    public func broadcastSenderIsWaiting(reason: String) {}
    /// Does nothing.
    public func broadcastSenderDidEnd(error: BroadcastError?) {}
}
