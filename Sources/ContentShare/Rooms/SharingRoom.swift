public import RTCShareMedia
public import RTCSharePeerConnection
package import RTCShareSDP
public import RTCShareStreams
public import RTCShareTransport

/// A room in which one attendee shares content to viewers, each on its own connection.
///
///                                                ┌─▶ session of viewer 1   main
///     source ──▶ contentShare ──▶ destination ───┼─▶ session of viewer 2   main, design
///                one encode       main, design … └─▶ session of viewer 3         design, sales
///
/// The share has one destination: the main room, or a subgroup that the owner has joined. All viewers in the
/// destination get the content from one encode. All admitted viewers get the owner's camera and microphone. The
/// destination can change during the share. Viewers in the old destination lose the tile, viewers in the new one get
/// it, and viewers in both notice nothing.
@SharingActor public final class SharingRoom {
    /// The attendee that shares.
    public nonisolated let owner: AttendeeID
    /// The share of the owner's content, which is sent to the viewers in the destination.
    public nonisolated let contentShare: ContentShareController
    /// The part of the room to which the content is shared.
    public var destination: ShareDestination { audience.destination }
    /// The subgroups that the owner has joined.
    public private(set) var subgroups: Set<Subgroup> = []
    /// The ports for viewers' connections that have no port of their own.
    private let ports: SharedPorts?
    /// The owner's camera and microphone, each encoded once for all viewers.
    private let own: OwnMedia
    private let observers: ObserverList<any SharingRoomObserver>
    private let audience = RoomAudience()
    private var members: [Int: Member] = [:]
    private var viewersSoFar = 0
    /// Whether ``end()`` was called.
    package private(set) var hasEnded = false

    /// A viewer. The audience has its membership.
    private struct Member {
        /// The media that the viewer can be sent.
        let media: Set<SharedMedia>
        let session: AttendeeSession
    }

    /// The maximum number of viewers in a room.
    public nonisolated static let maximumViewers = 1000

    /// Creates a room without viewers, with the owner in the main room. If `ports` is given, connections of viewers
    /// whose configuration has no port use those ports in turn. The program must close `ports` after the room has
    /// ended.
    public nonisolated init(owner: AttendeeID, ports: SharedPorts? = nil) throws(AttendeeIDError) {
        guard owner.modality == .attendee else { throw .content(owner.rawValue) }
        self.owner = owner
        self.ports = ports
        let observers = ObserverList<any SharingRoomObserver>()
        self.observers = observers
        let report: @SharingActor () -> Void = { observers.forEach { $0.roomDidChange() } }
        let home = HomeLoop(or: ports)
        own = OwnMedia(of: owner, to: audience, home: home, onChange: report)
        contentShare = try ContentShareController(attendee: owner, audience: audience, home: home, onChange: report)
    }

    // MARK: Viewers

    /// The viewers in the order in which they joined.
    public var viewers: [RoomViewer] {
        members.sorted { $0.key < $1.key }.compactMap { id, member in
            audience[member.session.connection].map { RoomViewer(id: id, membership: $0, session: member.session) }
        }
    }

    /// Returns the membership of a viewer. Nil if there is no such viewer.
    package func membership(of viewer: Int) -> RoomMembership? {
        members[viewer].flatMap { audience[$0.session.connection] }
    }

    /// Returns the session with a viewer. Nil if there is no such viewer.
    package func session(of viewer: Int) -> AttendeeSession? { members[viewer]?.session }

    /// Notifies `observer` of changes from now on.
    package nonisolated func add(observer: any SharingRoomObserver) { observers.add(observer) }

    private func reportChange() { observers.forEach { $0.roomDidChange() } }

    /// Opens a connection to a new viewer as the offerer. The offer has sections for `media`, and other media need
    /// another offer.
    public func addViewer(
        media: Set<SharedMedia> = [.content], configuration: Connection.Configuration = Connection.Configuration(),
        membership: RoomMembership = RoomMembership()
    ) async throws -> RoomViewer {
        try await addViewer(
            announcing: media, sending: Set(SharedMedia.allCases), configuration: configuration, membership: membership)
    }

