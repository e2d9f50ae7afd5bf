public import Media
internal import NetworkRuntime
internal import PeerConnection
internal import WireFormat

/// Shares a screen, or whatever a source shows, as the content of an attendee: `alice#content`.
///
/// Capture and share are apart: starting a share starts no capture, stopping a capture leaves the share with its last
/// picture, and stopping the share leaves the capture running. Starting again while something is shared replaces the
/// source, without a new description. Each call that does not throw ends in one event for the observers.
public actor ContentShareController {
    /// The shares that one connection carries at most.
    public static let maximumShares = 2

    /// Whose content is shared.
    public nonisolated let attendee: AttendeeID
    private let connection: Connection
    private let videoClaim: MediaClaim
    private let audioClaim: MediaClaim
    private let observers = ObserverList<any ContentShareObserver>()
    private var phase = SharePhase()
    private var video: OutgoingVideo?
    private var audio: OutgoingAudio?
    private var isConnected = false
    private var starts = 0
    private var timeout: Task<Void, Never>?
    private var follower: Task<Void, Never>?

    init(attendee: AttendeeID, connection: Connection) throws(AttendeeIDError) {
        self.attendee = attendee
        self.connection = connection
        // An attendee whose content no id can name shares none.
        _ = try attendee.content
        videoClaim = MediaClaim(.content, of: attendee, on: connection)
        audioClaim = MediaClaim(.contentAudio, of: attendee, on: connection)
    }

    /// Whether something is shared, or about to be.
    public var isSharing: Bool { phase.isActive }

    /// Tells `observer` of the share from now on.
    public nonisolated func add(observer: any ContentShareObserver) { observers.add(observer) }

    /// Tells `observer` nothing more.
    public nonisolated func remove(observer: any ContentShareObserver) { observers.remove(observer) }

    /// Shares what `source` shows, with the sound of `audio` where there is one.
    ///
    /// Observers hear `contentShareDidStart` once the first picture was sent, which takes a viewer that is connected and
    /// a source that is running; or `contentShareDidStop` with the reason why that did not come about. Where the offer had
    /// no place for content, or for its sound, that is sent from the next offer and its answer on.
    public func start(
        source: any VideoSource, audio: (any AudioSource)? = nil,
        configuration: LocalVideoConfiguration = LocalVideoConfiguration(),
        audioConfiguration: LocalAudioConfiguration = LocalAudioConfiguration()
    ) async throws(ContentShareError) {
        if let problem = configuration.problem ?? audioConfiguration.problem { throw .configuration(problem) }
        if phase.hasEnded { throw .ended }
        let video = try await openVideo(configuration)
        let outgoing: OutgoingAudio? = if audio == nil { self.audio } else { try await openAudio() }
        // From here on nothing is waited for: what another call does comes before all of this or after.
        if video.isRefused { throw .refusedByPeer }
        let now = Duration.nanoseconds(MonotonicClock.now.nanoseconds)
        if video.isConnected { phase.connected(now: now) }
        let event = try phase.start(now: now)
        tell(event)
        starts += 1
        video.apply(configuration)
        video.show(VideoTrack(id: "content-\(starts)", source: source))
        if let audio {
            outgoing?.apply(audioConfiguration)
            outgoing?.play(AudioTrack(id: "content-audio-\(starts)", source: audio))
        } else {
            outgoing?.hush()
        }
        awaitFirstPicture()
    }

    /// Shares a stream: its first video track, and the sound of its first audio track where it has one.
    public func start(
        stream: MediaStream, configuration: LocalVideoConfiguration = LocalVideoConfiguration(),
        audioConfiguration: LocalAudioConfiguration = LocalAudioConfiguration()
    ) async throws(ContentShareError) {
        guard let video = stream.videoTracks.first else { throw .nothingToShow(stream: stream.id) }
        try await start(
            source: video, audio: stream.audioTracks.first, configuration: configuration,
            audioConfiguration: audioConfiguration)
    }

    /// Changes how what is shared is sent, while it is.
    public func update(_ configuration: LocalVideoConfiguration) throws(ContentShareError) {
        if let problem = configuration.problem { throw .configuration(problem) }
        guard phase.isActive, let video else { throw .notSharing }
        video.apply(configuration)
    }

    /// Changes how the sound of what is shared is sent, while it is.
    public func update(_ configuration: LocalAudioConfiguration) throws(ContentShareError) {
        if let problem = configuration.problem { throw .configuration(problem) }
        guard phase.isActive, let audio, audio.track != nil else { throw .notSharing }
        audio.apply(configuration)
    }

    /// The picture that is shared: to mute it, or to adapt its format; nil where nothing is.
    public var videoTrack: VideoTrack? { video?.track }

    /// The sound that is shared: to mute it, or to set its volume; nil where none is.
    public var audioTrack: AudioTrack? { audio?.track }

    /// Ends the share. Viewers see its tile go.
    public func stop() throws(ContentShareError) {
        let event = try phase.stop()
        silence()
        tell(event)
    }

    /// What the viewer's newest answer declines.
    var refusedMedia: Set<SharedMedia> {
        var refused: Set<SharedMedia> = []
        if video?.isRefused == true { refused.insert(.content) }
        if audio?.isRefused == true { refused.insert(.contentAudio) }
        return refused
    }

    /// Completes a connection's report with what was encoded for the share.
    func complete(_ report: [StatisticsObject]) -> [StatisticsObject] {
        video.map { $0.pipeline.complete(report, media: $0.media, of: connection) } ?? report
    }

    // MARK: What the connection tells

    func connected() async {
        isConnected = true
        await refresh()
    }

    /// Takes what the peer's newest description asks.
    func refresh() async {
        guard isConnected else { return }
        await video?.refresh { phase.hasEnded }
        await audio?.refresh { phase.hasEnded }
        guard video?.isConnected == true else {
            if video?.isRefused == true, let event = phase.refused() {
                silence()
                tell(event)
            } else {
                phase.disconnected()
            }
            return
        }
        phase.connected(now: .nanoseconds(MonotonicClock.now.nanoseconds))
        if timeout == nil { awaitFirstPicture() }
    }

    func keyFrameRequested(media: Int) {
        if video?.media == media { video?.pipeline.requestKeyFrame(for: connection) }
    }

    func lossReported(_ loss: Double, media: Int) {
        if audio?.media == media { audio?.pipeline.note(loss: loss, of: connection) }
    }

    func targetChanged(_ target: BitrateTarget, media: Int) {
        if video?.media == media { video?.pipeline.keep(to: target, of: connection) }
        if audio?.media == media { audio?.pipeline.keep(to: target, of: connection) }
    }

    func connectionEnded(_ status: ContentShareStatus) {
        let event = phase.connectionEnded(status)
        timeout?.cancel()
        follower?.cancel()
        video?.pipeline.stop()
        audio?.pipeline.stop()
        tell(event)
    }

    // MARK: Parts

    private func openVideo(_ configuration: LocalVideoConfiguration) async throws(ContentShareError) -> OutgoingVideo {
        if let ended = video, await connection.hasEnded(media: ended.media) {
            // What was rejected for good makes room.
            ended.pipeline.stop()
            if video === ended { video = nil }
        }
        if let video { return video }
        let media = try await videoClaim.media()
        if let video { return video }
        if phase.hasEnded { throw .ended }
        let opened: OutgoingVideo
        do {
            opened = try OutgoingVideo(on: connection, media: media, defaults: .content, configuration: configuration)
        } catch {
            throw .encoder("\(error)")
        }
        video = opened
        let events = opened.pipeline.events
        follower = Task { [weak self] in
            for await event in events { await self?.handle(event) }
        }
        if isConnected { await opened.refresh { phase.hasEnded } }
        return opened
    }

    private func openAudio() async throws(ContentShareError) -> OutgoingAudio {
        if let ended = audio, await connection.hasEnded(media: ended.media) {
            ended.pipeline.stop()
            if audio === ended { audio = nil }
        }
        if let audio { return audio }
        let media = try await audioClaim.media()
        if let audio { return audio }
        if phase.hasEnded { throw .ended }
        let opened = OutgoingAudio(on: connection, media: media, isVoice: false)
        audio = opened
        if isConnected { await opened.refresh { phase.hasEnded } }
        return opened
    }

    private func handle(_ event: VideoSendPipeline.Event) {
        switch event {
        case .began(let track):
            // Of a track that was replaced meanwhile it is no news.
            guard track === video?.pipeline.track else { return }
            tell(phase.firstPictureSent())
            awaitFirstPicture()
        case .ended(let error): observers.forEach { $0.contentShareSourceDidEnd(error: error) }
        // The next picture is tried, and the last one stays: `framesDropped` counts.
        case .failed: return
        }
    }

    private func awaitFirstPicture() {
        timeout?.cancel()
        timeout = nil
        guard let deadline = phase.deadline else { return }
        timeout = Task { [weak self] in
            let wait = deadline - .nanoseconds(MonotonicClock.now.nanoseconds)
            guard (try? await Task.sleep(for: max(wait, .zero))) != nil else { return }
            await self?.deadlinePassed()
        }
    }

    private func deadlinePassed() {
        guard let event = phase.handleTimeout(now: .nanoseconds(MonotonicClock.now.nanoseconds)) else { return }
        silence()
        tell(event)
    }

    private func silence() {
        awaitFirstPicture()
        video?.hide()
        audio?.hush()
    }

    private func tell(_ event: SharePhase.Event?) {
        switch event {
        case nil: return
        case .didStart: observers.forEach { $0.contentShareDidStart() }
        case .didStop(let status): observers.forEach { $0.contentShareDidStop(status: status) }
        }
    }
}
