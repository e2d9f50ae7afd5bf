internal import RTCShareLocks
public import RTCShareMedia
internal import RTCSharePeerConnection
package import RTCShareStreams
internal import RTCShareTransport
internal import RTCShareWireFormat

/// A share of a screen, or of the frames of any source, as the content of an attendee: `alice#content`.
///
/// A share and its capture are independent. Starting a share does not start a capture. If the capture stops, the share
/// continues with its last frame. If the share stops, the capture continues, unless the share started it. Starting
/// again during a share replaces the source, without a new description. Each call that does not throw results in one
/// event for the observers.
@SharingActor public final class ContentShareController {
    /// The maximum number of shares on one connection.
    public nonisolated static let maximumShares = 2

    /// The attendee whose content is shared.
    public nonisolated let attendee: AttendeeID
    /// The viewers of the share: one, or those of a ``SharingRoom``.
    private var viewers: [ObjectIdentifier: Viewer] = [:]
    /// The audience of the room. Nil for the share of one connection, which ends with the connection.
    private let audience: RoomAudience?
    /// The event loop of the streams.
    private let home: HomeLoop
    private let observers = ObserverList<any ContentShareObserver>()
    /// A closure that is called when a share starts or ends, and when its video is muted or unmuted.
    private let onChange: @SharingActor () -> Void
    /// The readers of ``events``.
    private let readers = ObserverList<PendingEvents<ContentShareEvent>>()
    /// The events since the last start, the newest of each kind.
    private var newest: [ContentShareEvent] = []
    /// Whether the latest event of a mute was that of a muted video.
    private var wasMuted = false
    private var phase = SharePhase()
    private var video: VideoSendStream?
    private var audio: AudioSendStream?
    /// The recording of the content.
    private var recording: RecordingSource?
    private var starts = 0
    /// A closure that ends the capture that the share started.
    private var stopCapture: (@Sendable () -> Void)?
    /// The last start or stop of a capture.
    private var captureChange: Task<Void, any Error>?
    private var timeout: Task<Void, Never>?
    private var eventTask: Task<Void, Never>?

    private struct Viewer {
        let connection: Connection
        /// The media that the viewer can be sent.
        var media: Set<SharedMedia> = Set(SharedMedia.allCases)
    }

    /// Creates the share of one connection, or that of a room to an audience.
    nonisolated init(
        attendee: AttendeeID, connection: Connection? = nil, audience: RoomAudience? = nil, home: HomeLoop = HomeLoop(),
        onChange: @escaping @SharingActor () -> Void = {}
    ) throws(AttendeeIDError) {
        self.attendee = attendee
        self.audience = audience
        self.onChange = onChange
        self.home = connection.map { HomeLoop(of: $0) } ?? home
        // An attendee whose content's id is too long can't share.
        _ = try attendee.content
        if let connection { viewers[ObjectIdentifier(connection)] = Viewer(connection: connection) }
    }

    deinit { readers.forEach { $0.finish() } }

    /// The events of the share since its last start, and those that follow, until its connection or room is over. Each
    /// start and stop that did not throw results in ``ContentShareEvent/started`` or
    /// ``ContentShareEvent/stopped(_:)``. Each call returns a new sequence, for one reader. A slow reader gets only the
    /// newest event of each kind.
    public var events: some AsyncSequence<ContentShareEvent, Never> & Sendable {
        let reader = PendingEvents<ContentShareEvent>()
        newest.forEach(reader.append)
        if phase.hasEnded { reader.finish() } else { readers.add(reader) }
        return reader.stream
    }

    /// Whether content is shared, or about to be.
    public var isSharing: Bool { phase.isActive }

    /// Whether any viewer is sent the video.
    package var hasViewer: Bool { video?.hasViewer == true }

    /// Returns the codec of the video for viewers who accept it; nil before the first start.
    package func codecDecision() async -> CodecDecision? { await video?.codecDecision }

    /// Returns the reason why the video is not as good as wanted; nil if it is.
    package func qualityLimitationReason() async -> QualityLimitationReason? { await video?.qualityLimitationReason }

    /// Notifies `observer` of the share from now on.
    public nonisolated func add(observer: any ContentShareObserver) { observers.add(observer) }

    /// Stops notifying `observer`.
    public nonisolated func remove(observer: any ContentShareObserver) { observers.remove(observer) }

