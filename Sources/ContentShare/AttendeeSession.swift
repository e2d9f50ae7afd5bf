public import RTCShareMedia
public import RTCSharePeerConnection
internal import RTCShareSDP
public import RTCShareStreams
public import RTCShareTransport
internal import RTCShareVideoCoding
public import RTCShareWireFormat

/// An attendee on a connection: shares content, sends an own picture and voice, and sees what the peer sends.
///
///     content ──▶ alice#content ─┐                        ┌─▶ tiles ──▶ sinks
///     camera ───▶ alice ─────────┼─▶ connection ◀──────▶ ─┤
///     voice ────▶ alice ─────────┘                        └─▶ sounds ─▶ sinks
///
/// It is the one reader of what the connection tells.
@SharingActor public final class AttendeeSession {
    /// The local attendee.
    public nonisolated let attendee: AttendeeID
    /// The session's connection, for descriptions and statistics.
    public nonisolated let connection: Connection
    /// Shares the attendee's content.
    public nonisolated let contentShare: ContentShareController
    /// The pictures that the peer sends.
    public nonisolated let tiles: VideoTileController
    /// The sound that the peer sends.
    public nonisolated let sounds: RemoteSoundController
    /// The attendee's own picture and voice.
    private let own: OwnMedia
    /// Hands on what the peer sends, until it is gone.
    private let reception: Task<Void, Never>
    /// The state of the connection. After the last one, nothing more is reported.
    public private(set) var state = ConnectionState.new
    /// Why the connection failed; nil if it did not.
    public private(set) var failure: (any Error)?
    /// The readers of ``signals``.
    private let readers = ObserverList<ConnectionEvents<ConnectionSignal>>()
    /// The signals beside the state that still hold.
    private var pending: [ConnectionSignal] = []
    /// The end, under way or over.
    private var ending: Task<Void, Never>?
    /// The time at which it got that state.
    package private(set) var stateSince = MonotonicClock.now
    /// Called with each new state, after the observers.
    var onStateChange: (@SharingActor (ConnectionState) -> Void)?
    /// The session that this one was connected to by ``connect(to:)``, and the one that connected to this one.
    private weak var viewer: AttendeeSession?
    private weak var presenter: AttendeeSession?
    /// The content of other attendees, in whose name this one shares.
    private var otherShares: [AttendeeID: ContentShareController] = [:]
    /// What the offer announces, where this session drew it itself.
    let identity: LocalIdentity?

    /// The attendee on a connection, of which it reads the events from now on.
    package nonisolated convenience init(attendee: AttendeeID, connection: Connection) throws(AttendeeIDError) {
        guard attendee.modality == .attendee else { throw .content(attendee.rawValue) }
        self.init(
            connection: connection, contentShare: try ContentShareController(attendee: attendee, connection: connection)
        )
    }

    /// Whose content is shared on a connection, which may be one of many.
    nonisolated init(connection: Connection, contentShare: ContentShareController, identity: LocalIdentity? = nil) {
        let attendee = contentShare.attendee
        self.attendee = attendee
        self.connection = connection
        self.contentShare = contentShare
        self.identity = identity
        own = OwnMedia(of: attendee, home: HomeLoop(of: connection))
        tiles = VideoTileController()
        sounds = RemoteSoundController()
        let (signals, media) = (connection.signals, connection.receiveMedia())
        // It keeps nobody alive: a session that is released closes its connection.
        reception = Task { @SharingActor [weak tiles, weak sounds] in
            for await event in media {
                await tiles?.handle(event)
                await sounds?.handle(event)
            }
        }
        Task { @SharingActor [weak self] in
            for await signal in signals { await self?.handle(signal) }
            await self?.end(.ok)
        }
    }

    deinit { readers.forEach { $0.finish() } }

    /// Opens a connection as the one who offers, for the attendee's content and what else `media` names.
    public static func offering(
        as attendee: AttendeeID, media: Set<SharedMedia> = [.content],
        configuration: Connection.Configuration = Connection.Configuration()
    ) async throws -> AttendeeSession {
        guard attendee.modality == .attendee else { throw AttendeeIDError.content(attendee.rawValue) }
        let identity = try LocalIdentity(media: SharedMedia.kinds(media, of: attendee))
        let connection = try await Connection(as: .offerer, identity: identity, configuration: configuration)
        return AttendeeSession(
            connection: connection,
            contentShare: try ContentShareController(attendee: attendee, connection: connection), identity: identity)
    }

    /// Opens a connection as one who answers, and sees what others share.
    public static func viewing(
        as attendee: AttendeeID, configuration: Connection.Configuration = Connection.Configuration()
    ) async throws -> AttendeeSession {
        let connection = try await Connection(
            as: .answerer, identity: try LocalIdentity(media: []), configuration: configuration)
        return try AttendeeSession(attendee: attendee, connection: connection)
    }

