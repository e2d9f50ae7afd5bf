public import Media
public import PeerConnection
internal import RTP
internal import Synchronization
public import VideoCoding
internal import WireFormat

/// From a source to any number of peers: one encode, one cut into packets, for all of them.
///
///     source ─▶ slot of the newest frame ─▶ encoder's thread ─▶ packets ─▶ each connection's event loop
///
/// The encoder never makes the source or the network wait. What peers ask for comes back here, and nowhere else.
public final class VideoSendPipeline: Sendable {
    private let encoder: VideoEncoderThread
    private let output: Output
    private let source: any CaptureSource
    /// What the source gives its frames to.
    private let sink: any VideoSink
    private let hasStarted = Mutex(false)
    private let endContinuation: AsyncStream<(any Error)?>.Continuation
    /// Yields once, when the source has nothing more to give: nil where it ran out, an error where it failed. Ends with
    /// ``stop()``.
    public let end: AsyncStream<(any Error)?>

    /// Payload bytes of a packet at most: 1200 bytes that every path carries, less the RTP header with all extensions
    /// (36), the prefix of a retransmission (2) and the longest tag of SRTP (16).
    static let maximumPayload = 1200 - 36 - 2 - 16

    /// A pipeline at rest: nothing is captured before ``start()``. With `sourceCanWait`, the source is held up while the
    /// encoder is busy, and none of its frames is replaced by a newer one.
    public init(
        source: any CaptureSource, settings: VideoEncoderThread.Settings, sourceCanWait: Bool = false
    ) throws {
        var random = SystemRandomNumberGenerator()
        let output = Output(counters: VP8PictureCounters(using: &random))
        let (end, continuation) = AsyncStream.makeStream(of: (any Error)?.self)
        self.output = output
        self.source = source
        self.end = end
        endContinuation = continuation
        let encoder = try VideoEncoderThread(settings: settings) {
            output.send($0)
        } onEvent: { event in
            switch event {
            case .failed(let error): continuation.yield(error)
            case .sourceEnded(let error): continuation.yield(error)
            }
        }
        self.encoder = encoder
        sink = sourceCanWait ? FramesInTurn(encoder: encoder) : encoder
    }

    /// Sends what is encoded from now on to this connection too.
    public func attach(_ connection: Connection) {
        output.connections.withLock { $0.append(connection) }
    }

    /// Sends nothing more to this connection.
    public func detach(_ connection: Connection) {
        output.connections.withLock { $0.removeAll { $0 === connection } }
    }

    /// Keeps to what a peer asks, from now on; with several peers, to the strictest of each.
    public func keep(to limits: SendingLimits) {
        let settings = encoder.settings
        let size = source.captureFormat.size.fitted(within: settings.maximumSize)
        encoder.update(
            bitsPerSecond: limits.maximumBitrate.map { min(settings.bitsPerSecond, Int(clamping: $0.bitsPerSecond)) },
            framesPerSecond: limits.maximumFramesPerSecond.map { min(settings.framesPerSecond, $0) },
            maximumSize: limits.maximumMacroblocks.map { size.fitted(withinMacroblocks: $0) })
    }

    /// Begins to capture. A second call does nothing.
    public func start() throws {
        guard
            hasStarted.withLock({ started in
                defer { started = true }
                return !started
            })
        else { return }
        source.add(sink)
        try source.start()
    }

    /// Ends capture and encoding, and returns when their threads have ended.
    public func stop() {
        source.stop()
        source.remove(sink)
        encoder.stop()
        endContinuation.finish()
    }

    /// Has the next frame be a key frame; however many ask before it, one answers.
    public func requestKeyFrame() {
        encoder.requestKeyFrame()
    }

    /// Completes a connection's report with what was captured and encoded for it.
    public func complete(_ report: [StatisticsObject]) -> [StatisticsObject] {
        PipelineStatistics(encoder.statistics, format: source.captureFormat).complete(report)
    }
}

/// Holds the source's thread up until the encoder has taken the frame before.
private final class FramesInTurn: VideoSink {
    private let encoder: VideoEncoderThread
    private static let patience = Duration.seconds(1)

    init(encoder: VideoEncoderThread) {
        self.encoder = encoder
    }

    func receive(_ frame: VideoFrame) { encoder.receiveInTurn(frame, patience: Self.patience) }
    func sourceDidEnd(error: (any Error)?) { encoder.sourceDidEnd(error: error) }
}

/// Where encoded frames go. Called on the encoder's thread alone, but for the list of connections.
private final class Output: Sendable {
    let connections = Mutex<[Connection]>([])
    private let counters: Mutex<VP8PictureCounters>

    init(counters: VP8PictureCounters) {
        self.counters = Mutex(counters)
    }

    func send(_ frame: EncodedVideoFrame) {
        let layer = VP8TemporalLayer(
            index: UInt8(clamping: frame.temporalLayer.id), dependsOnBaseOnly: frame.temporalLayer.isSync)
        let descriptor = counters.withLock { $0.next(isReference: frame.isReference, layer: layer) }
        let packets = PacketizedFrame(
            vp8: frame.data, descriptor: descriptor, isKeyFrame: frame.isKeyFrame, captureTime: frame.timestamp,
            width: frame.size.width, height: frame.size.height, quarterTurns: frame.rotation.rawValue / 90,
            maximumPayloadByteCount: VideoSendPipeline.maximumPayload)
        for connection in connections.withLock({ $0 }) { connection.send(packets) }
    }
}