    /// Shares the frames of `source`, with the audio of `audio` if it is given.
    ///
    /// Observers get `contentShareDidStart` after the first frame was sent, which needs a connected viewer and a
    /// running source. If the share ends before that, they get `contentShareDidStop` with the reason. If the source is
    /// slow, they get `contentShareSourceIsSilent`. If the offer has no media section for the content or its audio,
    /// that is sent after the next offer and answer.
    ///
    /// The encoder's thread adds its sink to the source, and removes it from the previous source, soon after this
    /// returns.
    ///
    /// - Parameter sourceCanWait: Whether the encoder delays the source while it is busy, so that no frame is skipped.
    ///   Use it for files.
    public func start(
        source: any VideoSource, audio: (any AudioSource)? = nil, sourceCanWait: Bool = false,
        parameters: VideoEncodingParameters = VideoEncodingParameters(),
        audioParameters: AudioEncodingParameters = AudioEncodingParameters()
    ) async throws(ContentShareError) {
        try await prepare(parameters, audio == nil ? nil : audioParameters)
        try show(
            source, audio, sourceCanWait: sourceCanWait, parameters: parameters,
            audioParameters: audioParameters)
    }

    /// Creates the streams of a share, without audio if `audioParameters` is nil, and opens them for each viewer.
    func prepare(
        _ parameters: VideoEncodingParameters, _ audioParameters: AudioEncodingParameters?
    ) async throws(ContentShareError) {
        if let problem = parameters.problem ?? audioParameters?.problem { throw .configuration(problem) }
        if phase.hasEnded { throw .ended }
        // The streams exist before the calls to the connections, so that a viewer who joins during these calls gets
        // them too.
        _ = try madeVideo(parameters)
        if audioParameters != nil { _ = try madeAudio() }
        try await openForViewers()
    }

    /// Sends a source over the prepared streams.
    func show(
        _ source: any VideoSource, _ audio: (any AudioSource)?, sourceCanWait: Bool = false,
        parameters: VideoEncodingParameters, audioParameters: AudioEncodingParameters
    ) throws(ContentShareError) {
        let codecs = try VideoSendStream.codecs(parameters)
        let video = try madeVideo(parameters)
        if isRefused, !phase.hasBegun { throw .refusedByPeer }
        let now = Duration.nanoseconds(MonotonicClock.now.nanoseconds)
        if hasViewer { phase.connected(now: now) }
        let captured = (source as? VideoTrack)?.source ?? source
        let rate = (captured as? any CaptureSource)?.captureFormat.framesPerSecond
        let event = try phase.start(
            now: now, patience: rate.map(SharePhase.patience(framesPerSecond:)) ?? SharePhase.patience)
        endCapture()
        starts += 1
        newest = wasMuted ? [.muteChanged(true)] : []
        // A viewer who leaves the audience does not see the new source. A viewer who enters it does not see the old
        // one.
        setActive(adding: false)
        video.apply(parameters, codecs: codecs, defaults: .content)
        video.replaceTrack(
            with: VideoTrack(id: "content-\(starts)", source: source), sourceCanWait: sourceCanWait)
        self.audio?.apply(audioParameters, isVoice: false)
        self.audio?.replaceTrack(with: audio.map { AudioTrack(id: "content-audio-\(starts)", source: $0) })
        audienceChanged()
        awaitFirstPicture()
        onChange()
        // This is the last step, because an observer may stop the share.
        tell(event)
    }

