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
    /// Whether there is a viewer who takes this.
    private(set) var isConnected = false
    /// Whether there is a viewer whose description declines this.
    private(set) var isRefused = false

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
        // Descriptions that are still to be made have a place for it.
        connection.setSending(true, media: media)
        guard isConnected else { return }
        pipeline.replaceTrack(with: track)
    }

    /// Plays nothing any more: viewers are told that the sound is gone.
    func hush() {
        track = nil
        pipeline.replaceTrack(with: nil)
        if isConnected { connection.setSending(false, media: media) }
    }

    /// There is a viewer, who asks for this.
    private func connected(parameters: OpusParameters?, limits: SendingLimits) {
        pipeline.keep(to: limits, of: connection)
        if let parameters { pipeline.keep(to: parameters, of: connection) }
        isConnected = true
        // A later description changes nothing for a track that is sent already.
        if let track, pipeline.track !== track { play(track) }
    }

    /// Takes what the peer's newest description says, once there is a viewer. What the descriptions have no place for
    /// waits for the next.
    func refresh(isolation: isolated (any Actor)? = #isolation, unless isOver: () -> Bool) async {
        let agreement = await connection.agreement(media: media)
        isRefused = agreement == .refused
        guard agreement == .agreed else {
            isConnected = false
            return
        }
        let parameters = await connection.opusParameters(media: media)
        let limits = await connection.mediaLimits(media: media)
        if !isOver() { connected(parameters: parameters, limits: limits) }
    }
}
