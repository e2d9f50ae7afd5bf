internal import RTCShareLocks
public import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareStreams
internal import RTCShareTransport
internal import RTCShareWireFormat

/// Shares a screen, or whatever a source shows, as the content of an attendee: `alice#content`.
///
/// Capture and share are apart: starting a share starts no capture, stopping a capture leaves the share with its last
/// picture, and stopping the share leaves the capture running; but for what the share was told to capture itself. Starting
/// again while something is shared replaces the source, without a new description. Each call that does not throw ends in
/// one event for the observers.
@SharingActor public final class ContentShareController {
    /// The shares that one connection carries at most.
    public nonisolated static let maximumShares = 2

    /// Whose content is shared.
    public nonisolated let attendee: AttendeeID
    /// Those to whom it goes: one, or those of a ``SharingRoom``.
    private var viewers: [ObjectIdentifier: Viewer] = [:]
    /// Who in a room gets what is shared. Nil for the share of one connection, which ends with it.
    private let audience: RoomAudience?
    /// Where what is sent lives.
    private let home: HomeLoop
    private let observers = ObserverList<any ContentShareObserver>()
    /// Called when a share begins or ends, and when its video is muted or unmuted.
    private let onChange: @SharingActor () -> Void
    /// The readers of ``events``.
    private let readers = ObserverList<ConnectionEvents<ContentShareEvent>>()
    /// The events since the last start, the newest of each kind.
    private var newest: [ContentShareEvent] = []
    private var phase = SharePhase()
    private var video: VideoSendStream?
    private var audio: AudioSendStream?
    /// The recording of the content.
    private var recording: RecordingSource?
    private var starts = 0
    /// Ends the capture that goes with what is shared.
    private var stopCapture: (@Sendable () -> Void)?
    /// The last start or stop of a capture.
    private var captureChange: Task<Void, any Error>?
    private var timeout: Task<Void, Never>?
    private var eventTask: Task<Void, Never>?

    /// One to whom the share goes.
    private struct Viewer {
        let connection: Connection
        /// The media that it can be sent.
        var media: Set<SharedMedia> = Set(SharedMedia.allCases)
    }

    /// The share of one connection, or that of a room, to an audience.
    nonisolated init(
        attendee: AttendeeID, connection: Connection? = nil, audience: RoomAudience? = nil, home: HomeLoop = HomeLoop(),
        onChange: @escaping @SharingActor () -> Void = {}
    ) throws(AttendeeIDError) {
        self.attendee = attendee
        self.audience = audience
        self.onChange = onChange
        self.home = connection.map { HomeLoop(of: $0) } ?? home
        // An attendee whose content no id can name shares none.
        _ = try attendee.content
        if let connection { viewers[ObjectIdentifier(connection)] = Viewer(connection: connection) }
    }

    deinit { readers.forEach { $0.finish() } }

