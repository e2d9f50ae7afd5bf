public import Media
public import PeerConnection
internal import RTP
internal import Synchronization
public import VideoCoding
internal import WireFormat

/// From a track to any number of peers: one encode, one cut into packets, for all of them.
///
///     track ─▶ slot of the newest frame ─▶ encoder's thread ─▶ packets ─▶ each connection's event loop
///
/// The encoder never makes the source or the network wait. The track can be replaced while it runs; what peers ask for
/// comes back here, and nowhere else.
public final class VideoSendPipeline: Sendable {
    /// What happens to what is sent.
    public enum Event: Sendable {
        /// The first frame of this track has left the encoder.
        case began(VideoTrack)
        /// The present track has nothing more to give: with an error where that was not asked for. The last picture
        /// stays with the viewers.
        case ended((any Error)?)
        /// A frame could not be encoded. The next one is tried.
        case failed(VideoCodingError)
    }

    private struct State {
        var wanted: VideoEncoderThread.Settings
        var inlet: Inlet?
        /// What each connection asks for.
        var limits: [ObjectIdentifier: SendingLimits] = [:]
        /// What each connection's path has for this.
        var targets: [ObjectIdentifier: BitrateTarget] = [:]
        var isMuted = false
        var isStopped = false

        /// What is wanted, as far as all paths and peers allow it.
        var allowedSettings: VideoEncoderThread.Settings {
            var settings = wanted
            for target in targets.values {
                settings.bitsPerSecond = min(settings.bitsPerSecond, Int(clamping: target.bitrate.bitsPerSecond))
            }
            for limit in limits.values {
                if let rate = limit.maximumBitrate {
                    settings.bitsPerSecond = min(settings.bitsPerSecond, Int(clamping: rate.bitsPerSecond))
                }
                if let rate = limit.maximumFramesPerSecond {
                    settings.framesPerSecond = min(settings.framesPerSecond, rate)
                }
                if let blocks = limit.maximumMacroblocks {
                    settings.maximumSize = settings.maximumSize.fitted(withinMacroblocks: blocks)
                }
                // A viewer that was not told how the picture stands has to be given it upright.
                if !limit.acceptsOrientation { settings.turnsPictures = true }
            }
            return settings
        }
    }

    private let encoder: VideoEncoderThread
    private let output: Output
    private let state: Mutex<State>
    private let continuation: AsyncStream<Event>.Continuation
    /// What happens, in order. One reader. Ends with ``stop()``.
    public let events: AsyncStream<Event>

    /// Payload bytes of a packet at most: 1200 bytes that every path carries, less the RTP header with all extensions
    /// (36), the prefix of a retransmission (2) and the longest tag of SRTP (16).
    static let maximumPayload = 1200 - 36 - 2 - 16

    /// A pipeline without a track.
    public init(settings: VideoEncoderThread.Settings) throws(VideoCodingError) {
        var random = SystemRandomNumberGenerator()
        // Who reads late, or never, has missed what is long past.
        let (events, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(32))
        let output = Output(counters: VP8PictureCounters(using: &random)) { continuation.yield(.began($0)) }
        self.output = output
        self.events = events
        self.continuation = continuation
        state = Mutex(State(wanted: settings))
        encoder = try VideoEncoderThread(settings: settings) {
            output.send($0)
        } onEvent: { event in
            switch event {
            case .failed(let error): continuation.yield(.failed(error))
            case .sourceEnded(let error): continuation.yield(.ended(error))
            }
        }
    }

    deinit {
        stop()
    }

    /// The track whose pictures are sent.
    public var track: VideoTrack? { state.withLock { $0.inlet?.track } }

