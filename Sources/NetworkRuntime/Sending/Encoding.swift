internal import RTCShareLocks
internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareRTP
internal import RTCShareVideoCoding
internal import Synchronization

/// One encoding of a track: an encoder with its settings, as W3C's `RTCRtpEncodingParameters` says them.
final class Encoding: Sendable {
    /// Tells it and its frames from all others of the pipeline; 0 is the first.
    let index: Int
    let encoder: VideoEncoderThread
    private let packetizer: Packetizer
    private let input = Locked(Input())

    private struct Input {
        var current: TrackSink?
        var isRetired = false
    }

    /// Begins an encoder's thread. The closures are called on it: `send` with each frame, with whether it is blurred and will
    /// be sharpened, and with the track whose first it is.
    init(
        index: Int, settings: VideoEncoderThread.Settings,
        send: @escaping @Sendable (_ frame: PacketizedFrame, _ isBlurred: Bool, _ began: VideoTrack?) -> Void,
        onEvent: @escaping @Sendable (VideoEncoderThread.Event) -> Void
    ) throws(VideoCodingError) {
        var random = SystemRandomNumberGenerator()
        let packetizer = Packetizer(stream: index, counters: VP8PictureCounters(using: &random))
        self.index = index
        self.packetizer = packetizer
        encoder = try VideoEncoderThread(
            settings: settings,
            onFrame: { frame in
                let packets = packetizer.packets(of: frame)
                send(packets, frame.isUnfinished, packetizer.takeAwaited())
            }, onEvent: onEvent)
    }

    /// Whether its track has given a picture.
    var hasPicture: Bool { input.withLock { $0.current?.hasPicture ?? false } }

    /// Encodes another track's pictures, or none. Of the one before nothing comes after this.
    func show(_ track: VideoTrack?, sourceCanWait: Bool, muteDidChange: @escaping @Sendable (Bool) -> Void) {
        let new = track.map {
            TrackSink(track: $0, encoder: encoder, sourceCanWait: sourceCanWait, muteDidChange: muteDidChange)
        }
        let previous = input.withLock { input in
            guard !input.isRetired else { return input.current }
            defer { input.current = new }
            return input.current
        }
        previous?.end()
        // A key frame that is asked for from now on does not show the track before.
        encoder.forgetPicture()
        packetizer.awaitFirstFrame(of: track)
        // Its end may have come meanwhile.
        if let new, input.withLock({ $0.current === new }) { new.begin() }
    }

    /// Lets go of the track and has the thread end, without waiting for it: what it is at goes to nobody.
    func retire() {
        let last = input.withLock { input in
            input.isRetired = true
            return input.current.take()
        }
        last?.end()
        encoder.end()
    }
}

/// Stands between one track and an encoder, and lets nothing through once another track took its place.
private final class TrackSink: VideoSink {
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

/// Cuts encoded frames into packets. Called on the encoder's thread alone, but for what is locked.
private final class Packetizer: Sendable {
    private let stream: Int
    private let counters: Locked<VP8PictureCounters>
    /// The track of which nothing has left yet.
    private let awaited = Locked<VideoTrack?>(nil)

    init(stream: Int, counters: VP8PictureCounters) {
        self.stream = stream
        self.counters = Locked(counters)
    }

    func awaitFirstFrame(of track: VideoTrack?) {
        awaited.withLock { $0 = track }
    }

    /// The track whose first frame this is, if it is one.
    func takeAwaited() -> VideoTrack? { awaited.withLock { $0.take() } }

    func packets(of frame: EncodedVideoFrame) -> PacketizedFrame {
        let descriptor = counters.withLock { $0.next() }
        return PacketizedFrame(
            vp8: frame.data, descriptor: descriptor, isKeyFrame: frame.isKeyFrame, captureTime: frame.timestamp,
            width: frame.size.width, height: frame.size.height, quarterTurns: frame.rotation.rawValue / 90,
            stream: stream, maximumPayloadByteCount: PacketizedFrame.maximumPayloadByteCount)
    }
}