    /// Opens a connection to a new viewer as the offerer, which is sent only `media`, even if the owner sends more
    /// later. This is for servers that accept one video and one audio stream.
    package func addViewer(
        restrictedTo media: Set<SharedMedia>, configuration: Connection.Configuration,
        membership: RoomMembership = RoomMembership()
    ) async throws -> RoomViewer {
        try await addViewer(
            announcing: media, sending: media, configuration: configuration, membership: membership)
    }

    private func addViewer(
        announcing announced: Set<SharedMedia>, sending media: Set<SharedMedia>,
        configuration: Connection.Configuration, membership: RoomMembership
    ) async throws -> RoomViewer {
        let connection = try await connection(offering: announced, configuration: configuration)
        let pending = try register(connection, sending: media, membership: membership)
        return try await connect(pending) { try await connection.begin(with: $0) }.viewer
    }

    @concurrent
    private nonisolated func connection(
        offering media: Set<SharedMedia>, configuration: Connection.Configuration
    ) async throws -> Connection {
        try Connection(
            unopenedAs: .offerer,
            identity: LocalIdentity(media: SharedMedia.kinds(media, of: owner), configuration: configuration),
            configuration: onPort(configuration))
    }

    private nonisolated func onPort(_ configuration: Connection.Configuration) -> Connection.Configuration {
        var configuration = configuration.withCodecs()
        if configuration.sharedPort == nil, configuration.port == 0 { configuration.sharedPort = ports?.next() }
        return configuration
    }

    /// Opens a connection to a new viewer that offered to receive, and answers the offer. Each medium, in W3C's order,
    /// uses the first section of its kind. Media without a section in the offer are not sent.
    ///
    /// STUN and TURN servers of the configuration have one second to respond, because the answer must contain all
    /// candidates.
    /// - Throws: `NegotiationError` if the offer accepts none of the media, ``SharingRoomError``.
    public func addViewer(
        offering offer: String, media: Set<SharedMedia> = [.content],
        configuration: Connection.Configuration = Connection.Configuration(),
        membership: RoomMembership = RoomMembership()
    ) async throws -> (viewer: RoomViewer, answer: String) {
        guard !hasEnded else { throw SharingRoomError.ended }
        let (offer, connection) = try await read(offer, media: media, configuration: configuration)
        let pending = try register(connection, membership: membership)
        let (viewer, answer) = try await self.answer(offer, for: pending)
        return (viewer, answer.description)
    }

    @concurrent
    private nonisolated func read(
        _ offer: String, media: Set<SharedMedia>, configuration: Connection.Configuration
    ) async throws -> (SessionDescription, Connection) {
        let offer = try SessionDescription.parse(offer)
        return (offer, try connection(answering: offer, media: media, configuration: configuration))
    }

    /// Creates the connection that answers an offer, without opening it. An offer that can't be answered uses no socket
    /// and no TURN allocation.
    ///
    /// Don't call this on the sharing actor. It creates keys and tries the negotiation, which takes milliseconds, and
    /// anyone can send offers.
    package nonisolated func connection(
        answering offer: SessionDescription, media: Set<SharedMedia>, configuration: Connection.Configuration
    ) throws -> Connection {
        let identity = try LocalIdentity(media: SharedMedia.kinds(media, of: owner))
        try identity.checkAnswerable(offer)
        return try Connection(unopenedAs: .answerer, identity: identity, configuration: onPort(configuration))
    }

    /// The time to gather candidates at servers before an offer is answered.
    private static let gatheringPatience = Duration.seconds(1)

    /// Opens the connection of a viewer, and answers its offer. The connection is closed if this throws.
    package func answer(
        _ offer: SessionDescription, for pending: PendingViewer
    ) async throws -> (viewer: RoomViewer, answer: SessionDescription) {
        let connection = pending.viewer.session.connection
        let (viewer, answer) = try await connect(pending) {
            try await connection.answer(offer, gatheringFor: Self.gatheringPatience, with: $0)
        }
        return (viewer, answer)
    }

    /// Adds the peer of a connection to the room as a viewer with a new session, until the connection ends. The viewer
    /// is sent the share after its answer is accepted. The connection is closed if this throws.
    public func addViewer(
        on connection: Connection, membership: RoomMembership = RoomMembership()
    ) async throws -> RoomViewer {
        let pending: PendingViewer
        do {
            pending = try register(connection, membership: membership)
        } catch {
            await connection.close()
            throw error
        }
        return try await connect(pending) { try await connection.open($0) }.viewer
    }