    /// Opens a connection as one who offers to receive so many pictures and sounds, and sees what others share: for players
    /// (W3C `addTransceiver`, recvonly).
    public static func receiving(
        as attendee: AttendeeID, pictures: Int = 1, sounds: Int = 1,
        configuration: Connection.Configuration = Connection.Configuration()
    ) async throws -> AttendeeSession {
        let connection = try await Connection(
            as: .offerer, identity: try LocalIdentity(media: []), configuration: configuration)
        do {
            for _ in 0..<pictures { try await connection.addReceivingSection(isVideo: true) }
            for _ in 0..<sounds { try await connection.addReceivingSection(isVideo: false) }
            return try AttendeeSession(attendee: attendee, connection: connection)
        } catch {
            await connection.close()
            throw error
        }
    }

    /// The states of the connection, beginning with the present one and ending with a state that is over. Each call gives a
    /// sequence of its own, for one reader. If the reader is slow, it misses states that passed meanwhile, and can get a state
    /// twice.
    public var states: some AsyncSequence<ConnectionState, Never> & Sendable {
        signals.compactMap { if case .state(let state) = $0 { state } else { nil } }
    }

    /// The local candidates of the newest description, and those that are found from now on; nil says that no more are
    /// looked for. Each call gives a sequence of its own, for one reader.
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

    /// Gives an element each time no packet can be sent any more, and at once where that is so. Another path may be found: have
    /// ``connection`` restart ICE, offer, and take the peer's answer. Sessions that were connected by ``connect(to:)`` do so by
    /// themselves.
    public var restartRequests: some AsyncSequence<Void, Never> & Sendable {
        signals.compactMap { if case .restartNeeded = $0 { () } else { nil } }
    }

    /// The states, and what else happens to the connection, in order; see ``states``.
    package var signals: ConnectionEvents<ConnectionSignal>.Stream {
        let reader = ConnectionEvents<ConnectionSignal>()
        reader.append(.state(state))
        pending.forEach(reader.append)
        if state.isOver { reader.finish() } else { readers.add(reader) }
        return reader.stream
    }

    /// Shares content in another attendee's name over the same connection: for a program that presents for several. An
    /// attendee has one share; a connection carries at most ``ContentShareController/maximumShares``.
    public func contentShare(of other: AttendeeID) async throws -> ContentShareController {
        guard other.modality == .attendee else { throw AttendeeIDError.content(other.rawValue) }
        try checkOpen()
        if other == attendee { return contentShare }
        if let share = otherShares[other] { return share }
        let share = try ContentShareController(attendee: other, connection: connection)
        otherShares[other] = share
        return share
    }

    /// Whether it has ended, or is about to.
    package var isOver: Bool { ending != nil }

    /// Whether there is, or was, a viewer.
    var hasBegun: Bool { state.hasConnected || isOver }

    private var shares: [ContentShareController] { [contentShare] + otherShares.values }

    // MARK: Own picture and voice

    /// Sends what `source` shows as the attendee's own picture; replaces the source where one is sent already. The
    /// source is started by whoever made it. What the offer had no place for is sent from the next offer and its answer on.
    public func startLocalVideo(
        source: any VideoSource, configuration: LocalVideoConfiguration = LocalVideoConfiguration()
    ) async throws(ContentShareError) {
        try checkOpen()
        try await own.startVideo(source, configuration, over: [connection])
    }

    /// Sends no own picture any more. The encoder's thread removes its sink from the source soon after this returns.
    public func stopLocalVideo() { own.stopVideo() }

    /// Sends `source` as the attendee's own voice; replaces the source where one is sent already.
    public func startLocalAudio(
        source: any AudioSource, configuration: LocalAudioConfiguration = LocalAudioConfiguration()
    ) async throws(ContentShareError) {
        try checkOpen()
        try await own.startAudio(source, configuration, over: [connection])
    }

    /// Sends no own voice any more. The encoder's thread removes its sink from the source soon after this returns.
    public func stopLocalAudio() { own.stopAudio() }

    /// The attendee's own voice, to mute it or to set its volume; nil where none is sent.
    public var localAudioTrack: AudioTrack? { own.audioTrack }

    /// The attendee's own picture, to mute it or to adapt its format; nil where none is sent.
    public var localVideoTrack: VideoTrack? { own.videoTrack }

    /// What of this attendee's media the viewer's newest answer declines: of what was started, the rest being nobody's loss.
    public func refusedMedia() async -> Set<SharedMedia> {
        await contentShare.refusedMedia(of: connection).union(await own.refusedMedia(on: connection))
    }

    // MARK: A recording

