internal import RTCShareMedia

/// The sounds of a running share, and which of them are muted.
struct ShareSounds {
    private let audio: [OpenedSources.Sound]
    let microphone: OpenedSources.Sound?
    /// The sound of the content, with a switch of its own: the room's track is a new one for each source. Nil if there is no
    /// sound.
    let track: AudioTrack?
    private let audioListeners: [SourceListener]
    private let microphoneListener: SourceListener?
    private(set) var isAudioMuted = false
    private(set) var isMicrophoneMuted = false

    init(_ sources: OpenedSources, events: AsyncStream<Share.Occurrence>.Continuation) {
        func listener(of sound: OpenedSources.Sound, as role: SourceListener.Role) -> SourceListener {
            let listener = SourceListener(role, events)
            sound.source.add(observer: listener)
            return listener
        }
        (audio, microphone) = (sources.audio, sources.microphone)
        track = sources.contentSound.map { AudioTrack(id: "sound", source: $0) }
        audioListeners = audio.map { listener(of: $0, as: .sound) }
        microphoneListener = microphone.map { listener(of: $0, as: .microphone) }
    }

    /// Mutes sounds, or ends that. Returns a sentence that says which.
    mutating func mute(_ sounds: ControlledSounds, _ isMuted: Bool) throws(CommandFailure) -> String {
        let names = [
            sounds != .microphone && track != nil ? "audio" : nil,
            sounds != .audio && microphone != nil ? "microphone" : nil,
        ].compactMap { $0 }
        guard !names.isEmpty else {
            let option = sounds == .microphone ? "--microphone microphone" : "--audio system"
            throw CommandFailure(
                .usage, "the share has no \(sounds == .microphone ? "microphone" : "audio")",
                try: "restart the share with \(option)")
        }
        if sounds != .microphone, track != nil { isAudioMuted = isMuted }
        if sounds != .audio, microphone != nil { isMicrophoneMuted = isMuted }
        return "The \(names.joined(separator: " and the ")) \(names.count > 1 ? "are" : "is") "
            + (isMuted ? "muted." : "no longer muted.")
    }

    /// All of them, for starting and stopping.
    var sources: [any AudioCaptureSource] { (audio + [microphone].compactMap { $0 }).map(\.source) }

    /// The state of the content's sounds.
    var audioStatus: [ControlledShare.Sound] { zip(audio, audioListeners).map { .init($0, listener: $1) } }

    /// The state of the microphone. Nil if there is none.
    var microphoneStatus: ControlledShare.Sound? { microphone.map { .init($0, listener: microphoneListener) } }
}

extension ControlledShare.Sound {
    fileprivate init(_ sound: OpenedSources.Sound, listener: SourceListener?) {
        self.init(spec: sound.specification, interruption: listener?.interruption?.description)
    }
}
