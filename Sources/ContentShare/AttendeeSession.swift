public import RTCShareMedia
public import RTCSharePeerConnection
internal import RTCShareSDP
public import RTCShareStreams
public import RTCShareTransport
package import RTCShareWireFormat

/// An attendee on a connection, who shares content, sends camera and microphone, and receives the peer's media.
///
///     content ─────▶ alice#content ─┐                        ┌─▶ tiles ──▶ sinks
///     camera ──────▶ alice ─────────┼─▶ connection ◀──────▶ ─┤
///     microphone ──▶ alice ─────────┘                        └─▶ audio ─▶ sinks
///
/// No other object reads the connection's events.
@SharingActor public final class AttendeeSession {
    /// The local attendee.
    public nonisolated let attendee: AttendeeID
    /// The connection to the peer, for descriptions and statistics.
    public nonisolated let connection: Connection
    /// The share of the attendee's content.
    public nonisolated let contentShare: ContentShareController
    /// The videos that the peer sends.
    public nonisolated let tiles: VideoTileController
    /// The audio that the peer sends.
    public nonisolated let audio: RemoteAudioController
    /// The attendee's camera and microphone.
    private let own: OwnMedia
    /// The task that passes the peer's media on, until they end.
    private let reception: Task<Void, Never>
    /// The state of the connection. After the last one, nothing more is reported.
    public private(set) var state = ConnectionState.new
    /// The reason why the connection failed. Nil if it did not fail.
    public private(set) var failure: (any Error)?
    /// The readers of ``signals``.
    private let readers = ObserverList<PendingEvents<ConnectionSignal>>()
    /// The signals beside the state that still hold.
    private var pending: [ConnectionSignal] = []
    /// The task that ends the session, which may have finished. Nil before that.
    private var ending: Task<Void, Never>?
    /// The time of the last change of the state.
    package private(set) var stateSince = MonotonicClock.now
    /// A closure that gets each new state, after the readers.
    var onStateChange: (@SharingActor (ConnectionState) -> Void)?
    /// The session to which ``connect(to:)`` connected this one, and the session that connected to this one.
    private weak var viewer: AttendeeSession?
    private weak var presenter: AttendeeSession?
    /// The shares of other attendees' content over this connection.
    private var otherShares: [AttendeeID: ContentShareController] = [:]
    /// The identity in the offer. Nil if this session did not create it.
    let identity: LocalIdentity?

    /// Creates the session of an attendee on a connection, and reads the connection's events from now on.
    package nonisolated convenience init(attendee: AttendeeID, connection: Connection) throws(AttendeeIDError) {
        guard attendee.modality == .attendee else { throw .content(attendee.rawValue) }
        self.init(
            connection: connection, contentShare: try ContentShareController(attendee: attendee, connection: connection)
        )
    }

    /// Creates the session of a share's attendee on a connection. The share may have more connections.
    nonisolated init(connection: Connection, contentShare: ContentShareController, identity: LocalIdentity? = nil) {
        let attendee = contentShare.attendee
        self.attendee = attendee
        self.connection = connection
        self.contentShare = contentShare
        self.identity = identity
        own = OwnMedia(of: attendee, home: HomeLoop(of: connection))
        tiles = VideoTileController()
        audio = RemoteAudioController()
        let (signals, media) = (connection.signals, connection.receiveMedia())
        // The task does not retain the session, because a session that is released closes its connection.
        reception = Task { @SharingActor [weak tiles, weak audio] in
            for await event in media {
                await tiles?.handle(event)
                await audio?.handle(event)
            }
        }
        Task { @SharingActor [weak self] in
            for await signal in signals { await self?.handle(signal) }
            await self?.end(.ok)
        }
    }

    deinit { readers.forEach { $0.finish() } }

    // The sharing actor does not create keys, which takes milliseconds.

