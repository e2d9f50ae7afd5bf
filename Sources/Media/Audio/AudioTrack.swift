internal import RTCShareLocks

/// An audio source as it is sent: with an id, a volume and a switch.
///
///     source ──▶ volume ──▶ enabled? else silence ──▶ muted? else nothing ──▶ sinks: encoders, files
///
/// A track receives audio from its source only while it has sinks.
public final class AudioTrack: AudioSource {
    /// The track's id, as in `a=msid`.
    public let id: String
    /// The source of the audio.
    public let source: any AudioSource
    private let broadcaster = AudioBroadcaster()
    private let state = Locked(State())
    private let input = Input()
    private let connection = SinkConnection()
    private let mute = MuteSwitch()

    private struct State {
        var isEnabled = true
        var volume: Float = 1
    }

    /// The maximum volume: ten times the source's amplitude, as in libwebrtc.
    public static let maximumVolume: Float = 10

    /// A track of `source`; ``MediaFactory`` checks the id.
    package init(id: String, source: any AudioSource) {
        self.id = id
        self.source = source
        input.track = self
    }

    deinit {
        // Without sinks it is already disconnected from its source.
        if broadcaster.hasSinks { source.remove(input) }
    }

    /// Whether the audio is sent. If not, viewers receive silence (W3C mediacapture-streams: `enabled`).
    public var isEnabled: Bool {
        get { state.withLock { $0.isEnabled } }
        set { state.withLock { $0.isEnabled = newValue } }
    }

    /// Whether the track gives nothing, not even silence: it is paused, or its source holds its audio back (W3C
    /// mediacapture-streams: `muted`).
    public var isMuted: Bool { broadcaster.isMuted }

    /// Whether the program holds audio back. A source that holds its own back keeps doing so.
    public var isPaused: Bool {
        get { mute.isPaused }
        set { mute.setPaused(newValue, reported: { broadcaster.isMuted }, notify: { broadcaster.isMuted = $0 }) }
    }

    private func setSourceMuted(_ isMuted: Bool) {
        mute.setSourceMuted(isMuted, reported: { broadcaster.isMuted }, notify: { broadcaster.isMuted = $0 })
    }

    /// The factor for each sample, 0 to ``maximumVolume``, from the next block on. A value that is not finite sets it
    /// to 1.
    public var volume: Float {
        get { state.withLock { $0.volume } }
        set { state.withLock { $0.volume = newValue.isFinite ? min(max(newValue, 0), Self.maximumVolume) : 1 } }
    }

    /// Adds a sink, which receives every later block.
    public func add(_ sink: any AudioSink) {
        broadcaster.add(sink)
        setConnected()
    }

    /// Removes a sink.
    public func remove(_ sink: any AudioSink) {
        broadcaster.remove(sink)
        setConnected()
    }

    private func setConnected() {
        connection.update {
            broadcaster.hasSinks
        } connect: {
            // A source that is not muted does not notify a new sink of that.
            setSourceMuted(false)
            source.add(input)
        } disconnect: {
            source.remove(input)
            // The source notifies the next sink of its end.
            broadcaster.forgetEnd()
        }
    }

    /// Passes the source's blocks to the track, to which it holds a weak reference.
    private final class Input: AudioSink {
        private let owner = Locked(WeakTrack())

        var track: AudioTrack? {
            get { owner.withLock { $0.track } }
            set { owner.withLock { $0.track = newValue } }
        }

        func receive(_ frame: AudioFrame) { track?.receive(frame) }
        func sourceDidEnd(error: (any Error)?) { track?.broadcaster.end(error: error) }
        func muteDidChange(_ isMuted: Bool) { track?.setSourceMuted(isMuted) }
    }

    private struct WeakTrack {
        weak var track: AudioTrack?
    }

    private func receive(_ frame: AudioFrame) {
        guard !isMuted else { return }
        let (isEnabled, volume) = state.withLock { ($0.isEnabled, $0.volume) }
        broadcaster.send(frame.scaled(by: isEnabled ? volume : 0))
    }
}