    /// Adds the peer of a connection to the room as a viewer, until the connection ends. The viewer is sent nothing
    /// yet. It can take the place of `replaced`, a viewer that the caller removes.
    package func register(
        _ connection: Connection, sending media: Set<SharedMedia> = Set(SharedMedia.allCases),
        membership: RoomMembership, replacing replaced: Int? = nil
    ) throws(SharingRoomError) -> PendingViewer {
        guard !hasEnded else { throw .ended }
        let count = members.count - (replaced.map { members[$0] != nil } == true ? 1 : 0)
        guard count < Self.maximumViewers else { throw .tooManyViewers(limit: Self.maximumViewers) }
        viewersSoFar += 1
        let id = viewersSoFar
        let session = AttendeeSession(connection: connection, contentShare: contentShare)
        session.onStateChange = { [weak self] in self?.viewer(id, didChangeTo: $0) }
        members[id] = Member(media: media, session: session)
        audience[connection] = membership
        return PendingViewer(
            viewer: RoomViewer(id: id, membership: membership, session: session),
            openings: contentShare.add(connection, taking: media) + own.openings(taking: media))
    }

    /// Calls `body`, which opens the streams on the viewer's connection in the inactive state. After that, the viewer
    /// is sent the media that the audience allows at that time. The connection is closed if `body` throws.
    func connect<Result>(
        _ pending: PendingViewer, by body: ([StreamOpening]) async throws -> Result
    ) async throws -> (viewer: RoomViewer, result: Result) {
        let (id, session) = (pending.viewer.id, pending.viewer.session)
        do {
            let result = try await body(pending.openings)
            // Viewers who leave are members until their media have ended.
            guard !session.isOver, let membership = membership(of: id) else {
                throw SharingRoomError.unknownViewer(id)
            }
            contentShare.activate(session.connection)
            own.activate(session.connection)
            return (RoomViewer(id: id, membership: membership, session: session), result)
        } catch {
            // An opening that fails closes the connection, which ends the session, too: its reason is kept.
            let hasLeft = session.isOver && Self.isEnd(error)
            await session.leave()
            throw hasEnded ? SharingRoomError.ended : hasLeft ? SharingRoomError.unknownViewer(id) : error
        }
    }

    /// Returns whether an error has no other reason than the end of a connection.
    private static func isEnd(_ error: any Error) -> Bool {
        switch error {
        case PeerConnectionError.ended, ContentShareError.ended, is CancellationError: true
        default: false
        }
    }

    /// Changes the parts of the room to which a viewer belongs.
    public func changeMembership(
        of viewer: Int, to membership: RoomMembership
    ) throws(SharingRoomError) {
        guard let member = members[viewer] else { throw .unknownViewer(viewer) }
        audience[member.session.connection] = membership
        own.audienceChanged()
        contentShare.audienceChanged()
        reportChange()
    }

    private func viewer(_ id: Int, didChangeTo state: ConnectionState) {
        if state.isOver { remove(id) }
        observers.forEach { $0.viewer(id, didChangeTo: state) }
    }

    private func remove(_ viewer: Int) {
        guard let connection = members.removeValue(forKey: viewer)?.session.connection else { return }
        audience[connection] = nil
        own.remove(connection)
    }

    // MARK: The owner's camera and microphone

    /// Sends video from `source` as the owner's camera to all admitted viewers, instead of the source that is sent now.
    /// The caller starts the source.
    public func startCamera(
        source: any VideoSource, parameters: VideoEncodingParameters = VideoEncodingParameters()
    ) async throws(ContentShareError) {
        guard !hasEnded else { throw .ended }
        try await own.startVideo(source, parameters, over: connections(taking: .camera))
    }

    /// Stops sending the camera. The encoder's thread removes its sink from the source soon after this returns.
    public func stopCamera() { own.stopVideo() }

    /// Sends audio from `source` as the owner's microphone to all admitted viewers, instead of the source that is sent
    /// now.
    public func startMicrophone(
        source: any AudioSource, parameters: AudioEncodingParameters = AudioEncodingParameters()
    ) async throws(ContentShareError) {
        guard !hasEnded else { throw .ended }
        try await own.startAudio(source, parameters, over: connections(taking: .microphone))
    }

