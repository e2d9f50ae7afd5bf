public import RTCShareCapture
public import RTCShareContentShare
internal import RTCShareLocks

/// Plays all audio that a peer sends, each attendee's and that of shared content, through the default output; and delays the
/// frames of views to match their audio.
///
/// Audio plays for as long as the player is kept.
@SharingActor public final class AudioPlayer {
    private let remoteAudio: RemoteAudioController
    private let server: String?
    private let onFailure: @Sendable (CaptureError) -> Void
    /// The outputs, by the numbers of their audio.
    private var outputs: [Int: (sound: RemoteAudio, output: AudioOutput)] = [:]
    private var views: [(view: VideoView, attendee: AttendeeID)] = []
    private let listener = Listener()

    /// Plays `remoteAudio`, from now on.
    public init(
        _ remoteAudio: RemoteAudioController, server: String? = nil,
        onFailure: @escaping @Sendable (CaptureError) -> Void = { _ in }
    ) {
        self.remoteAudio = remoteAudio
        self.server = server
        self.onFailure = onFailure
        listener.player = self
        remoteAudio.add(observer: listener)
        for sound in remoteAudio.streams { play(sound) }
    }

    isolated deinit {
        for (_, output) in outputs.values { remoteAudio.unbind(output) }
    }

    /// Whether the audio is muted.
    public private(set) var isMuted = false

    /// Mutes the audio, or plays it again.
    public func setMuted(_ isMuted: Bool) {
        self.isMuted = isMuted
        for (_, output) in outputs.values { output.isMuted = isMuted }
    }

    /// Makes `view` show its frames when the audio of `attendee` that belongs to them is heard, present or future. Nil ends this.
    public func synchronize(_ view: VideoView, with attendee: AttendeeID?) {
        views.removeAll { $0.view === view }
        if let attendee { views.append((view, attendee)) }
        view.synchronize(with: outputs.values.first { $0.sound.attendeeID == attendee }?.output)
    }

    /// Stops playback, and returns when the sound server knows.
    public func stop() async {
        remoteAudio.remove(observer: listener)
        for (view, _) in views { view.synchronize(with: nil) }
        views = []
        let stopped = outputs.values.map(\.output)
        outputs = [:]
        for output in stopped { remoteAudio.unbind(output) }
        // Each output waits for the server.
        await WorkerThread.run(named: "playback end") { for output in stopped { output.stop() } }
    }

    /// The counts of playback of each audio stream.
    package var statistics: [(sound: RemoteAudio, statistics: AudioOutput.Statistics)] {
        outputs.values.map { ($0.sound, $0.output.statistics) }
    }

    func play(_ sound: RemoteAudio) {
        let id = sound.audioID
        guard outputs[id] == nil else { return }
        let output = AudioOutput(
            name: "\(sound.attendeeID)", server: server, onFailure: onFailure,
            onTarget: { [weak remoteAudio] target in
                SharingActor.post { remoteAudio?.setJitterBufferTarget(target, ofAudio: id) }
            })
        outputs[id] = (sound, output)
        output.isMuted = isMuted
        for (view, attendee) in views where attendee == sound.attendeeID { view.synchronize(with: output) }
        // Audio whose decoder can't be created stays silent.
        try? remoteAudio.bind(output, toAudio: id)
    }

    func drop(_ sound: RemoteAudio) {
        let output = outputs.removeValue(forKey: sound.audioID)?.output
        // An attendee can have more audio than this.
        let other = outputs.values.first { $0.sound.attendeeID == sound.attendeeID }?.output
        for (view, attendee) in views where attendee == sound.attendeeID { view.synchronize(with: other) }
        if let output { WorkerThread.start(named: "playback end") { output.stop() } }
    }
}

/// Observes audio streams for a player, to which it holds a weak reference.
@SharingActor private final class Listener: RemoteAudioObserver {
    weak var player: AudioPlayer?

    nonisolated init() {}

    func remoteAudioDidAdd(_ sound: RemoteAudio) { player?.play(sound) }
    func remoteAudioDidRemove(_ sound: RemoteAudio) { player?.drop(sound) }
}
