internal import Media
internal import NetworkRuntime
internal import PeerConnection
internal import VideoCoding
internal import WireFormat

/// One picture of ours: its encoder, what it shows, and the sections through which it goes to its viewers. Used by one
/// actor.
///
/// Nothing is encoded before there is a viewer: the track waits.
final class OutgoingVideo: OutgoingMedia {
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

    let pipeline: VideoSendPipeline
    private let defaults: Defaults
    private(set) var track: VideoTrack?
    /// Whether what is shown next can be held up while the encoder is busy.
    private var sourceCanWait = false
    var links = OutgoingLinks()

    init(defaults: Defaults, configuration: LocalVideoConfiguration) throws(VideoCodingError) {
        self.defaults = defaults
        pipeline = try VideoSendPipeline(
            settings: VideoEncoderThread.Settings(bitsPerSecond: defaults.bitsPerSecond))
        apply(configuration)
    }

    var hasTrack: Bool { track != nil }

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
        setSending(true)
        if hasViewer { begin(track) }
    }

    private func begin(_ track: VideoTrack) {
        pipeline.replaceTrack(with: track, sourceCanWait: sourceCanWait)
        pipeline.requestKeyFrame()
    }

    /// Shows nothing any more: viewers are told that the picture is gone.
    func hide() {
        track = nil
        pipeline.replaceTrack(with: nil)
        setSending(false)
    }

    func open(_ link: OutgoingLinks.Link) {
        // What it takes decides what it is sent from the first picture on.
        keepToWishes(of: link)
        pipeline.attach(link.connection, media: link.media, priority: defaults.priority)
        // A later viewer changes nothing for a track that is sent already, but for the key frame that it begins with.
        if let track, pipeline.track !== track { begin(track) }
    }

    func close(_ link: OutgoingLinks.Link) {
        pipeline.detach(link.connection)
        // For nobody nothing is captured either.
        if !hasViewer { pipeline.replaceTrack(with: nil) }
    }

    func keepToWishes(of link: OutgoingLinks.Link) { pipeline.keep(to: link.limits, of: link.connection) }

    // MARK: What a connection tells

    func keyFrameRequested(media: Int, of connection: Connection) {
        if self.media(on: connection) == media { pipeline.requestKeyFrame(for: connection) }
    }

    func targetChanged(_ target: BitrateTarget, media: Int, of connection: Connection) {
        // What was told before a viewer went out is no news any more.
        guard let link = links[connection], link.isOpen, link.media == media else { return }
        pipeline.keep(to: target, of: connection)
    }

    /// Completes a connection's report with what was encoded for it.
    func complete(_ report: [StatisticsObject], of connection: Connection) -> [StatisticsObject] {
        media(on: connection).map { pipeline.complete(report, media: $0, of: connection) } ?? report
    }
}
