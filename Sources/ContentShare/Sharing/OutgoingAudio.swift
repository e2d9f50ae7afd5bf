internal import Media
internal import NetworkRuntime
internal import PeerConnection

/// One audio section of ours: its encoder, and what it plays. Used by one actor.
final class OutgoingAudio {
    let media: Int
    let pipeline: AudioSendPipeline
    private let connection: Connection
    private(set) var track: AudioTrack?
    private let isVoice: Bool
    private var isConnected = false

    /// `isVoice` holds where a configuration does not say what the sound is.
    init(on connection: Connection, media: Int, isVoice: Bool) {
        self.connection = connection
        self.media = media
        self.isVoice = isVoice
        pipeline = AudioSendPipeline(settings: AudioSendPipeline.Settings(isVoice: isVoice))
        pipeline.attach(connection, media: media)
    }

    /// Brings the running encoder to what a configuration says.
    func apply(_ configuration: LocalAudioConfiguration) {
        let rate = configuration.maxBitrate ?? 0
        let settings = AudioSendPipeline.Settings(
            isVoice: configuration.isVoice ?? isVoice, bitsPerSecond: rate == 0 ? nil : rate * 1000)
        pipeline.update { $0 = settings }
    }

    /// Plays a track from now on, or from when there is a viewer.
    func play(_ track: AudioTrack) {
        self.track = track
        guard isConnected else { return }
        connection.setSending(true, media: media)
        pipeline.replaceTrack(with: track)
    }

    /// Plays nothing any more: viewers are told that the sound is gone.
    func hush() {
        track = nil
        pipeline.replaceTrack(with: nil)
        connection.setSending(false, media: media)
    }

    /// There is a viewer, who asks for this.
    func connected(parameters: OpusParameters?) {
        if let parameters { pipeline.keep(to: parameters, of: connection) }
        isConnected = true
        if let track { play(track) }
    }
}