    /// The events of the share since its last start, and those that follow, until its connection or room is over. Each start
    /// and each stop that did not throw ends in ``ContentShareEvent/started`` or ``ContentShareEvent/stopped(_:)``. Each call
    /// gives a sequence of its own, for one reader. A slow reader gets only the newest of each kind.
    public var events: some AsyncSequence<ContentShareEvent, Never> & Sendable {
        let reader = ConnectionEvents<ContentShareEvent>()
        newest.forEach(reader.append)
        if phase.hasEnded { reader.finish() } else { readers.add(reader) }
        return reader.stream
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
    /// a source that is running; or `contentShareDidStop` with the reason why that did not come about. Of a source that is
    /// waited for they hear `contentShareSourceIsSilent`. Where the offer had
    /// no place for content, or for its sound, that is sent from the next offer and its answer on.
    ///
    /// The encoder's thread adds its sink to the source, and removes that of the source before, soon after this returns.
    ///
    /// - Parameter sourceCanWait: Whether the encoder delays the source while it is busy, so that no frame is skipped: for
    ///   files.
    public func start(
        source: any VideoSource, audio: (any AudioSource)? = nil, sourceCanWait: Bool = false,
        configuration: LocalVideoConfiguration = LocalVideoConfiguration(),
        audioConfiguration: LocalAudioConfiguration = LocalAudioConfiguration()
    ) async throws(ContentShareError) {
        try await prepare(configuration, audio == nil ? nil : audioConfiguration)
        try show(
            source, audio, sourceCanWait: sourceCanWait, configuration: configuration,
            audioConfiguration: audioConfiguration)
    }

    /// Makes the streams of a share and opens them for each viewer; without `audioConfiguration`, only that of video.
    func prepare(
        _ configuration: LocalVideoConfiguration, _ audioConfiguration: LocalAudioConfiguration?
    ) async throws(ContentShareError) {
        if let problem = configuration.problem ?? audioConfiguration?.problem { throw .configuration(problem) }
        if phase.hasEnded { throw .ended }
        // Made before the visits, so that they are also opened for a viewer who joins during them.
        _ = try madeVideo(configuration)
        if audioConfiguration != nil { _ = try madeAudio() }
        try await openForViewers()
    }

    /// Shows a source over streams that were prepared.
    func show(
        _ source: any VideoSource, _ audio: (any AudioSource)?, sourceCanWait: Bool = false,
        configuration: LocalVideoConfiguration, audioConfiguration: LocalAudioConfiguration
    ) throws(ContentShareError) {
        let video = try madeVideo(configuration)
        if isRefused, !phase.hasBegun { throw .refusedByPeer }
        let now = Duration.nanoseconds(MonotonicClock.now.nanoseconds)
        if video.hasViewer { phase.connected(now: now) }
        let captured = (source as? VideoTrack)?.source ?? source
        let rate = (captured as? any CaptureSource)?.captureFormat.framesPerSecond
        let event = try phase.start(
            now: now, patience: rate.map(SharePhase.patience(framesPerSecond:)) ?? SharePhase.patience)
        endCapture()
        starts += 1
        newest = []
        // A viewer who leaves the audience does not see the new source, and one who enters it does not see the old one.
        setActive(adding: false)
        video.apply(configuration, defaults: .content)
        video.replaceTrack(
            with: VideoTrack(id: "content-\(starts)", source: source), sourceCanWait: sourceCanWait)
        self.audio?.apply(audioConfiguration, isVoice: false)
        self.audio?.replaceTrack(with: audio.map { AudioTrack(id: "content-audio-\(starts)", source: $0) })
        audienceChanged()
        awaitFirstPicture()
        onChange()
        // Last, because an observer may stop the share.
        tell(event)
    }

    /// Captures `source`, and `audio` where there is one, and shares them: the capture begins with the share and ends with
    /// it, or when something else is shared.
    public func start(
        capturing source: some CaptureSource, audio: (any AudioCaptureSource)? = nil,
        configuration: LocalVideoConfiguration = LocalVideoConfiguration(),
        audioConfiguration: LocalAudioConfiguration = LocalAudioConfiguration()
    ) async throws {
        try await start(
            source: source, audio: audio, configuration: configuration, audioConfiguration: audioConfiguration)
        guard phase.isActive else { return }
        let own = starts
        let isStarted = Locked(false)
        stopCapture = {
            guard isStarted.withLock({ $0 }) else { return }
            source.stop()
            audio?.stop()
        }
        let start = changeCapture(while: { self.starts == own && self.phase.isActive }) {
            isStarted.withLock { $0 = true }
            try source.start()
            try audio?.start()
        }
        do {
            try await start.value
        } catch {
            if starts == own { try? stop() }
            throw error
        }
    }

    /// Starts or stops a capture, which waits for its threads, on a thread of its own, after the change before: both may be of
    /// the same source. It is left out if `isWanted` returns false by then.
    @discardableResult
    private func changeCapture(
        while isWanted: @escaping @SharingActor () -> Bool = { true }, _ change: @escaping @Sendable () throws -> Void
    ) -> Task<Void, any Error> {
        let task = Task { [captureChange] in
            _ = await captureChange?.result
            if isWanted() { try await WorkerThread.run(named: "capture change", change) }
        }
        captureChange = task
        return task
    }

    private func endCapture() {
        guard let stopCapture else { return }
        self.stopCapture = nil
        changeCapture(stopCapture)
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
        video.apply(configuration, defaults: .content)
    }

    /// Changes how the sound of what is shared is sent, while it is.
    public func update(_ configuration: LocalAudioConfiguration) throws(ContentShareError) {
        if let problem = configuration.problem { throw .configuration(problem) }
        guard phase.isActive, let audio, audio.track != nil else { throw .notSharing }
        audio.apply(configuration, isVoice: false)
    }

    /// The picture that is shared: to mute it, or to adapt its format; nil where nothing is.
    public var videoTrack: VideoTrack? { video?.track }

    /// The sound that is shared: to mute it, or to set its volume; nil where none is.
    public var audioTrack: AudioTrack? { audio?.track }

    /// Ends the share. Viewers see its tile go. The encoder's thread removes its sink from the source soon after this returns.
    public func stop() throws(ContentShareError) {
        let event = try phase.stop()
        silence()
        tell(event)
    }

    /// What the newest answer of the viewer at a connection declines.
    func refusedMedia(of connection: Connection) async -> Set<SharedMedia> {
        var refused: Set<SharedMedia> = []
        if await video?.isRefused(on: connection) == true { refused.insert(.content) }
        if await audio?.isRefused(on: connection) == true { refused.insert(.contentAudio) }
        return refused
    }

    /// The counts of the content that a connection is sent.
    func videoStatistics(of connection: Connection) async -> PipelineStatistics? {
        await video?.statistics(of: connection)
    }

    // MARK: A recording

    /// Records what is shared from now on.
    func record(to source: RecordingSource) {
        recording = source
        if let video { record(video, to: source) }
        if let audio { record(audio, to: source) }
    }

    private func record(_ stream: some SendingStream, to source: RecordingSource) {
        // An attendee whose content no id can name has no controller.
        guard let content = try? attendee.content else { return }
        stream.record(to: source, name: content.label, isMain: true)
    }

    // MARK: A room's viewers

    /// Shares to the viewer at a connection too, which is sent `media` at most, after ``activate(_:)``. Returns how the present
    /// streams are opened there; later ones are opened by the share.
    func add(_ connection: Connection, taking media: Set<SharedMedia>) -> [StreamOpening] {
        let id = ObjectIdentifier(connection)
        let viewer = Viewer(connection: connection, media: media)
        viewers[id] = viewer
        return openings(for: viewer)
    }

    /// Sends the viewer at a connection what the audience says, once the streams are open there.
    func activate(_ connection: Connection) {
        guard let viewer = viewers[ObjectIdentifier(connection)], !phase.hasEnded,
            let isActive = audience?.isActive(.content, on: connection)
        else { return }
        setSubgroup(of: viewer)
        video?.setActive(isActive, on: connection)
        audio?.setActive(isActive, on: connection)
    }

    /// Shares to those who are in the audience now, and to no others.
    func audienceChanged() {
        guard audience != nil, !phase.hasEnded else { return }
        for viewer in viewers.values { setSubgroup(of: viewer) }
        setActive(adding: true)
    }

    private func setActive(adding: Bool) {
        guard let connections = audience?.connections(sent: .content) else { return }
        video?.setActive(connections, adding: adding)
        audio?.setActive(connections, adding: adding)
    }

    private func setSubgroup(of viewer: Viewer) {
        // The name of a subgroup is only for viewers who are sent the content.
        guard audience?.isActive(.content, on: viewer.connection) != false else { return }
        video?.sender(on: viewer.connection)?.setSubgroup(audience?.subgroup?.name)
    }

    /// Ends the share for good.
    func end(_ status: ContentShareStatus) {
        let event = phase.connectionEnded(status)
        timeout?.cancel()
        eventTask?.cancel()
        video?.stop()
        audio?.stop()
        endCapture()
        tell(event)
        readers.forEach { $0.finish() }
    }

    private func drop(_ connection: Connection) {
        viewers[ObjectIdentifier(connection)] = nil
        video?.remove(connection)
        audio?.remove(connection)
    }

    func connectionEnded(_ connection: Connection, _ status: ContentShareStatus) {
        if audience == nil { end(status) } else { drop(connection) }
    }

    // MARK: Parts

    /// Opens the streams for each viewer. What fails for one is left out; what fails for all is an error.
    private func openForViewers() async throws(ContentShareError) {
        var failure: ContentShareError?
        var isDone = viewers.isEmpty
        for viewer in viewers.values {
            do {
                try await viewer.connection.open(openings(for: viewer))
                isDone = true
            } catch {
                failure = error
            }
        }
        guard !isDone, let failure else { return }
        // The streams that were opened before the failure carry what is shared already.
        audienceChanged()
        // A room outlives the connection of a viewer.
        if audience != nil, case .ended = failure { return }
        throw failure
    }

    /// Opens the streams for a viewer. In a room they are held back until the audience is asked.
    private func openings(for viewer: Viewer) -> [StreamOpening] {
        var openings: [StreamOpening] = []
        let isActive = audience == nil
        if let video, viewer.media.contains(.content) {
            openings.append(video.opening(.content, of: attendee, isActive: isActive))
        }
        if let audio, viewer.media.contains(.contentAudio) {
            openings.append(audio.opening(.contentAudio, of: attendee, isActive: isActive))
        }
        return openings
    }

    /// What sends the picture, made where there is nothing yet.
    private func madeVideo(_ configuration: LocalVideoConfiguration) throws(ContentShareError) -> VideoSendStream {
        if let video { return video }
        let made = try VideoSendStream(configuration, defaults: .content, home: home)
        video = made
        if let recording { record(made, to: recording) }
        let events = made.events
        eventTask = Task { [weak self] in
            for await event in events { self?.handle(event) }
        }
        return made
    }

    private func madeAudio() throws(ContentShareError) -> AudioSendStream {
        if let audio { return audio }
        let made = try AudioSendStream(isVoice: false, home: home)
        audio = made
        if let recording { record(made, to: recording) }
        return made
    }

    private func handle(_ event: VideoSendStream.Event) {
        switch event {
        case .began(let track):
            // Of a track that was replaced meanwhile it is no news.
            guard track === video?.track else { return }
            tell(phase.firstPictureSent())
            awaitFirstPicture()
        case .muteChanged:
            // As it is now: of what was told before a track was replaced nothing holds.
            let isMuted = video?.track?.isMuted ?? false
            phase.muteDidChange(isMuted, now: .nanoseconds(MonotonicClock.now.nanoseconds))
            awaitFirstPicture()
            report(.muteChanged(isMuted))
            onChange()
        case .ended(let track, let error):
            guard track === video?.track else { return }
            report(.sourceEnded(error))
        // The next picture is tried, and the last one stays: `framesDropped` counts.
        case .failed: return
        case .audienceChanged: viewersDidChange()
        }
    }

    /// Goes by whether there is anybody to see what is shared.
    private func viewersDidChange() {
        guard video?.hasViewer == true else {
            if isRefused, let event = phase.refused() {
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

    /// Whether the one viewer declines the picture. In a room others may come.
    private var isRefused: Bool { audience == nil && video?.isRefused == true }

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

    private func deadlinePassed() async {
        let hasPicture = await video?.hasPicture ?? false
        let now = Duration.nanoseconds(MonotonicClock.now.nanoseconds)
        tell(phase.handleTimeout(now: now, hasPicture: hasPicture))
        awaitFirstPicture()
    }

    private func silence() {
        awaitFirstPicture()
        endCapture()
        video?.replaceTrack(with: nil)
        audio?.replaceTrack(with: nil)
    }

    private func tell(_ event: SharePhase.Event?) {
        switch event {
        case nil: return
        case .didStart: report(.started)
        case .didStop(let status):
            report(.stopped(status))
            // A share that another one replaced has reported that one.
            if status != .replaced { onChange() }
        case .sourceIsSilent(let time): report(.silent(time))
        }
    }

    private func report(_ event: ContentShareEvent) {
        // A start that was replaced is not the last one.
        if case .stopped(.replaced) = event {
        } else {
            newest.removeAll(where: event.outdates)
            newest.append(event)
        }
        readers.forEach { $0.append(event) }
        observers.forEach { observer in
            switch event {
            case .started: observer.contentShareDidStart()
            case .stopped(let status): observer.contentShareDidStop(status: status)
            case .silent(let time): observer.contentShareSourceIsSilent(for: time)
            case .sourceEnded(let error): observer.contentShareSourceDidEnd(error: error)
            case .muteChanged(let isMuted): observer.contentShareMuteDidChange(isMuted)
            }
        }
    }
}
