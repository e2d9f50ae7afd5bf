public import RTCShareMedia
public import RTCSharePeerConnection
package import RTCShareSDP
public import RTCShareStreams
public import RTCShareTransport
package import RTCShareWireFormat

/// A room in which one attendee shares content, to viewers each of whom has a connection.
///
///                                                ┌─▶ session of viewer 1   main
///     source ──▶ contentShare ──▶ destination ───┼─▶ session of viewer 2   main, design
///                one encode       main, design … └─▶ session of viewer 3         design, sales
///
/// The share has one destination: the main room, or a subgroup that the owner has joined. It goes to the viewers who
/// are there, from one encode. The owner's picture and voice go to everybody. The destination changes while the share runs: who is in the old one alone sees its tile go,
/// who is in the new one alone sees it come, and for who is in both nothing changes.
@SharingActor public final class SharingRoom {
    /// The attendee that shares.
    public nonisolated let owner: AttendeeID
    /// Shares the owner's content to those in the destination.
    public nonisolated let contentShare: ContentShareController
    /// Where the share goes.
    public var destination: ShareDestination { audience.destination }
    /// The subgroups that the owner has joined.
    public private(set) var subgroups: Set<Subgroup> = []
    /// Where the viewers' connections live that have no port of their own.
    private let ports: SharedPorts?
    /// The owner's picture and voice, encoded once for all.
    private let own: OwnMedia
    private let observers: ObserverList<any SharingRoomObserver>
    private let audience = RoomAudience()
    private var members: [Int: Member] = [:]
    private var viewersSoFar = 0
    private var hasEnded = false

    /// A viewer. The audience has its membership.
    private struct Member {
        /// The media that it can be sent.
        let media: Set<SharedMedia>
        let session: AttendeeSession
    }

    /// The viewers that a room has at most.
    public nonisolated static let maximumViewers = 1000

    /// A room without viewers, of which the owner is in the main room. Viewers whose configuration names no port share
    /// those of `ports`, each event loop's in its turn, where there are any; the program closes them when the room has ended.
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

    /// The viewers in the order of their arrival.
    public var viewers: [RoomViewer] {
        members.sorted { $0.key < $1.key }.compactMap { id, member in
            audience[member.session.connection].map { RoomViewer(id: id, membership: $0, session: member.session) }
        }
    }

    /// Where a viewer is. Nil if there is no such viewer.
    package func membership(of viewer: Int) -> RoomMembership? {
        members[viewer].flatMap { audience[$0.session.connection] }
    }

    /// The session with a viewer. Nil if there is no such viewer.
    package func session(of viewer: Int) -> AttendeeSession? { members[viewer]?.session }

    /// Reports changes to `observer` from now on.
    package nonisolated func add(observer: any SharingRoomObserver) { observers.add(observer) }

    private func reportChange() { observers.forEach { $0.roomDidChange() } }

    /// Opens a connection to one more viewer, as the one who offers: for the owner's content and what else `media` names.
    public func addViewer(
        media: Set<SharedMedia> = [.content], configuration: Connection.Configuration = Connection.Configuration(),
        membership: RoomMembership = RoomMembership()
    ) async throws -> RoomViewer {
        try await addViewer(
            announcing: media, sending: Set(SharedMedia.allCases), configuration: configuration, membership: membership)
    }