    /// Stops sending the microphone. The encoder's thread removes its sink from the source soon after this returns.
    public func stopMicrophone() { own.stopAudio() }

    /// The track of the microphone, to mute it or set its volume. Nil if it is not sent.
    public var microphoneTrack: AudioTrack? { own.audioTrack }

    /// The track of the camera, to mute it or adapt its format. Nil if it is not sent.
    public var cameraTrack: VideoTrack? { own.videoTrack }

    private func connections(taking media: SharedMedia) -> [Connection] {
        members.values.filter { $0.media.contains(media) }.map(\.session.connection)
    }

    /// A report of all counts of a viewer, as W3C's `getStats()` gives it; nil if there is no such viewer.
    public func stats(of viewer: Int) async -> StatisticsReport? {
        guard let session = members[viewer]?.session else { return nil }
        var report = await session.stats()
        for encoding in await own.videoStatistics(of: session.connection) { encoding.add(to: &report) }
        return report
    }

    /// Returns the media that a viewer's newest description declines.
    public func refusedMedia(of viewer: Int) async -> Set<SharedMedia> {
        guard let session = members[viewer]?.session else { return [] }
        return await session.refusedMedia().union(await own.refusedMedia(on: session.connection))
    }

    // MARK: A recording

    /// Records the sent media from now on, until `recorder` is closed: the content with its audio as `alice#content`,
    /// the owner's camera and microphone as `alice`. A later recorder replaces an earlier one.
    ///
    /// The media are recorded once, in their best quality, for any number of viewers. Without viewers they are encoded
    /// only for the recording.
    public func record(to recorder: WebMRecorder) {
        let source = recorder.addSource()
        own.record(to: source)
        contentShare.record(to: source)
    }

    // MARK: Subgroups

    /// Joins a subgroup as the owner. Does nothing if the owner has joined it already.
    public func join(_ subgroup: Subgroup) { subgroups.insert(subgroup) }

    /// Leaves a subgroup as the owner. If it is the destination of a share, change the destination or stop the share
    /// first.
    public func leave(_ subgroup: Subgroup) throws(SharingRoomError) {
        let isSharing = contentShare.isSharing
        guard subgroups.contains(subgroup) else { throw .notJoined(subgroup) }
        if destination == .subgroup(subgroup) {
            guard !isSharing else { throw .sharingTo(subgroup) }
            audience.destination = .main
        }
        subgroups.remove(subgroup)
        contentShare.audienceChanged()
        reportChange()
    }

    /// Changes the destination of the share without an interruption, or that of the next share. The owner must have
    /// joined a subgroup first.
    public func changeDestination(to new: ShareDestination) throws(SharingRoomError) {
        try check(new)
        audience.destination = new
        contentShare.audienceChanged()
        reportChange()
    }

    /// Shares `source`, with the audio of `audio` if it is given, and changes the destination in one step. Viewers
    /// outside the destination see nothing of the new source, and viewers inside see nothing of the old one. The owner
    /// must have joined a subgroup first.
    ///
    /// If this throws, the destination stays as it was.
    public func startContentShare(
        source: any VideoSource, audio: (any AudioSource)? = nil, to destination: ShareDestination,
        parameters: VideoEncodingParameters = VideoEncodingParameters(),
        audioParameters: AudioEncodingParameters = AudioEncodingParameters()
    ) async throws {
        try check(destination)
        try await contentShare.prepare(parameters, audio == nil ? nil : audioParameters)
        try check(destination)
        let previous = self.destination
        audience.destination = destination
        do {
            try contentShare.show(
                source, audio, parameters: parameters, audioParameters: audioParameters)
        } catch {
            audience.destination = previous
            throw error
        }
    }

    private func check(_ destination: ShareDestination) throws(SharingRoomError) {
        guard !hasEnded else { throw .ended }
        if case .subgroup(let subgroup) = destination, !subgroups.contains(subgroup) { throw .notJoined(subgroup) }
    }

    /// Ends the share and disconnects all viewers. The encoders' threads remove their sinks from the sources soon after
    /// this returns.
    public func end() async {
        hasEnded = true
        own.end()
        contentShare.end(.ok)
        reportChange()
        await withDiscardingTaskGroup { group in
            for viewer in members.values { group.addTask { await viewer.session.leave() } }
        }
    }
}