    /// Opens a connection as the offerer, for the media that the attendee can send.
    @concurrent
    public nonisolated static func offering(
        as attendee: AttendeeID, media: Set<SharedMedia> = [.content],
        configuration: Connection.Configuration = Connection.Configuration()
    ) async throws -> AttendeeSession {
        guard attendee.modality == .attendee else { throw AttendeeIDError.content(attendee.rawValue) }
        let identity = try LocalIdentity(
            media: SharedMedia.kinds(media, of: attendee), configuration: configuration)
        let connection = try await Connection(
            as: .offerer, identity: identity, configuration: configuration.withCodecs())
        return AttendeeSession(
            connection: connection,
            contentShare: try ContentShareController(attendee: attendee, connection: connection), identity: identity)
    }

    /// Opens a connection as the answerer, which receives the peer's media.
    @concurrent
    public nonisolated static func viewing(
        as attendee: AttendeeID, configuration: Connection.Configuration = Connection.Configuration()
    ) async throws -> AttendeeSession {
        let connection = try await Connection(
            as: .answerer, identity: try LocalIdentity(media: []), configuration: configuration.withCodecs())
        return try AttendeeSession(attendee: attendee, connection: connection)
    }

    /// Opens a connection as an offerer that receives the given numbers of videos and audio streams, for players (W3C
    /// `addTransceiver`, recvonly).
    @concurrent
    public nonisolated static func receiving(
        as attendee: AttendeeID, pictures: Int = 1, sounds: Int = 1,
        configuration: Connection.Configuration = Connection.Configuration()
    ) async throws -> AttendeeSession {
        let connection = try await Connection(
            as: .offerer, identity: try LocalIdentity(media: []), configuration: configuration.withCodecs())
        do {
            for _ in 0..<pictures { try await connection.addReceivingSection(isVideo: true) }
            for _ in 0..<sounds { try await connection.addReceivingSection(isVideo: false) }
            return try AttendeeSession(attendee: attendee, connection: connection)
        } catch {
            await connection.close()
            throw error
        }
    }

    /// The states of the connection, from the current one to one that is over. Each call returns a new sequence, for
    /// one reader. A slow reader misses states that have passed, and can get a state twice.
    public var states: some AsyncSequence<ConnectionState, Never> & Sendable {
        signals.compactMap { if case .state(let state) = $0 { state } else { nil } }
    }

    /// The local candidates that the newest description lacks, if both sides trickle
    /// (``Connection/Configuration/usesTrickleICE``). Otherwise there are none. Nil if no more are expected at present:
    /// another address or description can cause further ones. Each call returns a new sequence, for one reader.
    public var candidates: some AsyncSequence<LocalCandidate?, Never> & Sendable {
        signals.compactMap { signal -> LocalCandidate?? in
            switch signal {
            case .localCandidate(let candidate, let mid, let ufrag):
                LocalCandidate(candidate: candidate.description, sdpMid: mid, usernameFragment: ufrag)
            case .localCandidatesEnded: .some(nil)
            case .state, .restartNeeded: nil
            }
        }
    }

    /// An element each time that packets can't be sent any more, the first one at once if they can't now. To find
    /// another route, restart ICE on ``connection``, make an offer and accept the peer's answer. Sessions that
    /// ``connect(to:)`` connected do this without a call.
    public var restartRequests: some AsyncSequence<Void, Never> & Sendable {
        signals.compactMap { if case .restartNeeded = $0 { () } else { nil } }
    }

    /// The states and the other events of the connection, in order. See ``states``.
    package var signals: PendingEvents<ConnectionSignal>.Stream {
        let reader = PendingEvents<ConnectionSignal>()
        reader.append(.state(state))
        pending.forEach(reader.append)
        if state.isOver { reader.finish() } else { readers.add(reader) }
        return reader.stream
    }

    /// Returns the share of another attendee's content over the same connection, for a program that presents for
    /// several attendees. Each attendee has one share. A connection carries at most
    /// ``ContentShareController/maximumShares``.
    public func contentShare(of other: AttendeeID) async throws -> ContentShareController {
        guard other.modality == .attendee else { throw AttendeeIDError.content(other.rawValue) }
        try checkOpen()
        if other == attendee { return contentShare }
        if let share = otherShares[other] { return share }
        let share = try ContentShareController(attendee: other, connection: connection)
        otherShares[other] = share
        return share
    }