    /// Opens a connection to one more viewer, as the one who offers, which is sent nothing else than `media`, whatever the
    /// owner begins to send beside them: for servers that take one picture and one sound.
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
        let connection = try Connection(
            unopenedAs: .offerer, identity: LocalIdentity(media: SharedMedia.kinds(announced, of: owner)),
            configuration: onPort(configuration))
        let pending = try register(connection, sending: media, membership: membership)
        return try await connect(pending) { try await connection.begin(with: $0) }.viewer
    }

    private nonisolated func onPort(_ configuration: Connection.Configuration) -> Connection.Configuration {
        var configuration = configuration
        if configuration.sharedPort == nil, configuration.port == 0 { configuration.sharedPort = ports?.next() }
        return configuration
    }

    /// Opens a connection to one more viewer, who offers to receive, and answers. What the offer has no section for is not
    /// sent to this viewer: of `media`, in W3C's order, each goes into the first section of its kind.
    ///
    /// Servers of the configuration are asked first, for a second at most: a player's answer holds all candidates.
    /// - Throws: `NegotiationError` for an offer that takes nothing of it, ``SharingRoomError``.
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

    /// Makes the connection that answers an offer, not open yet. An offer that can't be answered costs no socket, and nothing
    /// at a TURN server.
    ///
    /// Keys and a trial take milliseconds, and any stranger can send offers: don't call it on the sharing actor.
    package nonisolated func connection(
        answering offer: SessionDescription, media: Set<SharedMedia>, configuration: Connection.Configuration
    ) throws -> Connection {
        let identity = try LocalIdentity(media: SharedMedia.kinds(media, of: owner))
        try identity.checkAnswerable(offer)
        return try Connection(unopenedAs: .answerer, identity: identity, configuration: onPort(configuration))
    }

    /// How long a viewer who offered waits for servers that are asked for it.
    private static let gatheringPatience = Duration.seconds(1)

    /// Opens the connection of a viewer, and answers its offer. If this throws, the connection is closed.
    package func answer(
        _ offer: SessionDescription, for pending: PendingViewer
    ) async throws -> (viewer: RoomViewer, answer: SessionDescription) {
        let connection = pending.viewer.session.connection
        let (viewer, answer) = try await connect(pending) {
            try await connection.answer(offer, gatheringFor: Self.gatheringPatience, with: $0)
        }
        return (viewer, answer)
    }

    /// Adds the peer of a connection to the room as a viewer, with a session of its own, until the connection ends. The viewer
    /// is sent the share once its answer is accepted. If this throws, the connection is closed.
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

    /// Adds the peer of a connection to the room as a viewer, until the connection ends. It is sent nothing yet.
    package func register(
        _ connection: Connection, sending media: Set<SharedMedia> = Set(SharedMedia.allCases),
        membership: RoomMembership
    ) throws(SharingRoomError) -> PendingViewer {
        guard !hasEnded else { throw .ended }
        guard members.count < Self.maximumViewers else { throw .tooManyViewers(limit: Self.maximumViewers) }
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

    /// Calls `body`, which opens the streams over the viewer's connection, held back. When that returns, the viewer is sent
    /// what the audience says at that time. If it throws, the connection is closed.
    private func connect<Result>(
        _ pending: PendingViewer, by body: ([StreamOpening]) async throws -> Result
    ) async throws -> (viewer: RoomViewer, result: Result) {
        let (id, session) = (pending.viewer.id, pending.viewer.session)
        do {
            let result = try await body(pending.openings)
            guard let membership = membership(of: id) else { throw SharingRoomError.unknownViewer(id) }
            contentShare.activate(session.connection)
            own.activate(session.connection)
            return (RoomViewer(id: id, membership: membership, session: session), result)
        } catch {
            let hasLeft = members[id] == nil
            await session.leave()
            throw hasEnded ? SharingRoomError.ended : hasLeft ? SharingRoomError.unknownViewer(id) : error
        }
    }

    /// Moves a viewer within the room.
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

    // MARK: The owner's picture and voice

    /// Sends what `source` shows as the owner's own picture, to everybody who is not waiting; replaces the source where one is
    /// sent already. The source is started by whoever made it.
    public func startLocalVideo(
        source: any VideoSource, configuration: LocalVideoConfiguration = LocalVideoConfiguration()
    ) async throws(ContentShareError) {
        guard !hasEnded else { throw .ended }
        try await own.startVideo(source, configuration, over: connections(taking: .camera))
    }

    /// Sends no own picture any more. The encoder's thread removes its sink from the source soon after this returns.
    public func stopLocalVideo() { own.stopVideo() }

    /// Sends `source` as the owner's own voice, to everybody who is not waiting; replaces the source where one is sent already.
    public func startLocalAudio(
        source: any AudioSource, configuration: LocalAudioConfiguration = LocalAudioConfiguration()
    ) async throws(ContentShareError) {
        guard !hasEnded else { throw .ended }
        try await own.startAudio(source, configuration, over: connections(taking: .microphone))
    }

    /// Sends no own voice any more. The encoder's thread removes its sink from the source soon after this returns.
    public func stopLocalAudio() { own.stopAudio() }

    /// The owner's own voice, to mute it or to set its volume; nil where none is sent.
    public var localAudioTrack: AudioTrack? { own.audioTrack }

    /// The owner's own picture, to mute it or to adapt its format; nil where none is sent.
    public var localVideoTrack: VideoTrack? { own.videoTrack }

    private func connections(taking media: SharedMedia) -> [Connection] {
        members.values.filter { $0.media.contains(media) }.map(\.session.connection)
    }

    /// A report of all counts of a viewer, as W3C's `getStats()` gives it; nil if there is no such viewer.
    public func stats(of viewer: Int) async -> StatisticsReport? {
        guard let session = members[viewer]?.session else { return nil }
        var report = await session.stats()
        await own.videoStatistics(of: session.connection)?.add(to: &report)
        return report
    }

    /// What of the media a viewer's newest description declines.
    public func refusedMedia(of viewer: Int) async -> Set<SharedMedia> {
        guard let session = members[viewer]?.session else { return [] }
        return await session.refusedMedia().union(await own.refusedMedia(on: session.connection))
    }

    // MARK: A recording

    /// Records what is sent from now on, until `recorder` is closed: the content and its sound as `alice#content`, the
    /// owner's picture and voice as `alice`. Of two recorders the later has it.
    ///
    /// It is recorded once, as those of the best paths are sent it, whoever is there; without viewers too, and encoded for
    /// that.
    public func record(to recorder: WebMRecorder) {
        let source = recorder.addSource()
        own.record(to: source)
        contentShare.record(to: source)
    }

    // MARK: Subgroups

    /// Joins a subgroup as the owner. Joining again changes nothing.
    public func join(_ subgroup: Subgroup) { subgroups.insert(subgroup) }

    /// Has the owner leave a subgroup. One that is being shared to can't be left: change the destination first, or stop
    /// the share.
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

    /// Has the share go elsewhere from now on, without a pause; where nothing is shared yet, from its start on. A subgroup
    /// is to be joined before.
    public func changeDestination(to new: ShareDestination) throws(SharingRoomError) {
        try check(new)
        audience.destination = new
        contentShare.audienceChanged()
        reportChange()
    }

    /// Shares `source`, with the sound of `audio` where there is one, to a destination in one step: viewers elsewhere see
    /// nothing of it, and those at the destination nothing of what was shared before. A subgroup must be joined before.
    ///
    /// What fails leaves the destination as it was.
    public func startContentShare(
        source: any VideoSource, audio: (any AudioSource)? = nil, to destination: ShareDestination,
        configuration: LocalVideoConfiguration = LocalVideoConfiguration(),
        audioConfiguration: LocalAudioConfiguration = LocalAudioConfiguration()
    ) async throws {
        try check(destination)
        try await contentShare.prepare(configuration, audio == nil ? nil : audioConfiguration)
        try check(destination)
        let previous = self.destination
        audience.destination = destination
        do {
            try contentShare.show(
                source, audio, configuration: configuration, audioConfiguration: audioConfiguration)
        } catch {
            audience.destination = previous
            throw error
        }
    }

    private func check(_ destination: ShareDestination) throws(SharingRoomError) {
        guard !hasEnded else { throw .ended }
        if case .subgroup(let subgroup) = destination, !subgroups.contains(subgroup) { throw .notJoined(subgroup) }
    }

    /// Ends the share, and takes leave of everybody. The encoders' threads remove their sinks from what was sent soon after this
    /// returns.
    public func end() async {
        hasEnded = true
        own.end()
        contentShare.end(.ok)
        await withDiscardingTaskGroup { group in
            for viewer in members.values { group.addTask { await viewer.session.leave() } }
        }
    }
}

