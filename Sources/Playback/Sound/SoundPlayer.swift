public import RTCShareCapture
public import RTCShareContentShare
internal import RTCShareLocks

/// Plays all sound that a peer sends, each attendee's and that of what is shared, through the default output; and has views
/// show pictures when their sound is heard.
///
/// It has to be kept for as long as sound is to be heard.
public final class SoundPlayer: Sendable {
    private struct State {
        /// By the sounds' numbers.
        var outputs: [Int: (sound: RemoteSound, output: SoundOutput)] = [:]
        var views: [(view: VideoView, attendee: AttendeeID)] = []
        var isMuted = false

        func output(of attendee: AttendeeID) -> SoundOutput? {
            outputs.values.first { $0.sound.attendeeID == attendee }?.output
        }
    }

    private let sounds: RemoteSoundController
    private let server: String?
    private let onFailure: @Sendable (CaptureError) -> Void
    private let state = Locked(State())
    private let listener = Listener()

    /// Plays what `sounds` has, from now on.
    /// - Parameters:
    ///   - server: The sound server, as `PULSE_SERVER` names one; nil: the session's.
    ///   - onFailure: Called where a sound can't be played; it goes on once that is possible.
    public init(
        _ sounds: RemoteSoundController, server: String? = nil,
        onFailure: @escaping @Sendable (CaptureError) -> Void = { _ in }
    ) {
        self.sounds = sounds
        self.server = server
        self.onFailure = onFailure
        listener.player.withLock { $0.player = self }
        sounds.add(observer: listener)
        for sound in sounds.sounds { play(sound) }
    }

    deinit {
        sounds.remove(observer: listener)
        for (_, output) in state.withLock({ $0.outputs.values }) { sounds.unbind(output) }
    }

    /// Whether nothing is to be heard.
    public var isMuted: Bool {
        get { state.withLock { $0.isMuted } }
        set {
            let outputs = state.withLock { state in
                state.isMuted = newValue
                return state.outputs.values.map(\.output)
            }
            for output in outputs { output.isMuted = newValue }
        }
    }

    /// Has `view` show its pictures when the sound of `attendee` is heard that belongs to them, whether there is any yet or
    /// not; nil has it wait for none.
    public func synchronize(_ view: VideoView, with attendee: AttendeeID?) {
        let output = state.withLock { state in
            state.views.removeAll { $0.view === view }
            guard let attendee else { return nil as SoundOutput? }
            state.views.append((view, attendee))
            return state.output(of: attendee)
        }
        view.follow(output)
    }

    /// Plays nothing more, and returns when the server knows.
    public func stop() {
        sounds.remove(observer: listener)
        let (outputs, views) = state.withLock { state in
            defer {
                state.outputs = [:]
                state.views = []
            }
            return (state.outputs.values.map(\.output), state.views.map(\.view))
        }
        for view in views { view.follow(nil) }
        for output in outputs {
            sounds.unbind(output)
            output.stop()
        }
    }

    /// What is played of each sound.
    package var statistics: [(sound: RemoteSound, statistics: SoundOutput.Statistics)] {
        state.withLock { $0.outputs.values.map { ($0.sound, $0.output) } }.map { ($0.0, $0.1.statistics) }
    }

    fileprivate func play(_ sound: RemoteSound) {
        let id = sound.soundID
        let made = SoundOutput(
            name: "\(sound.attendeeID)", server: server, onFailure: onFailure,
            onTarget: { [weak sounds] in sounds?.setJitterBufferTarget($0, ofSound: id) })
        let views = state.withLock { state -> [VideoView]? in
            guard state.outputs[id] == nil else { return nil }
            state.outputs[id] = (sound, made)
            made.isMuted = state.isMuted
            return state.views.filter { $0.attendee == sound.attendeeID }.map(\.view)
        }
        guard let views else { return }
        for view in views { view.follow(made) }
        // A sound that went meanwhile is told to have.
        try? sounds.bind(made, toSound: id)
    }

    fileprivate func drop(_ sound: RemoteSound) {
        let (output, views) = state.withLock { state in
            let output = state.outputs.removeValue(forKey: sound.soundID)?.output
            return (output, state.views.filter { $0.attendee == sound.attendeeID }.map(\.view))
        }
        for view in views { view.follow(nil) }
        output?.stop()
    }
}

/// Hears of sounds for a player, which it does not keep.
private final class Listener: RemoteSoundObserver {
    struct Reference {
        weak var player: SoundPlayer?
    }

    let player = Locked(Reference())

    func remoteSoundDidAdd(_ sound: RemoteSound) { player.withLock { $0.player }?.play(sound) }
    func remoteSoundDidRemove(_ sound: RemoteSound) { player.withLock { $0.player }?.drop(sound) }
}