    /// Whether the session has ended or is ending.
    package var isOver: Bool { ending != nil }

    /// Whether the connection was ever connected, or the session is over.
    var hasBegun: Bool { state.hasConnected || isOver }

    private var shares: [ContentShareController] { [contentShare] + otherShares.values }

    // MARK: Camera and microphone

    /// Sends video from `source` as the attendee's camera, instead of the source that it sends now. The caller starts
    /// the source. If the last offer has no media section for it, it is sent after the next offer and answer.
    public func startCamera(
        source: any VideoSource, parameters: VideoEncodingParameters = VideoEncodingParameters()
    ) async throws(ContentShareError) {
        try checkOpen()
        try await own.startVideo(source, parameters, over: [connection])
    }

    /// Stops sending the camera. The encoder's thread removes its sink from the source soon after this returns.
    public func stopCamera() { own.stopVideo() }

    /// Sends audio from `source` as the attendee's microphone, instead of the source that it sends now.
    public func startMicrophone(
        source: any AudioSource, parameters: AudioEncodingParameters = AudioEncodingParameters()
    ) async throws(ContentShareError) {
        try checkOpen()
        try await own.startAudio(source, parameters, over: [connection])
    }

    /// Stops sending the microphone. The encoder's thread removes its sink from the source soon after this returns.
    public func stopMicrophone() { own.stopAudio() }

    /// The track of the microphone, to mute it or set its volume. Nil if it is not sent.
    public var microphoneTrack: AudioTrack? { own.audioTrack }

    /// The track of the camera, to mute it or adapt its format. Nil if it is not sent.
    public var cameraTrack: VideoTrack? { own.videoTrack }

    /// Returns the media of this attendee that were started and that the viewer's newest answer declines.
    public func refusedMedia() async -> Set<SharedMedia> {
        await contentShare.refusedMedia(of: connection).union(await own.refusedMedia(on: connection))
    }

    // MARK: A recording

    /// Records the received media from now on, until `recorder` is closed: each video and each audio stream in a track
    /// with its attendee's id. Recording decodes nothing.
    ///
    /// If no key frame has arrived for ten seconds and 300 frames, one is requested, so that players can seek.
    public func recordReceived(to recorder: WebMRecorder) { recordReceived(to: recorder.addSource()) }

    /// Records the received media as those of a sender, whose earlier sessions are over. Media continue in the tracks
    /// of their names.
    package func recordReceived(to source: RecordingSource) {
        source.restart()
        tiles.record(to: source)
        audio.record(to: source)
    }

    // MARK: The connection

    /// Connects this session to a viewing one in the same process, with an offer and its answer. Another call offers
    /// the changes since the last one. If the route is lost, the offer restarts ICE.
    ///
    /// If either connection loses its route after that, this session makes another offer without a call.
    public func connect(to viewer: AttendeeSession) async throws {
        self.viewer = viewer
        viewer.setPresenter(self)
        if await isPathLost(to: viewer) { await connection.restartICE() }
        let offer = try await connection.makeOffer()
        let answer = try await viewer.connection.answer(offer: offer)
        try await connection.accept(answer: answer, to: offer)
    }

    private func setPresenter(_ presenter: AttendeeSession) {
        self.presenter = presenter
    }

    private func isPathLost(to viewer: AttendeeSession) async -> Bool {
        if await connection.needsRestart { return true }
        return await viewer.connection.needsRestart
    }

    /// Finds another route to the connected session, if that is in this process.
    private func reconnect() async {
        guard !isOver else { return }
        if let presenter { return await presenter.reconnect() }
        guard let viewer, await isPathLost(to: viewer) else { return }
        // If that fails, the connection fails after its timeout, with a reason.
        try? await connect(to: viewer)
    }