/// A viewer in a room whose connection isn't open yet.
package struct PendingViewer: Sendable {
    package let viewer: RoomViewer
    /// The streams that its connection begins with.
    let openings: [StreamOpening]
}

/// Somebody in a room who views.
public struct RoomViewer: Sendable, Identifiable {
    /// The viewer's number in the room; a number is used once.
    public let id: Int
    /// Where the viewer is.
    public let membership: RoomMembership
    /// The owner's session with the viewer: for descriptions, statistics, and an own picture and voice.
    public let session: AttendeeSession
}

/// Why something can't be done in a room. All is as it was before.
public enum SharingRoomError: Error, Hashable, Sendable {
    /// The room has ended.
    case ended
    /// The owner is no member of this subgroup.
    case notJoined(Subgroup)
    /// The owner's share goes to this subgroup.
    case sharingTo(Subgroup)
    /// A viewer would be neither in the main room nor in a subgroup.
    case nowhere
    /// There is no viewer of this number, or no more.
    case unknownViewer(Int)
    /// The room has as many viewers as it may.
    case tooManyViewers(limit: Int)
}

extension SharingRoomError: CustomStringConvertible {
    /// The failure, its reason and its remedy.
    public var description: String { explanation.text }
}

extension SharingRoomError: ExplainedError {
    /// The problem and, separately, its remedy.
    package var explanation: Explanation {
        switch self {
        case .ended: Explanation("the room has ended", remedy: "make a new one")
        case .notJoined(let subgroup): Explanation("you are not in the subgroup \(subgroup)", remedy: "join it first")
        case .sharingTo(let subgroup):
            Explanation(
                "can't leave \(subgroup) while you share to it", remedy: "change the destination, or stop the share")
        case .nowhere:
            Explanation("a viewer must be in the main room or in a subgroup", remedy: "name one of them")
        case .unknownViewer(let viewer): "no viewer \(viewer)"
        case .tooManyViewers(let limit): "the room is full: \(limit) viewers are allowed"
        }
    }
}
