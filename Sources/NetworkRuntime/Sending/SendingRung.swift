internal import Locks
internal import Media
internal import PeerConnection
internal import RTP
internal import Synchronization
internal import VideoCoding

/// One encode of a track, and the connections that it goes to.
final class SendingRung: Sendable {
    /// Where encoded frames go.
    struct Destination {
        let connection: Connection
        let media: Int
        let priority: BitratePriority
    }

    /// Which of the pipeline's rungs it is for.
    let index: Int
    /// Tells its frames from those of all other encodes of the pipeline.
    let stream: Int
    let encoder: VideoEncoderThread
    private let output: RungOutput
    private let inlet = Locked(Inlet())

    private struct Inlet {
        var current: TrackInlet?
        var isRetired = false
    }

    /// Begins an encoder's thread, whose frames are of a `stream` of their own. The closures are called on it: `didSend`
    /// with each frame, and with whom it began to go to.
    init(
        index: Int, stream: Int, settings: VideoEncoderThread.Settings,
        didSend: @escaping @Sendable (_ track: VideoTrack?, _ joined: [Destination]) -> Void,
        onEvent: @escaping @Sendable (VideoEncoderThread.Event) -> Void
    ) throws(VideoCodingError) {
        var random = SystemRandomNumberGenerator()
        let output = RungOutput(stream: stream, counters: VP8PictureCounters(using: &random), didSend: didSend)
        self.index = index
        self.stream = stream
        self.output = output
        encoder = try VideoEncoderThread(settings: settings, onFrame: { output.send($0) }, onEvent: onEvent)
    }

    /// The track whose pictures are encoded.
    var track: VideoTrack? { inlet.withLock { $0.current?.track } }

    /// Whether that track has given a picture.
    var hasPicture: Bool { inlet.withLock { $0.current?.hasPicture ?? false } }

    /// Encodes another track's pictures, or none. Of the one before nothing comes after this.
    func show(_ track: VideoTrack?, sourceCanWait: Bool, muteDidChange: @escaping @Sendable (Bool) -> Void) {
        let new = track.map {
            TrackInlet(track: $0, encoder: encoder, sourceCanWait: sourceCanWait, muteDidChange: muteDidChange)
        }
        let previous = inlet.withLock { inlet in
            guard !inlet.isRetired else { return inlet.current }
            defer { inlet.current = new }
            return inlet.current
        }
        previous?.end()
        // What the track before showed is nobody's business any more, whoever asks for a key frame.
        encoder.forgetPicture()
        output.awaitFirstFrame(of: track)
        // Another may have taken its place, or the rung's end come, meanwhile.
        if let new, inlet.withLock({ $0.current === new }) { new.begin() }
    }

    /// Lets go of the track and has the thread end, without waiting for it: what it is at goes to nobody.
    func retire() {
        let last = inlet.withLock { inlet in
            inlet.isRetired = true
            return inlet.current.take()
        }
        last?.end()
        output.lists.withLock { $0 = RungOutput.Lists() }
        encoder.end()
    }

    // MARK: Who it goes to

    /// Sends to this connection from the next frame on, which its peer can make something of once it has a key frame.
    func add(_ destination: Destination) {
        output.lists.withLock { $0.present.append(destination) }
    }

    /// Sends to this connection from the next key frame on, which is asked for, and not made for this before `time`.
    func join(_ destination: Destination, at time: Duration) {
        output.lists.withLock { lists in
            lists.joining.removeAll { $0.connection === destination.connection }
            lists.joining.append(destination)
        }
        encoder.requestKeyFrame(notBefore: time)
    }

    /// Sends nothing more to this connection.
    func remove(_ connection: Connection) {
        output.lists.withLock { lists in
            lists.present.removeAll { $0.connection === connection }
            lists.joining.removeAll { $0.connection === connection }
        }
    }
}

/// Stands between one track and an encoder, and lets nothing through once another track took its place.
private final class TrackInlet: VideoSink {
    let track: VideoTrack
    private let encoder: VideoEncoderThread
    private let sourceCanWait: Bool
    private let tellMute: @Sendable (Bool) -> Void
    private let isClosed = Atomic(false)
    private let hasReceived = Atomic(false)
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

    /// Lets the track's pictures through from now on, unless that is over already.
    func begin() {
        track.add(self)
        if !isOpen { track.remove(self) }
    }

    /// Lets nothing through any more.
    func end() {
        isClosed.store(true, ordering: .releasing)
        track.remove(self)
    }

    var hasPicture: Bool { hasReceived.load(ordering: .relaxed) }

    private var isOpen: Bool { !isClosed.load(ordering: .acquiring) }

    var demand: FrameDemand { isOpen ? encoder.demand : .nothing }

    func receive(_ frame: VideoFrame) {
        guard isOpen else { return }
        hasReceived.store(true, ordering: .relaxed)
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

/// Cuts encoded frames into packets and hands them out. Called on the encoder's thread alone, but for what is locked.
private final class RungOutput: Sendable {
    struct Lists {
        var present: [SendingRung.Destination] = []
        /// Those who begin with the next key frame.
        var joining: [SendingRung.Destination] = []
    }

    let lists = Locked(Lists())
    private let stream: Int
    private let counters: Locked<VP8PictureCounters>
    /// The track of which nothing has left yet.
    private let awaited = Locked<VideoTrack?>(nil)
    private let didSend: @Sendable (VideoTrack?, [SendingRung.Destination]) -> Void

    /// Payload bytes of a packet at most: 1200 bytes that every path carries, less the RTP header with all extensions
    /// (36), the prefix of a retransmission (2) and the longest tag of SRTP (16).
    static let maximumPayload = 1200 - 36 - 2 - 16

    init(
        stream: Int, counters: VP8PictureCounters,
        didSend: @escaping @Sendable (VideoTrack?, [SendingRung.Destination]) -> Void
    ) {
        self.stream = stream
        self.counters = Locked(counters)
        self.didSend = didSend
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
            stream: stream, maximumPayloadByteCount: Self.maximumPayload)
        let (destinations, joined) = lists.withLock { lists in
            let joined = frame.isKeyFrame ? lists.joining : []
            if !joined.isEmpty {
                lists.present += joined
                lists.joining = []
            }
            return (lists.present, joined)
        }
        // Told first, so that nothing comes from another rung after this.
        didSend(awaited.withLock { $0.take() }, joined)
        Connection.send(packets, to: destinations.map { ($0.connection, $0.media) })
    }
}