    /// Captures and shares `source`, and `audio` if it is given. The capture starts with the share, and ends with it or
    /// when another source is shared.
    public func start(
        capturing source: some CaptureSource, audio: (any AudioCaptureSource)? = nil,
        parameters: VideoEncodingParameters = VideoEncodingParameters(),
        audioParameters: AudioEncodingParameters = AudioEncodingParameters()
    ) async throws {
        try await start(
            source: source, audio: audio, parameters: parameters, audioParameters: audioParameters)
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

    /// Starts or stops a capture on a separate thread, because it waits for the capture's threads. It runs after the
    /// previous change, which can have the same source. It is skipped if `isWanted` returns false at that time.
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

    /// Shares the first video track of a stream, with the audio of its first audio track if it has one.
    public func start(
        stream: MediaStream, parameters: VideoEncodingParameters = VideoEncodingParameters(),
        audioParameters: AudioEncodingParameters = AudioEncodingParameters()
    ) async throws(ContentShareError) {
        guard let video = stream.videoTracks.first else { throw .nothingToShow(stream: stream.id) }
        try await start(
            source: video, audio: stream.audioTracks.first, parameters: parameters,
            audioParameters: audioParameters)
    }

    /// Changes the parameters of the shared video during the share.
    public func update(_ parameters: VideoEncodingParameters) throws(ContentShareError) {
        if let problem = parameters.problem { throw .configuration(problem) }
        guard phase.isActive, let video else { throw .notSharing }
        video.apply(parameters, codecs: try VideoSendStream.codecs(parameters), defaults: .content)
    }

    /// Changes the parameters of the shared audio during the share.
    public func update(_ parameters: AudioEncodingParameters) throws(ContentShareError) {
        if let problem = parameters.problem { throw .configuration(problem) }
        guard phase.isActive, let audio, audio.track != nil else { throw .notSharing }
        audio.apply(parameters, isVoice: false)
    }

    /// The track of the shared video, to mute it or adapt its format. Nil if nothing is shared.
    public var videoTrack: VideoTrack? { video?.track }

    /// The track of the shared audio, to mute it or set its volume. Nil if none is shared.
    public var audioTrack: AudioTrack? { audio?.track }

    /// Ends the share. Viewers lose its tile. The encoder's thread removes its sink from the source soon after this
    /// returns.
    public func stop() throws(ContentShareError) {
        let event = try phase.stop()
        silence()
        tell(event)
    }

    /// Returns the media that the newest answer of the viewer at a connection declines.
    func refusedMedia(of connection: Connection) async -> Set<SharedMedia> {
        var refused: Set<SharedMedia> = []
        if await video?.isRefused(on: connection) == true { refused.insert(.content) }
        if await audio?.isRefused(on: connection) == true { refused.insert(.contentAudio) }
        return refused
    }

    /// Returns the statistics of the content that a connection is sent.
    func videoStatistics(of connection: Connection) async -> [EncodingStatistics] {
        await video?.statistics(of: connection) ?? []
    }

    // MARK: A recording

    /// Records the shared content from now on.
    func record(to source: RecordingSource) {
        recording = source
        if let video { record(video, to: source) }
        if let audio { record(audio, to: source) }
    }

    private func record(_ stream: some SendingStream, to source: RecordingSource) {
        // An attendee whose content's id is too long has no controller.
        guard let content = try? attendee.content else { return }
        stream.record(to: source, name: content.label, isMain: true)
    }

    // MARK: A room's viewers

    /// Adds the viewer at a connection, which is sent at most `media`, after ``activate(_:)``. The result opens the
    /// current streams on the connection. The share opens later ones.
    func add(_ connection: Connection, taking media: Set<SharedMedia>) -> [StreamOpening] {
        let id = ObjectIdentifier(connection)
        let viewer = Viewer(connection: connection, media: media)
        viewers[id] = viewer
        return openings(for: viewer)
    }

    /// Sends the viewer at a connection the media that the audience allows, after the streams were opened.
    func activate(_ connection: Connection) {
        guard let viewer = viewers[ObjectIdentifier(connection)], !phase.hasEnded,
            let isActive = audience?.isActive(.content, on: connection)
        else { return }
        setSubgroup(of: viewer)
        video?.setActive(isActive, on: connection)
        audio?.setActive(isActive, on: connection)
    }

    /// Sends the share to the viewers that are in the audience now, and to no others.
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
        // Only viewers who are sent the content may read the name of a subgroup.
        guard audience?.isActive(.content, on: viewer.connection) != false else { return }
        video?.sender(on: viewer.connection)?.setSubgroup(audience?.subgroup?.name)
    }

    /// Ends the share permanently.
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

    /// Opens the streams for each viewer. A failure for one viewer is ignored. A failure for all is thrown.
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
        // The streams that were opened before the failure carry the current share.
        audienceChanged()
        // A room continues after the connection of a viewer ends.
        if audience != nil, case .ended = failure { return }
        throw failure
    }

    /// Returns the closures that open the streams for a viewer. In a room, the streams are inactive until the audience
    /// allows them.
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

    /// Returns the stream of the video, which it creates if there is none.
    private func madeVideo(_ parameters: VideoEncodingParameters) throws(ContentShareError) -> VideoSendStream {
        if let video { return video }
        let made = try VideoSendStream(parameters, defaults: .content, home: home)
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
            // The event is ignored if its track was replaced in the meantime.
            guard track === video?.track else { return }
            tell(phase.firstPictureSent())
            awaitFirstPicture()
        case .muteChanged:
            // The current state counts, because the event can be about a track that was replaced.
            let isMuted = video?.track?.isMuted ?? false
            phase.muteDidChange(isMuted, now: .nanoseconds(MonotonicClock.now.nanoseconds))
            awaitFirstPicture()
            guard isMuted != wasMuted else { return }
            wasMuted = isMuted
            report(.muteChanged(isMuted))
            onChange()
        case .ended(let track, let error):
            guard track === video?.track else { return }
            report(.sourceEnded(error))
        // The next frame is tried, and the last one stays visible. `framesDropped` counts the failures.
        case .failed: return
        case .audienceChanged: viewersDidChange()
        }
    }

    /// Updates the phase for the presence of a viewer.
    private func viewersDidChange() {
        guard hasViewer else {
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

    /// Whether the only viewer declines the video. A room can get other viewers.
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
            // The start of the replacement reported this change already.
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
