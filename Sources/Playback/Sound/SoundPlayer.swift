public import RTCShareCapture
public import RTCShareContentShare
internal import RTCShareLocks

/// Plays all audio that a peer sends, each attendee's and that of shared content, through the default output; and delays the
/// frames of views to match their audio.
///
/// Audio plays for as long as the player is kept.
@SharingActor public final class SoundPlayer {
    private let sounds: RemoteSoundController
    private let server: String?
    private let onFailure: @Sendable (CaptureError) -> Void
    /// The outputs, by the numbers of their audio.
    private var outputs: [Int: (sound: RemoteSound, output: SoundOutput)] = [:]
    private var views: [(view: VideoView, attendee: AttendeeID)] = []
    private let listener = Listener()

    /// Plays `sounds`, from now on.
    public init(
        _ sounds: RemoteSoundController, server: String? = nil,
        onFailure: @escaping @Sendable (CaptureError) -> Void = { _ in }
    ) {
        self.sounds = sounds
        self.server = server
        self.onFailure = onFailure
        listener.player = self
        sounds.add(observer: listener)
        for sound in sounds.sounds { play(sound) }
    }

    isolated deinit {
        for (_, output) in outputs.values { sounds.unbind(output) }
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
        sounds.remove(observer: listener)
        for (view, _) in views { view.synchronize(with: nil) }
        views = []
        let stopped = outputs.values.map(\.output)
        outputs = [:]
        for output in stopped { sounds.unbind(output) }
        // Each output waits for the server.
        await WorkerThread.run(named: "playback end") { for output in stopped { output.stop() } }
    }

    /// The counts of playback of each audio stream.
    package var statistics: [(sound: RemoteSound, statistics: SoundOutput.Statistics)] {
        outputs.values.map { ($0.sound, $0.output.statistics) }
    }

    fileprivate func play(_ sound: RemoteSound) {
        let id = sound.soundID
        guard outputs[id] == nil else { return }
        let output = SoundOutput(
            name: "\(sound.attendeeID)", server: server, onFailure: onFailure,
            onTarget: { [weak sounds] target in
                SharingActor.post { sounds?.setJitterBufferTarget(target, ofSound: id) }
            })
        outputs[id] = (sound, output)
        output.isMuted = isMuted
        for (view, attendee) in views where attendee == sound.attendeeID { view.synchronize(with: output) }
        // Audio whose decoder can't be created stays silent.
        try? sounds.bind(output, toSound: id)
    }

    fileprivate func drop(_ sound: RemoteSound) {
        let output = outputs.removeValue(forKey: sound.soundID)?.output
        for (view, attendee) in views where attendee == sound.attendeeID { view.synchronize(with: nil) }
        if let output { WorkerThread.start(named: "playback end") { output.stop() } }
    }
}

/// Observes audio streams for a player, to which it holds a weak reference.
@SharingActor private final class Listener: RemoteSoundObserver {
    weak var player: SoundPlayer?

    nonisolated init() {}

    func remoteSoundDidAdd(_ sound: RemoteSound) { player?.play(sound) }
    func remoteSoundDidRemove(_ sound: RemoteSound) { player?.drop(sound) }
}
