internal import Glibc
public import Logging
internal import NIOHTTP1
public import NIOPosix
public import RTCShareContentShare
internal import RTCShareLocks
package import RTCSharePeerConnection
internal import RTCShareSecureTransport
public import RTCShareTransport
public import RTCShareWireFormat

/// A room behind a link: a web page for browsers, WHEP (draft-ietf-wish-whep) for players.
///
///     browser ── GET /            the page
///             ── POST /whep       an offer, for an answer: one more viewer of the room
///             ── GET …/events     how the share stands
///
/// Nobody gets in without the token, unless there is none. Media go from the server's machine to the viewer by ICE; the
/// server carries nothing but descriptions.
@SharingActor public final class ViewerServer {
    /// Where and how it serves.
    public struct Configuration: Sendable {
        /// The addresses to listen at; empty for all of this machine.
        public var addresses: [IPAddress] = []
        /// The interface that link-local addresses among these belong to, as several interfaces can have the same.
        public var zone: String?
        /// The port to listen at; 0 has the system pick.
        public var port: UInt16 = 8080
        /// The ports that are tried where that one is taken, one after the other.
        public var otherPorts = 0
        /// Names of this machine under which viewers may ask for it, beside its addresses.
        public var names: [String] = []
        /// Where viewers from elsewhere find it, as behind a proxy: links begin with it.
        public var publicURL: PublicURL?
        /// The path under which everything lies, such as `/office`; empty for none.
        public var basePath: [String] = []
        /// Whether a proxy on this machine passes requests on, whose `X-Forwarded-For` says where each comes from. Viewers and
        /// wrong tokens are counted by that; without a proxy, what a client says of itself counts for nothing.
        public var isBehindProxy = false
        /// What a viewer has to show; nil lets everybody in who reaches it.
        public var token: AccessToken?
        /// Certificate and key, for HTTPS.
        public var tls: ServerCertificate?
        /// The most viewers at a time.
        public var maximumViewers = 100
        /// How long a viewer may take to connect; then its place is free again.
        public var connectTimeout = Duration.seconds(30)
        /// Whether each viewer waits until ``ViewerServer/admit(_:)``.
        public var asksBeforeAdmitting = false
        /// What is shared.
        public var media: Set<SharedMedia> = [.content]
        /// What viewers' connections go by. Its servers are told to viewers, too.
        public var connection = Connection.Configuration()
        /// How long the answer to the first wrong token of an address waits.
        var firstWait = Duration.milliseconds(250)
        /// Where its own connections live; the program ends it, where it is the program's, when the server has ended.
        public var eventLoopGroup = MultiThreadedEventLoopGroup.singleton
        /// Where it says what happens.
        public var logger = Logger(label: "rtcshare.serve")

        /// Port 8080 at all addresses, with a token of its own.
        public init() { token = AccessToken() }
    }

    /// An event.
    public enum Event: Sendable {
        /// A viewer has joined the room.
        case joined(RoomViewer, ServedViewer)
        /// A viewer waits to be admitted.
        case waiting(ServedViewer)
    }

    /// What happens, in order; one reader, who may be slow.
    public nonisolated let events: AsyncStream<Event>
    /// The port it listens at.
    public nonisolated let port: UInt16
    /// Whether each viewer waits until ``admit(_:)``.
    package nonisolated var asksBeforeAdmitting: Bool { configuration.asksBeforeAdmitting }
    let room: SharingRoom
    nonisolated let configuration: Configuration
    let logger: Logger
    private let continuation: AsyncStream<Event>.Continuation
    private let server: HTTPServer
    let hostCheck: HostCheck
    var accessGuard: AccessGuard
    /// By their keys.
    private(set) var sessions: [String: ViewerSession] = [:]
    /// The keys, by the viewers' numbers in the room.
    private var keys: [Int: String] = [:]
    /// The keys of the sessions that were removed last, whose players may still ask why they ended.
    var removedKeys: [(key: String, phase: ShareState.Phase)] = []
    private static let mostRemovedKeys = 64
    let places: ViewerPlaces
    /// When viewers were asked last whether they still answer, for a client who found no place.
    var lastConsentCheck: Instant?
    /// Whether nobody new is let in.
    public private(set) var isLocked = false
    /// Whether the picture stands still because the presenter wants it so.
    var isPaused = false
    private(set) var hasEnded = false
    /// Tells pages at intervals that the server is there, while there are any.
    var heartbeat: Task<Void, Never>?
    /// Whether ``updatePages()`` is under way.
    var isUpdatingPages = false
    /// Removes viewers who don't connect in time, while there are any.
    private var expiry: Task<Void, Never>?
    var counts = ServerCounts()

