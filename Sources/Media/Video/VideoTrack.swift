internal import RTCShareLocks

/// What is sent of a video source: with an id, an output format of its own, and a switch.
///
///     source ──▶ adaptOutputFormat ──▶ enabled? else black ──▶ muted? else nothing ──▶ sinks: encoders, files, views
///
/// A track takes frames from its source only while it has sinks itself.
public final class VideoTrack: VideoSource {
    /// The track's id, as `a=msid` has it.
    public let id: String
    /// Where the frames come from.
    public let source: any VideoSource
    /// The track's own sinks, beside its source's: what they are given has this track's output format and is black where it is
    /// switched off, and another track of the same source differs in both.
    private let broadcaster: VideoBroadcaster
    private let outlet: FrameOutlet
    /// The hint set on the track, which goes before the source's.
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
        // Without sinks it has left its source already.
        if broadcaster.hasSinks { source.remove(input) }
    }

    /// Whether the picture is sent. While it is not, viewers see black (W3C mediacapture-streams: `enabled`). A change shows
    /// at once, also where the source stands still.
    public var isEnabled: Bool {
        get { outlet.isEnabled }
        set { outlet.isEnabled = newValue }
    }

    /// Whether the track gives no frames: it is paused, or its source holds them back (W3C mediacapture-streams: `muted`).
    /// Viewers keep the last picture and are shown that the track is paused.
    public var isMuted: Bool { broadcaster.isMuted }

    /// Whether the program holds frames back. A source that holds its own back keeps doing so.
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

    /// What the pictures are: the source's hint, unless one is set here.
    public var contentHint: ContentHint {
        get { ownHint.withLock { $0 } ?? source.contentHint }
        set {
            ownHint.withLock { $0 = newValue }
            broadcaster.contentHint = newValue
        }
    }

    /// Asks for pictures of at most `width` by `height`, at most `fps` a second (0: any number), whatever the source gives.
    /// `crop` is what libwebrtc does under this name; `fit` keeps the picture whole. The newest frame is given again in the
    /// new format. Of the frames that a rate leaves out, the last arrives when the next one is due.
    public func adaptOutputFormat(width: Int, height: Int, fps: Double, mode: OutputFormatMode = .fit) {
        outlet.setOutputFormat(width: width, height: height, fps: fps, mode: mode)
    }

    /// Gives `sink` the newest frame, if the track has one, and every frame from now on.
    public func add(_ sink: any VideoSink) {
        // A track without sinks is not told of its source's hints.
        broadcaster.contentHint = contentHint
        let hadSinks = broadcaster.hasSinks
        broadcaster.add(sink)
        setConnected()
        // A source that rests gives none, and it has told the track its newest already.
        if hadSinks { outlet.repeatFrame(atOnce: true) }
    }

    /// Gives `sink` no further frame; one that it is taking on another thread at this moment is its last.
    public func remove(_ sink: any VideoSink) {
        broadcaster.remove(sink)
        setConnected()
    }

    /// Frames that came while the track was muted.
    public var framesMuted: Int { outlet.framesMuted }

    /// Tells `observer` of frames that can't be used.
    public func add(observer: any CaptureSourceObserver) { broadcaster.observers.add(observer) }

    /// Tells `observer` nothing more.
    public func remove(observer: any CaptureSourceObserver) { broadcaster.observers.remove(observer) }

    private func setConnected() {
        connection.update {
            broadcaster.hasSinks
        } connect: {
            // A source tells nothing where it is not muted; and what it gave meanwhile nobody saw.
            setSourceMuted(false)
            outlet.reset()
            source.add(input)
        } disconnect: {
            source.remove(input)
            outlet.reset()
        }
    }

    /// What the source gives the track. The track itself is no sink for others, and is not kept alive by its source.
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
