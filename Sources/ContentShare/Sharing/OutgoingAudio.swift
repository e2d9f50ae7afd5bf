internal import Media
internal import NetworkRuntime
internal import PeerConnection

/// One sound of ours: its encoder, what it plays, and the sections through which it goes to those who listen. Used by
/// one actor.
final class OutgoingAudio: OutgoingMedia {
    let pipeline: AudioSendPipeline
    private(set) var track: AudioTrack?
    private let isVoice: Bool
    var links = OutgoingLinks()

    /// `isVoice` holds where a configuration does not say what the sound is.
    init(isVoice: Bool) {
        self.isVoice = isVoice
        pipeline = AudioSendPipeline(settings: AudioSendPipeline.Settings(isVoice: isVoice))
    }

    var hasTrack: Bool { track != nil }

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
        setSending(true)
        if hasViewer { pipeline.replaceTrack(with: track) }
    }

    /// Plays nothing any more: viewers are told that the sound is gone.
    func hush() {
        track = nil
        pipeline.replaceTrack(with: nil)
        setSending(false)
    }

    func open(_ link: OutgoingLinks.Link) {
        pipeline.attach(link.connection, media: link.media)
        keepToWishes(of: link)
        if let track, pipeline.track !== track { pipeline.replaceTrack(with: track) }
    }

    func close(_ link: OutgoingLinks.Link) {
        pipeline.detach(link.connection)
        if !hasViewer { pipeline.replaceTrack(with: nil) }
    }

    func keepToWishes(of link: OutgoingLinks.Link) {
        pipeline.keep(to: link.limits, of: link.connection)
        if let parameters = link.opus { pipeline.keep(to: parameters, of: link.connection) }
    }

    // MARK: What a connection tells

    func lossReported(_ loss: Double, media: Int, of connection: Connection) {
        if self.media(on: connection) == media { pipeline.note(loss: loss, of: connection) }
    }

    func targetChanged(_ target: BitrateTarget, media: Int, of connection: Connection) {
        if self.media(on: connection) == media { pipeline.keep(to: target, of: connection) }
    }
}