    /// Listens, and lets viewers into `room`. The room and what it shares are the program's.
    /// - Throws: where it can't listen, or the certificate is of no use.
    public init(room: SharingRoom, configuration: Configuration = Configuration()) async throws {
        self.room = room
        var configuration = configuration
        configuration.connection.connectTimeout = configuration.connectTimeout
        configuration.connection.releasesHandshake = true
        configuration.connection.trickles = true
        self.configuration = configuration
        accessGuard = AccessGuard(firstWait: configuration.firstWait)
        places = ViewerPlaces(limit: configuration.maximumViewers)
        logger = configuration.logger
        (events, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(1024))
        hostCheck = HostCheck(names: configuration.names + [configuration.publicURL?.host].compactMap { $0 })
        let first = configuration.port
        let others = first == 0 ? 0 : min(configuration.otherPorts, Int(UInt16.max - first))
        // The first viewer need not wait for their names.
        for iceServer in configuration.connection.iceServers { iceServer.prepare() }
        // Requests can come before the server is there.
        let reference = ServerReference()
        // A page listens over a connection of its own, and asks over another.
        let limits = HTTPServer.Limits(connections: 1024 + 2 * configuration.maximumViewers)
        server = try await HTTPServer.start(
            addresses: configuration.addresses, zone: configuration.zone,
            ports: (0...others).map { first + UInt16($0) },
            tls: try await Self.context(of: configuration.tls), limits: limits,
            eventLoopGroup: configuration.eventLoopGroup,
            logger: logger
        ) { request in
            await reference.server?.respond(to: request)
                ?? ProblemDetails(.serviceUnavailable, "the server is starting: try again", retryAfter: .seconds(1))
                .response
        }
        port = server.port
        reference.server = self
        room.add(observer: self)
    }

    /// The TLS of a certificate, whose files may be on a slow disk.
    private static func context(of certificate: ServerCertificate?) async throws -> TLSContext? {
        guard let certificate else { return nil }
        return try await WorkerThread.run(named: "certificate") { try certificate.makeContext() }
    }

    /// Lets nobody in any more, and tells viewers' pages that the share is over.
    public func end() {
        hasEnded = true
        heartbeat?.cancel()
        expiry?.cancel()
        removeUnanswered()
        for session in sessions.values {
            tell(session, as: .ended)
            session.finishPages()
        }
    }

    private func removeUnanswered() {
        for session in sessions.values where !session.isAnswered { remove(session) }
    }

    /// Ends all sessions and listens no more. The room goes on.
    public func close() async {
        end()
        let ended = Array(sessions.values)
        sessions = [:]
        await server.close()
        await withDiscardingTaskGroup { group in
            for session in ended {
                let session = session.attendeeSession
                group.addTask { await session.leave() }
            }
        }
        continuation.finish()
    }

    // MARK: Viewers

    /// The viewers in the order of their arrival.
    public var viewers: [ServedViewer] { sessions.values.map(\.served).sorted { $0.id < $1.id } }

    /// Admits a viewer who waits.
    public func admit(_ viewer: Int) throws(ViewerServerError) {
        let session = try session(of: viewer)
        guard session.isWaiting else { throw .notWaiting(viewer) }
        do {
            try room.changeMembership(of: viewer, to: session.admittedMembership)
        } catch {
            throw .unknownViewer(viewer)
        }
    }

