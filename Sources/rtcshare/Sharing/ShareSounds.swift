internal import RTCShareContentShare
internal import RTCShareMedia

/// The audio sources of a running share, with their mutes.
@SharingActor struct ShareSounds {
    private let audio: [OpenedSources.Sound]
    let microphone: OpenedSources.Sound?
    /// The audio track of the content, which keeps its mute state, because the room creates a track for each source.
    /// Nil if there is no audio.
    let track: AudioTrack?
    private let audioObservers: [SourceObserver]
    private let microphoneObserver: SourceObserver?
    private(set) var isAudioMuted = false
    private(set) var isMicrophoneMuted = false
    /// The audio that the last mute of all audio has silenced. Nil after an unmute.
    private var silenced: ControlledSounds?

    init(_ sources: OpenedSources, events: AsyncStream<Share.Occurrence>.Continuation) {
        func observer(of sound: OpenedSources.Sound, as role: SourceObserver.Role) -> SourceObserver {
            let observer = SourceObserver(role, events, isReporting: true)
            sound.source.add(observer: observer)
            return observer
        }
        (audio, microphone) = (sources.audio, sources.microphone)
        track = sources.contentSound.map { AudioTrack(id: "sound", source: $0) }
        audioObservers = audio.map { observer(of: $0, as: .audio) }
        microphoneObserver = microphone.map { observer(of: $0, as: .microphone) }
    }

    /// Mutes or unmutes audio. Returns a sentence with the result.
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
        if !isMuted {
            silenced = nil
        } else if sounds == .all {
            silenced = audible ?? silenced
        } else if let before = silenced {
            // What is muted by itself stays muted.
            silenced = before == .all ? (sounds == .audio ? .microphone : .audio) : before == sounds ? nil : before
        }
        if sounds != .microphone, track != nil { isAudioMuted = isMuted }
        if sounds != .audio, microphone != nil { isMicrophoneMuted = isMuted }
        return "The \(names.joined(separator: " and the ")) \(names.count > 1 ? "are" : "is") "
            + (isMuted ? "muted." : "no longer muted.")
    }

    /// Unmutes the audio that the last mute of all audio has silenced: a microphone that was off before stays off. If
    /// the audio was muted in another way, unmutes that of the content, or the microphone if there is no other.
    mutating func unmuteSilenced() throws(CommandFailure) -> String {
        try mute(silenced ?? (track == nil ? .microphone : .audio), false)
    }

    /// The audio that is not muted. Nil if there is none.
    private var audible: ControlledSounds? {
        let isMicrophoneAudible = microphone != nil && !isMicrophoneMuted
        guard track != nil, !isAudioMuted else { return isMicrophoneAudible ? .microphone : nil }
        return isMicrophoneAudible ? .all : .audio
    }

    /// All audio sources, for starting and stopping.
    var sources: [any AudioCaptureSource] { (audio + [microphone].compactMap { $0 }).map(\.source) }

    var audioStatus: [ControlledShare.Sound] { zip(audio, audioObservers).map { .init($0, $1) } }

    /// The state of the microphone. Nil if there is none.
    var microphoneStatus: ControlledShare.Sound? { microphone.map { .init($0, microphoneObserver) } }
}

extension ControlledShare.Sound {
    @SharingActor fileprivate init(_ sound: OpenedSources.Sound, _ observer: SourceObserver?) {
        self.init(spec: sound.specification, interruption: observer?.interruption?.description)
    }
}
