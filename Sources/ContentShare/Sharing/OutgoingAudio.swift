internal import Media
internal import NetworkRuntime
internal import PeerConnection

/// One audio section of ours: its encoder, and what it plays. Used by one actor.
final class OutgoingAudio {
    let media: Int
    let pipeline: AudioSendPipeline
    private let connection: Connection
    private var track: AudioTrack?
    private var isConnected = false

    init(on connection: Connection, media: Int, isVoice: Bool) {
        self.connection = connection
        self.media = media
        pipeline = AudioSendPipeline(settings: AudioSendPipeline.Settings(isVoice: isVoice))
        pipeline.attach(connection, media: media)
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