    /// Sends this track's pictures in place of those before, in the same stream, without a new description (W3C webrtc
    /// `replaceTrack`). Without a track, viewers keep the last picture. With `sourceCanWait`, the source is held up while
    /// the encoder is busy, and none of its frames is replaced by a newer one.
    public func replaceTrack(with track: VideoTrack?, sourceCanWait: Bool = false) {
        let inlet = track.map { track in
            Inlet(track: track, encoder: encoder, sourceCanWait: sourceCanWait) { [weak self] in self?.muteDidChange($0)
            }
        }
        let (previous, isStopped) = state.withLock { state in
            let previous = state.inlet
            if !state.isStopped {
                state.inlet = inlet
                state.isMuted = false
            }
            return (previous, state.isStopped)
        }
        guard !isStopped else { return }
        if let previous {
            previous.close()
            previous.track.remove(previous)
        }
        // What the track before showed is nobody's business any more, whoever asks for a key frame.
        encoder.forgetPicture()
        tellDemand()
        guard let inlet else { return output.awaitFirstFrame(of: nil) }
        output.awaitFirstFrame(of: inlet.track)
        inlet.track.add(inlet)
    }

    /// Sends what is encoded from now on to this connection too, as its media of this index. Where the path has less than
    /// all that is sent there would use, `priority` says who goes first.
    public func attach(_ connection: Connection, media: Int, priority: BitratePriority = .medium) {
        let destination = Output.Destination(connection: connection, media: media, priority: priority)
        output.destinations.withLock { $0.append(destination) }
        tellDemand()
    }

    /// Sends nothing more to this connection.
    public func detach(_ connection: Connection) {
        output.destinations.withLock { $0.removeAll { $0.connection === connection } }
        state.withLock {
            $0.limits[ObjectIdentifier(connection)] = nil
            $0.targets[ObjectIdentifier(connection)] = nil
        }
        applySettings()
    }

    /// Keeps to what a connection's peer asks, from now on; with several, to the strictest of each.
    public func keep(to limits: SendingLimits, of connection: Connection) {
        state.withLock { $0.limits[ObjectIdentifier(connection)] = limits }
        applySettings()
        tellDemand()
    }

    /// Keeps to what a connection's path has for this, from the next picture on; with several, to the least. While a
    /// connection's queue is full nothing is encoded, and frames are dropped but for the newest.
    public func keep(to target: BitrateTarget, of connection: Connection) {
        state.withLock { $0.targets[ObjectIdentifier(connection)] = target }
        applySettings()
    }

    /// What is wanted of the encoder, before the peers' limits.
    public var settings: VideoEncoderThread.Settings { state.withLock { $0.wanted } }

    /// Changes what is wanted of the running encoder.
    public func update(_ change: (inout VideoEncoderThread.Settings) -> Void) {
        state.withLock { change(&$0.wanted) }
        applySettings()
        tellDemand()
    }

    private func muteDidChange(_ isMuted: Bool) {
        state.withLock { $0.isMuted = isMuted }
        tellDemand()
    }

    /// Below this no picture is worth sending.
    private static let leastBitrate = DataRate.kilobitsPerSecond(30)

    /// Tells each connection what this would use of its path: nothing while there is nothing to show. In one piece, as
    /// ``applySettings()``.
    private func tellDemand() {
        state.withLock { state in
            let isIdle = state.inlet == nil || state.isMuted
            for destination in output.destinations.withLock({ $0 }) {
                var demand = BitrateDemand.zero
                if !isIdle {
                    let limit = state.limits[ObjectIdentifier(destination.connection)]?.maximumBitrate
                    let rate = DataRate.bitsPerSecond(max(state.wanted.bitsPerSecond, 0))
                    let maximum = min(rate, limit ?? rate)
                    demand = BitrateDemand(
                        minimum: min(Self.leastBitrate, maximum), maximum: maximum, priority: destination.priority)
                }
                destination.connection.setDemand(demand, media: destination.media)
            }
        }
    }

    /// Brings the encoder to what is wanted and allowed now. In one piece with finding that out: of two who do so at the
    /// same time, the later has the last word.
    private func applySettings() {
        state.withLock { state in
            encoder.apply(state.allowedSettings)
            encoder.queueDidFill(state.targets.values.contains { $0.isQueueFull })
        }
    }

