public import FoundationEssentials
public import RTCShareCapture
import RTCShareLocks
public import RTCShareMedia

/// Sends frames and audio to a process that shares them: the sending side of a connection between a capturing and a
/// sharing process.
///
/// It has a sink for a video source, and two for audio: that of the shared content, and that of a microphone. Frames do
/// not queue up: one is under way, the newest waits, and the changes of those in between are added to it. If the
/// sharing process is missing, or ends, the sender retries; until then, it has no demand for frames. A sharing process
/// that connects receives the last frame.
public final class BroadcastSender: Sendable {
    /// The address of the sharing process.
    public let endpoint: BroadcastEndpoint
    /// The transport of frames.
    public let transport: BroadcastTransport
    private let tokens: BroadcastTokens
    private let environment: [String: String]
    private let inbox: BroadcastInbox
    private let thread = CaptureThread()
    private let observers = ObserverList<any BroadcastSenderObserver>()

    /// Creates a sender to the sharing process at `endpoint`. Shared memory requires a Unix domain socket: for a port,
    /// it is the one of that number.
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

    /// The sink for frames. Add it to a source. If the source ends, so does the share; if it is muted, the share is
    /// paused.
    public var video: any VideoSink { inbox.video }
    /// The sink for the audio of the shared content. Add it to a source. The sharing process has it as
    /// ``BroadcastSource/sound``.
    public var audio: any AudioSink { inbox.audio }
    /// The sink for the audio of a microphone. Add it to a source. The sharing process has it as
    /// ``BroadcastSource/microphone``.
    public var microphone: any AudioSink { inbox.microphone }
    /// The observer of a source's interruptions, which are sent to the sharing process. Add it to a source.
    public var captureObserver: any CaptureSourceObserver { inbox.video }

    /// Adds an observer of the connection.
    public func add(observer: any BroadcastSenderObserver) { observers.add(observer) }

    /// Removes an observer.
    public func remove(observer: any BroadcastSenderObserver) { observers.remove(observer) }

    /// The number of frames that newer ones replaced before they were sent.
    public var framesDropped: Int { inbox.framesDropped }

    /// Starts to connect to the sharing process.
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

    /// Stops the sender. The share is shown as paused until a capturing process connects again.
    public func stop() { thread.stop() }
}

/// An observer of a ``BroadcastSender``, which is called sequentially, on the sender's thread.
public protocol BroadcastSenderObserver: AnyObject, Sendable {
    /// Called when the sharing process has admitted this one.
    func broadcastSenderDidConnect()
    /// Called when the sharing process is missing, or has disconnected; `reason` is for people. The sender retries.
    func broadcastSenderIsWaiting(reason: String)
    /// Called at the end: of the share, of the source, by a stop, or with an error that retries can't resolve.
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