    /// Disconnects a viewer. The link stays valid: ``lock()`` rejects new viewers.
    public func kick(_ viewer: Int) async throws(ViewerServerError) {
        let session = try session(of: viewer)
        let phase: ShareState.Phase = session.isWaiting ? .declined : .removed
        removedKeys = removedKeys.suffix(Self.mostRemovedKeys - 1) + [(session.key, phase)]
        tell(session, as: phase)
        forget(session)
        await session.attendeeSession.leave()
    }

    /// Rejects new viewers. Present viewers stay.
    public func lock() {
        isLocked = true
        removeUnanswered()
    }

    /// Admits new viewers again.
    public func unlock() { isLocked = false }

    /// Tells viewers' pages that the presenter paused the share, or resumed it. Pages show by themselves that a source gives
    /// no frames, such as a minimized window.
    package func setPaused(_ isPaused: Bool) {
        self.isPaused = isPaused
        updatePages()
    }

    private func session(of viewer: Int) throws(ViewerServerError) -> ViewerSession {
        guard let session = keys[viewer].flatMap({ sessions[$0] }) else { throw .unknownViewer(viewer) }
        return session
    }

    func add(_ session: ViewerSession) {
        sessions[session.key] = session
        keys[session.id] = session.key
        removeUnconnected()
    }

    /// Reports a viewer whose offer was answered.
    func didAnswer(_ session: ViewerSession, _ viewer: RoomViewer) {
        session.isAnswered = true
        counts.sessions += 1
        continuation.yield(.joined(viewer, session.served))
    }

    /// Removes a session, if that was not done before, and ends what its page listens to.
    func forget(_ session: ViewerSession) {
        guard sessions.removeValue(forKey: session.key) != nil else { return }
        keys[session.id] = nil
        session.finishPages()
        updatePages()
    }

    /// Removes viewers who did not connect in time, until all that are left are connected. A client that answers ICE checks and
    /// does nothing else is not a viewer.
    private func removeUnconnected() {
        guard expiry == nil else { return }
        expiry = Task { [weak self] in
            while let wait = self?.removeExpired() {
                guard (try? await Task.sleep(for: wait)) != nil else { return }
            }
        }
    }

    /// Returns the time until the next may have to be removed. Nil if all are connected.
    private func removeExpired() -> Duration? {
        let now = MonotonicClock.now
        var shortest: Duration?
        for session in sessions.values where !session.state.hasConnected {
            let rest = configuration.connectTimeout - (now - session.begun)
            if rest > .zero { shortest = min(shortest ?? rest, rest) } else { remove(session) }
        }
        if shortest == nil { expiry = nil }
        return shortest
    }
}

extension ViewerServer: SharingRoomObserver {
    /// Tells pages what they see now.
    package func roomDidChange() { updatePages() }

    /// Takes note of a viewer who connects, does not answer or has left.
    package func viewer(_ id: Int, didChangeTo state: ConnectionState) {
        guard let session = try? session(of: id) else { return }
        if state.isOver { return forget(session) }
        if state == .connected, session.isWaiting, !session.isAnnounced {
            session.isAnnounced = true
            continuation.yield(.waiting(session.served))
        }
        updatePages()
    }
}

/// The server that an HTTP server's requests are for, which they don't keep alive.
@SharingActor private final class ServerReference {
    /// Nil until the server listens.
    weak var server: ViewerServer?
}

/// Why something can't be done at a server.
public enum ViewerServerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no viewer of this number who came by a link.
    case unknownViewer(Int)
    /// The viewer is in already.
    case notWaiting(Int)

    /// What is wrong.
    public var description: String {
        switch self {
        case .unknownViewer(let viewer): "no viewer \(viewer)"
        case .notWaiting(let viewer): "viewer \(viewer) is not waiting for approval"
        }
    }
}
