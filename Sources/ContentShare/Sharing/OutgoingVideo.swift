internal import Media
internal import NetworkRuntime
internal import PeerConnection
internal import VideoCoding
internal import WireFormat

/// One video section of ours: its encoder, and what it shows. Used by one actor.
///
/// Nothing is encoded before there is a viewer: the track waits.
final class OutgoingVideo {
    /// What is sent where a configuration says nothing.
    struct Defaults {
        let bitsPerSecond: Int
        let framesPerSecond: Double
        let size: PixelSize
        let priority: BitratePriority

        /// A whole screen, at a rate at which its text is sharp.
        static let content = Defaults(
            bitsPerSecond: 2_500_000, framesPerSecond: 30, size: PixelSize(width: 3840, height: 2160),
            priority: .medium)
        /// A face.
        static let camera = Defaults(
            bitsPerSecond: 800_000, framesPerSecond: 30, size: PixelSize(width: 1280, height: 720), priority: .low)
    }

    let media: Int
    let pipeline: VideoSendPipeline
    private let connection: Connection
    private let defaults: Defaults
    private(set) var track: VideoTrack?
    /// Whether what is shown next can be held up while the encoder is busy.
    private var sourceCanWait = false
    /// Whether there is a viewer who takes this.
    private(set) var isConnected = false
    /// Whether there is a viewer whose description declines this.
    private(set) var isRefused = false

    init(
        on connection: Connection, media: Int, defaults: Defaults, configuration: LocalVideoConfiguration
    ) throws(VideoCodingError) {
        self.connection = connection
        self.media = media
        self.defaults = defaults
        pipeline = try VideoSendPipeline(
            settings: VideoEncoderThread.Settings(bitsPerSecond: defaults.bitsPerSecond))
        apply(configuration)
        pipeline.attach(connection, media: media, priority: defaults.priority)
    }

    /// Brings the running encoder to what a configuration says.
    func apply(_ configuration: LocalVideoConfiguration) {
        sourceCanWait = configuration.sourceCanWait
        let defaults = defaults
        pipeline.update { settings in
            let rate = configuration.maxBitrate ?? 0
            settings.bitsPerSecond = rate == 0 ? defaults.bitsPerSecond : rate * 1000
            settings.framesPerSecond = configuration.maxFramerate ?? defaults.framesPerSecond
            settings.maximumSize = configuration.maxSize ?? defaults.size
            settings.hint = configuration.contentHint
        }
    }

    /// Shows a track from now on, or from when there is a viewer.
    func show(_ track: VideoTrack) {
        self.track = track
        // Descriptions that are still to be made have a place for it.
        connection.setSending(true, media: media)
        guard isConnected else { return }
        pipeline.replaceTrack(with: track, sourceCanWait: sourceCanWait)
        pipeline.requestKeyFrame()
    }

    /// Shows nothing any more: viewers are told that the picture is gone.
    func hide() {
        track = nil
        pipeline.replaceTrack(with: nil)
        if isConnected { connection.setSending(false, media: media) }
    }

    /// There is a viewer, who asks for this.
    private func connected(limits: SendingLimits) {
        pipeline.keep(to: limits, of: connection)
        isConnected = true
        // A later description changes nothing for a track that is sent already.
        if let track, pipeline.track !== track { show(track) }
    }

    /// Takes what the peer's newest description says, once there is a viewer. What the descriptions have no place for
    /// waits for the next.
    func refresh(isolation: isolated (any Actor)? = #isolation, unless isOver: () -> Bool) async {
        let agreement = await connection.agreement(media: media)
        isRefused = agreement == .refused
        guard agreement == .agreed else {
            isConnected = false
            return
        }
        let limits = await connection.mediaLimits(media: media)
        if !isOver() { connected(limits: limits) }
    }
}
