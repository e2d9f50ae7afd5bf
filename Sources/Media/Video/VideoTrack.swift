internal import RTCShareLocks

/// A video source as it is sent: with an id, an output format of its own, and a switch.
///
///     source ──▶ adaptOutputFormat ──▶ enabled? else black ──▶ muted? else nothing ──▶ sinks: encoders, files, views
///
/// A track receives frames from its source only while it has sinks.
public final class VideoTrack: VideoSource {
    /// The track's id, as in `a=msid`.
    public let id: String
    /// The source of the frames.
    public let source: any VideoSource
    /// The track's own sinks, separate from its source's: they receive this track's output format, and black while it
    /// is disabled. Another track of the same source differs in both.
    private let broadcaster: VideoBroadcaster
    private let outlet: FrameOutlet
    /// The hint that was set on the track, which overrides the source's.
    private let ownHint = Locked<ContentHint?>(nil)
    private let input = Input()
    private let connection = SinkConnection()
    private let mute = MuteSwitch()

    /// A track of `source`; ``MediaFactory`` checks the id.
    package convenience init(id: String, source: any VideoSource) {
        self.init(id: id, source: source, timer: FrameTimer())
    }

    package init(id: String, source: any VideoSource, timer: FrameTimer) {
        self.id = id
        self.source = source
        broadcaster = VideoBroadcaster(contentHint: source.contentHint)
        outlet = FrameOutlet(broadcaster: broadcaster, timer: timer)
        input.track = self
    }

    deinit {
        // Without sinks it is already disconnected from its source.
        if broadcaster.hasSinks { source.remove(input) }
    }

    /// Whether the video is sent. If not, viewers see black (W3C mediacapture-streams: `enabled`). A change is visible
    /// at once, even if the source is idle.
    public var isEnabled: Bool {
        get { outlet.isEnabled }
        set { outlet.isEnabled = newValue }
    }

    /// Whether the track sends no frames: it is paused, or its source is muted (W3C mediacapture-streams: `muted`).
    /// Viewers keep the last frame, and see that the track is paused.
    public var isMuted: Bool { broadcaster.isMuted }

    /// Whether the program has paused the track. This does not change whether its source is muted.
    public var isPaused: Bool {
        get { mute.isPaused }
        set { mute.setPaused(newValue, reported: { broadcaster.isMuted }, notify: notify(isMuted:)) }
    }

    private func setSourceMuted(_ isMuted: Bool) {
        mute.setSourceMuted(isMuted, reported: { broadcaster.isMuted }, notify: notify(isMuted:))
    }

    private func notify(isMuted: Bool) {
        broadcaster.isMuted = isMuted
        if !isMuted { outlet.giveOwedFrame() }
    }

    /// The kind of the video: the source's hint, unless one is set here.
    public var contentHint: ContentHint {
        get { ownHint.withLock { $0 } ?? source.contentHint }
        set {
            ownHint.withLock { $0 = newValue }
            broadcaster.contentHint = newValue
        }
    }

    /// Limits frames to `width` by `height` and to `fps` per second (0: no limit). `crop` is libwebrtc's behavior under
    /// this name; `fit` keeps the complete frame. The newest frame is sent again in the new format. If the limit skips
    /// frames, the last of them is sent when the next one is due.
    public func adaptOutputFormat(width: Int, height: Int, fps: Double, mode: OutputFormatMode = .fit) {
        outlet.setOutputFormat(width: width, height: height, fps: fps, mode: mode)
    }

    /// Adds a sink, which receives the newest frame, if the track has one, and every later frame.
    public func add(_ sink: any VideoSink) {
        // A track without sinks does not receive its source's hints.
        broadcaster.contentHint = contentHint
        let hadSinks = broadcaster.hasSinks
        broadcaster.add(sink)
        setConnected()
        // An idle source sends none, and the track has its newest already.
        if hadSinks { outlet.repeatFrame(atOnce: true) }
    }

    /// Removes a sink, which receives no later frame, except one that another thread is passing to it now.
    public func remove(_ sink: any VideoSink) {
        broadcaster.remove(sink)
        setConnected()
    }

    /// The number of frames that arrived while the track was muted.
    public var framesMuted: Int { outlet.framesMuted }

    /// Adds an observer of invalid frames.
    public func add(observer: any CaptureSourceObserver) { broadcaster.observers.add(observer) }

    /// Removes an observer.
    public func remove(observer: any CaptureSourceObserver) { broadcaster.observers.remove(observer) }

    private func setConnected() {
        connection.update {
            broadcaster.hasSinks
        } connect: {
            // A source that is not muted does not notify a new sink of that, and nobody received its frames while the
            // track was disconnected.
            setSourceMuted(false)
            outlet.reset()
            source.add(input)
        } disconnect: {
            source.remove(input)
            outlet.reset()
        }
    }

    /// Passes the source's frames to the track. The track itself is not the sink: its source does not keep it alive.
    private final class Input: VideoSink {
        private let owner = Locked(WeakTrack())

        var track: VideoTrack? {
            get { owner.withLock { $0.track } }
            set { owner.withLock { $0.track = newValue } }
        }

        func receive(_ frame: VideoFrame) { track?.outlet.receive(frame) }
        func sourceDidEnd(error: (any Error)?) { track?.sourceDidEnd(error: error) }
        func contentHintDidChange(_ hint: ContentHint) { track?.sourceHintDidChange(hint) }
        func muteDidChange(_ isMuted: Bool) { track?.setSourceMuted(isMuted) }
        var demand: FrameDemand { track?.outlet.demand ?? .nothing }
    }

    private struct WeakTrack {
        weak var track: VideoTrack?
    }

    private func sourceHintDidChange(_ hint: ContentHint) {
        guard ownHint.withLock({ $0 == nil }) else { return }
        broadcaster.contentHint = hint
    }

    private func sourceDidEnd(error: (any Error)?) {
        outlet.giveOwedFrame(atOnce: true)
        broadcaster.end(error: error)
    }
}