    /// Has the next frame be a key frame; however many ask before it, one answers.
    public func requestKeyFrame() {
        encoder.requestKeyFrame()
    }

    /// Ends encoding, and returns when its thread has ended.
    public func stop() {
        replaceTrack(with: nil)
        state.withLock { $0.isStopped = true }
        encoder.stop()
        continuation.finish()
    }

    /// Completes a connection's report with what was encoded for its media of this index.
    public func complete(_ report: [StatisticsObject], media: Int) -> [StatisticsObject] {
        PipelineStatistics(encoder.statistics, targetBitrate: encoder.settings.bitsPerSecond).complete(
            report, media: media)
    }
}

/// Stands between one track and the encoder, and lets nothing through once another track took its place.
private final class Inlet: VideoSink {
    let track: VideoTrack
    private let encoder: VideoEncoderThread
    private let sourceCanWait: Bool
    private let tellMute: @Sendable (Bool) -> Void
    private let isClosed = Atomic(false)
    /// How long a source that can wait is held up at most.
    private static let patience = Duration.seconds(1)

    init(
        track: VideoTrack, encoder: VideoEncoderThread, sourceCanWait: Bool,
        muteDidChange: @escaping @Sendable (Bool) -> Void
    ) {
        self.track = track
        tellMute = muteDidChange
        self.encoder = encoder
        self.sourceCanWait = sourceCanWait
    }

    func close() { isClosed.store(true, ordering: .releasing) }

    private var isOpen: Bool { !isClosed.load(ordering: .acquiring) }

    var demand: FrameDemand { isOpen ? encoder.demand : .nothing }

    func receive(_ frame: VideoFrame) {
        guard isOpen else { return }
        if sourceCanWait {
            encoder.receiveInTurn(frame, patience: Self.patience)
        } else {
            encoder.receive(frame)
        }
    }

    func sourceDidEnd(error: (any Error)?) {
        if isOpen { encoder.sourceDidEnd(error: error) }
    }

    func contentHintDidChange(_ hint: ContentHint) {
        if isOpen { encoder.contentHintDidChange(hint) }
    }

    func muteDidChange(_ isMuted: Bool) {
        guard isOpen else { return }
        encoder.muteDidChange(isMuted)
        tellMute(isMuted)
    }
}

/// Where encoded frames go. Called on the encoder's thread alone, but for what is locked.
private final class Output: Sendable {
    struct Destination {
        let connection: Connection
        let media: Int
        let priority: BitratePriority
    }

    let destinations = Mutex<[Destination]>([])
    private let counters: Mutex<VP8PictureCounters>
    /// The track of which nothing has left yet.
    private let awaited = Mutex<VideoTrack?>(nil)
    private let began: @Sendable (VideoTrack) -> Void

    init(counters: VP8PictureCounters, began: @escaping @Sendable (VideoTrack) -> Void) {
        self.counters = Mutex(counters)
        self.began = began
    }

    func awaitFirstFrame(of track: VideoTrack?) {
        awaited.withLock { $0 = track }
    }

    func send(_ frame: EncodedVideoFrame) {
        let layer = VP8TemporalLayer(
            index: UInt8(clamping: frame.temporalLayer.id), dependsOnBaseOnly: frame.temporalLayer.isSync)
        let descriptor = counters.withLock { $0.next(isReference: frame.isReference, layer: layer) }
        let packets = PacketizedFrame(
            vp8: frame.data, descriptor: descriptor, isKeyFrame: frame.isKeyFrame, captureTime: frame.timestamp,
            width: frame.size.width, height: frame.size.height, quarterTurns: frame.rotation.rawValue / 90,
            maximumPayloadByteCount: VideoSendPipeline.maximumPayload)
        Connection.send(packets, to: destinations.withLock { $0.map { ($0.connection, $0.media) } })
        if let track = awaited.withLock({ $0.take() }) { began(track) }
    }
}