    /// Records what the peer sends from now on, until `recorder` is closed: each picture and each sound in a track with
    /// its attendee's id. Nothing is decoded for that.
    ///
    /// Where pictures have come for ten seconds without a place to seek to, the peer is asked for one.
    public func recordReceived(to recorder: WebMRecorder) {
        let source = recorder.addSource()
        tiles.record(to: source)
        sounds.record(to: source)
    }

    // MARK: The connection

    /// Connects this session to one that views, where both are in one process: makes an offer, and takes the answer. Called
    /// again, it offers what has changed since; where there is nothing to send on any more, the offer finds another way.
    ///
    /// From then on, when either connection has lost its way, this session offers another one by itself.
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

    /// Finds another way to the session at the other end, where that is in this process.
    private func reconnect() async {
        guard !isOver else { return }
        if let presenter { return await presenter.reconnect() }
        guard let viewer, await isPathLost(to: viewer) else { return }
        // Where it does not succeed, the connection fails in its time and says why.
        try? await connect(to: viewer)
    }

    /// Has the peer stop sending what an attendee sends, or send it again: picture and sound, and of nobody else. The tile goes,
    /// and comes back; a sender without other viewers encodes nothing meanwhile. To keep the tile and its last picture, and
    /// save no more than decoding, pause it: ``VideoTileController/pause(tile:)``.
    ///
    /// The peer learns of it by the next descriptions, in which the sections are `inactive` (RFC 8829), as any peer
    /// understands. Sessions that were connected by ``connect(to:)`` exchange them at once. Others hand on an offer of
    /// ``connection`` and its answer, or answer the peer's next offer. An attendee of whom the peer sends nothing is left as is.
    public func setReceiving(_ isReceiving: Bool, of attendee: AttendeeID) async throws {
        try checkOpen()
        let media = await connection.remoteMedia
        for (receiver, media) in media.enumerated()
        where AttendeeID(ofStream: media.streamID, isContent: media.isContent, receiver: receiver) == attendee {
            await connection.setReceiving(isReceiving, receiver: receiver)
        }
        try await presenter?.connect(to: self)
    }

    /// Returns when the peer has left or ``leave()`` was called; throws where the connection failed.
    /// A task that is cancelled waits no longer, and throws `CancellationError`; the session goes on.
    public func waitUntilEnd() async throws {
        for await _ in states {}
        guard state.isOver else { throw CancellationError() }
        if let failure { throw failure }
    }

    /// Lets what is queued leave, says goodbye and closes the connection. The encoders' threads remove their sinks from what was
    /// sent soon after this returns; what was received gives its sinks nothing more.
    public func leave() async {
        await end(.ok)
        await connection.drainQueue()
        await connection.close()
    }

    /// A report of all counts, as W3C's `getStats()` gives it.
    public func stats() async -> StatisticsReport {
        var report = await connection.stats()
        for share in shares { await share.videoStatistics(of: connection)?.add(to: &report) }
        await own.videoStatistics(of: connection)?.add(to: &report)
        return report
    }

    private func handle(_ signal: ConnectionSignal) async {
        switch signal {
        case .state(.closed):
            // What it sent before is still shown.
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
            // Not waited for: each of two sessions may be asking the other.
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
        // Of a description that another one replaces, nothing holds.
        if case .localCandidate = signal, pending.contains(where: signal.outdates) { pending = [] }
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
        // Observers get what is being handled before the end.
        reception.cancel()
        await reception.value
        await tiles.end()
        await sounds.end()
        self.failure = failure
        change(to: failure == nil ? .closed : .failed)
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

/// What an attendee may send over a connection.
public enum SharedMedia: Sendable, Hashable, CaseIterable {
    /// The picture of what is shared.
    case content
    /// The sound of what is shared.
    case contentAudio
    /// The attendee's own picture.
    case camera
    /// The attendee's own voice.
    case microphone

    /// What it takes where nothing else is said.
    public var defaultBitrate: DataRate {
        switch self {
        case .content: VideoDefaults.content.bitrate
        case .camera: VideoDefaults.camera.bitrate
        case .contentAudio: AudioSendStream.Settings(isVoice: false).bitrate
        case .microphone: AudioSendStream.Settings(isVoice: true).bitrate
        }
    }

    /// The sections of a description with these, in the order in which all of ours are.
    package static func kinds(
        _ media: Set<SharedMedia>, of attendee: AttendeeID
    ) throws(AttendeeIDError) -> [LocalIdentity.MediaKind] {
        let content = try attendee.content.rawValue
        return allCases.filter(media.contains).map { kind in
            switch kind {
            case .content: .video(streamID: content, isContent: true)
            case .contentAudio: .audio(streamID: content, isContent: true)
            case .camera: .video(streamID: attendee.rawValue, isContent: false)
            case .microphone: .audio(streamID: attendee.rawValue, isContent: false)
            }
        }
    }
}