    /// Stops or resumes receiving an attendee's video and audio. If it is stopped, the attendee's tile is removed, and
    /// a sender without other viewers does not encode. If it resumes, a new tile is added.
    /// ``VideoTileController/pause(tile:)`` keeps the tile and its last frame instead, and saves only decoding.
    ///
    /// The peer learns of this from the next descriptions, in which the media sections are `inactive` (RFC 8829), so
    /// any peer understands it. Sessions that ``connect(to:)`` connected exchange descriptions at once. Other sessions
    /// pass on an offer of ``connection`` and its answer, or answer the peer's next offer. If the peer sends nothing of
    /// this attendee, the call changes nothing.
    public func setReceiving(_ isReceiving: Bool, of attendee: AttendeeID) async throws {
        try checkOpen()
        let media = await connection.remoteMedia
        for (receiver, media) in media.enumerated()
        where AttendeeID(ofStream: media.streamID, isContent: media.isContent, receiver: receiver) == attendee {
            await connection.setReceiving(isReceiving, receiver: receiver)
        }
        try await presenter?.connect(to: self)
    }

    /// Waits until the peer leaves or ``leave()`` is called.
    ///
    /// - Throws: The reason if the connection failed. `CancellationError` if the task is cancelled, which does not end
    ///   the session.
    public func waitUntilEnd() async throws {
        for await _ in states {}
        guard state.isOver else { throw CancellationError() }
        if let failure { throw failure }
    }

    /// Sends the queued packets and an RTCP BYE, and closes the connection. The encoders' threads remove their sinks
    /// from the sources soon after this returns. The sinks of received media get no more frames.
    public func leave() async {
        await end(.ok)
        await connection.drainQueue()
        await connection.close()
    }

    /// A report of all counts, as W3C's `getStats()` gives it.
    public func stats() async -> StatisticsReport {
        var report = await connection.stats()
        for share in shares {
            for encoding in await share.videoStatistics(of: connection) { encoding.add(to: &report) }
        }
        for encoding in await own.videoStatistics(of: connection) { encoding.add(to: &report) }
        return report
    }

    private func handle(_ signal: ConnectionSignal) async {
        switch signal {
        case .state(.closed):
            // Frames that the peer sent before it left are delivered first.
            await reception.value
            await end(.closedByPeer)
        case .state(.failed):
            await reception.value
            guard let failure = await connection.failure else { return }
            let error = await ConnectionError(failure, on: connection)
            await end(.connectionFailed("\(error)"), failure: error)
        case .state(let state): change(to: state)
        case .restartNeeded:
            report(signal)
            // A wait could block both sessions, because each can ask the other to reconnect.
            Task { await reconnect() }
        case .localCandidate, .localCandidatesEnded: report(signal)
        }
    }

    func change(to new: ConnectionState, at now: Instant = MonotonicClock.now) {
        guard new != state, !state.isOver else { return }
        (state, stateSince) = (new, now)
        report(.state(new))
        onStateChange?(new)
    }

    private func report(_ signal: ConnectionSignal) {
        pending.removeAll(where: signal.outdates)
        if case .state = signal {} else { pending.append(signal) }
        readers.forEach { $0.append(signal) }
    }

    private func checkOpen() throws(ContentShareError) {
        if isOver { throw .ended }
    }

    /// Ends the session, once, and returns when that was reported.
    private func end(_ status: ContentShareStatus, failure: (any Error)? = nil) async {
        let ending = ending ?? Task { await finish(status, failure) }
        self.ending = ending
        await ending.value
    }

    private func finish(_ status: ContentShareStatus, _ failure: (any Error)?) async {
        own.end()
        for controller in shares { controller.connectionEnded(connection, status) }
        // Observers get the event that is being handled before they get the end.
        reception.cancel()
        await reception.value
        await tiles.end()
        await audio.end()
        self.failure = failure
        change(to: failure == nil ? .closed : .failed)
        pending = []
        readers.forEach { $0.finish() }
    }
}

/// A candidate of the local side, which the peer must get if both sides trickle (W3C `RTCIceCandidate`).
public struct LocalCandidate: Sendable, Hashable {
    /// The value of an `a=candidate` line.
    public let candidate: String
    /// The `a=mid` of its section.
    public let sdpMid: String
    /// The user name fragment of the description that it belongs to.
    public let usernameFragment: String
}
