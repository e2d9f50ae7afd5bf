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
    private let state: Locked<State>
    private let adapter = Locked(VideoFrameAdapter())
    private let input = Input()
    private let connection = SinkConnection()
    private let mute = MuteSwitch()

    private struct State {
        var isEnabled = true
        /// The hint set on the track, which goes before the source's.
        var ownHint: ContentHint?
        /// What is sent in place of a picture that is switched off, and whether it was sent already.
        var black: PixelBuffer?
        var framesMuted = 0
    }

    /// A track of `source`. Ids are checked where they become part of a description: see ``MediaFactory``.
    public init(id: String, source: any VideoSource) {
        self.id = id
        self.source = source
        broadcaster = VideoBroadcaster(contentHint: source.contentHint)
        state = Locked(State())
        input.track = self
    }

    deinit {
        source.remove(input)
    }

    /// Whether the picture is sent. While it is not, viewers see black (W3C mediacapture-streams: `enabled`).
    public var isEnabled: Bool {
        get { state.withLock { $0.isEnabled } }
        set {
            let isNew = state.withLock { state in
                defer { state.isEnabled = newValue }
                guard state.isEnabled != newValue else { return false }
                state.black = nil
                return true
            }
            // Between the pictures lay black.
            if isNew { adapter.withLock { $0.invalidate() } }
        }
    }

    /// Whether frames are held back, here or at the source. Viewers keep the last picture and are shown that the track
    /// is paused. Setting it says what is wanted here; a source that holds its frames back keeps doing so.
    public var isMuted: Bool {
        get { broadcaster.isMuted }
        set { mute.setMuted(newValue, told: { broadcaster.isMuted }, tell: { broadcaster.isMuted = $0 }) }
    }

    private func setSourceMuted(_ isMuted: Bool) {
        mute.setSourceMuted(isMuted, told: { broadcaster.isMuted }, tell: { broadcaster.isMuted = $0 })
    }

    /// What the pictures are: the source's hint, unless one is set here.
    public var contentHint: ContentHint {
        get { state.withLock { $0.ownHint } ?? source.contentHint }
        set {
            state.withLock { $0.ownHint = newValue }
            broadcaster.contentHint = newValue
        }
    }

    /// Asks for pictures of at most `width` by `height`, at most `fps` a second (0: any number), from the next frame on,
    /// whatever the source gives. `crop` is what libwebrtc does under this name; `fit` keeps the picture whole.
    public func adaptOutputFormat(width: Int, height: Int, fps: Double, mode: VideoFormatAdapter.Mode = .fit) {
        adapter.withLock { $0.setOutputFormat(width: width, height: height, fps: fps, mode: mode) }
    }

    /// Gives `sink` every frame from now on.
    public func add(_ sink: any VideoSink) {
        // A track without sinks is not told of its source's hints.
        broadcaster.contentHint = contentHint
        broadcaster.add(sink)
        setConnected()
    }

    /// Gives `sink` no further frame; one that it is taking on another thread at this moment is its last.
    public func remove(_ sink: any VideoSink) {
        broadcaster.remove(sink)
        setConnected()
    }

    /// Frames that came while the track was muted.
    public var framesMuted: Int { state.withLock { $0.framesMuted } }

    /// Tells `observer` of frames that can't be used.
    public func add(observer: any CaptureSourceObserver) { broadcaster.observers.add(observer) }

    /// Tells `observer` nothing more.
    public func remove(observer: any CaptureSourceObserver) { broadcaster.observers.remove(observer) }

    private func setConnected() {
        connection.follow {
            broadcaster.hasSinks
        } connect: {
            // A source tells nothing where it is not muted; and what it gave meanwhile nobody saw.
            setSourceMuted(false)
            adapter.withLock { $0.invalidate() }
            source.add(input)
        } disconnect: {
            source.remove(input)
        }
    }

    /// What the source gives the track. The track itself is no sink for others, and is not kept alive by its source.
    private final class Input: VideoSink {
        private let owner = Locked(WeakTrack())

        var track: VideoTrack? {
            get { owner.withLock { $0.track } }
            set { owner.withLock { $0.track = newValue } }
        }

        func receive(_ frame: VideoFrame) { track?.receive(frame) }
        func sourceDidEnd(error: (any Error)?) { track?.broadcaster.end(error: error) }
        func contentHintDidChange(_ hint: ContentHint) { track?.sourceHintDidChange(hint) }
        func muteDidChange(_ isMuted: Bool) { track?.setSourceMuted(isMuted) }
        var demand: FrameDemand { track?.demand ?? .nothing }
    }

    private struct WeakTrack {
        weak var track: VideoTrack?
    }

    private func sourceHintDidChange(_ hint: ContentHint) {
        guard state.withLock({ $0.ownHint == nil }) else { return }
        broadcaster.contentHint = hint
    }

    private var demand: FrameDemand { isMuted ? .nothing : broadcaster.demand }

    private func receive(_ frame: VideoFrame) {
        guard !isMuted else {
            adapter.withLock { $0.skip(frame) }
            return state.withLock { $0.framesMuted += 1 }
        }
        guard let adapted = adapter.withLock({ $0.adapt(frame) }) else { return }
        // What can't be used is refused as it is: there is no black of such a size.
        let usable = try? adapted.validated()
        broadcaster.send(isEnabled ? usable ?? adapted : usable.map(blackened) ?? adapted)
    }

    /// Black of the frame's shape; the first shows a change, those after it none.
    private func blackened(_ frame: VideoFrame) -> VideoFrame {
        let size = frame.outputSize
        let (buffer, isFirst) = state.withLock { state -> (PixelBuffer, Bool) in
            if let black = state.black, black.size == size { return (black, false) }
            let black = PixelBuffer.black(size)
            state.black = black
            return (black, true)
        }
        return VideoFrame(
            buffer: buffer, timestamp: frame.timestamp, rotation: frame.rotation, damage: isFirst ? nil : [])
    }
}

extension PixelBuffer {
    /// A black picture in I420.
    static func black(_ size: PixelSize) -> PixelBuffer {
        PixelBuffer(size: size, format: .i420) { planes, _ in
            // Limited range: luma 16 is black, chroma 128 is grey.
            for (plane, value) in zip(planes, [16, 128, 128] as [UInt8]) {
                plane.initializeMemory(as: UInt8.self, repeating: value)
            }
        }
    }
}
