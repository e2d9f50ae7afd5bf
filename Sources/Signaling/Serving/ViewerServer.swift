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

/// A room behind a link: a web page for browsers, and WHEP (draft-ietf-wish-whep) for players.
///
///     browser ── GET /            the page
///             ── POST /whep       an offer → the answer: a new viewer of the room
///             ── GET …/events     the state of the share
///
/// All clients need the token, if there is one. Media take the ICE route from this machine to the viewer. Only
/// descriptions pass through HTTP.
@SharingActor public final class ViewerServer {
    /// The addresses of a server, and its rules for viewers.
    public struct Configuration: Sendable {
        /// The addresses to listen on. If empty, all addresses of this machine.
        public var addresses: [IPAddress] = []
        /// The interface of the link-local addresses, because several interfaces can have the same address.
        public var zone: String?
        /// The port to listen on. With 0, the system selects one.
        public var port: UInt16 = 8080
        /// The number of following ports that are tried if the port is taken.
        public var otherPorts = 0
        /// The names of this machine that requests can use, in addition to its addresses.
        public var names: [String] = []
        /// The URL under which viewers outside the network reach the server, for example a proxy's. Links start with
        /// it.
        public var publicURL: PublicURL?
        /// The components of the path under which the server works, such as `/office`. Empty for none.
        public var basePath: [String] = []
        /// Whether a proxy on this machine passes requests on, with the client's address in `X-Forwarded-For`. Viewers
        /// and wrong tokens are counted by that address. Without a proxy, the header is ignored.
        public var isBehindProxy = false
        /// The token that a viewer needs. If nil, all clients that reach the server are admitted.
        public var token: AccessToken?
        /// The certificate and the key for HTTPS. Nil for HTTP.
        public var tls: ServerCertificate?
        /// The maximum number of viewers.
        public var maximumViewers = 100
        /// The time in which a viewer must connect. After it, the viewer is removed.
        public var connectTimeout = Duration.seconds(30)
        /// Whether each viewer waits for ``ViewerServer/admit(_:)``.
        public var requiresApproval = false
        /// The shared media.
        public var media: Set<SharedMedia> = [.content]
        /// The configuration of viewers' connections. Viewers get its STUN and TURN servers, too.
        public var connection = Connection.Configuration()
        /// The delay of the answer to the first wrong token of a network.
        var firstWait = Duration.milliseconds(250)
        /// The event loops of the server's HTTP connections. If the program created them, it must shut them down after
        /// the server is closed.
        public var eventLoopGroup = MultiThreadedEventLoopGroup.singleton
        /// The log of the server.
        public var logger = Logger(label: "rtcshare.serve")

        /// The port whose connections accept TCP at the server's port; nil if none do. A proxy understands only HTTP.
        fileprivate var streamPort: SharedPort? {
            connection.acceptsTCP && !isBehindProxy ? connection.sharedPort : nil
        }

        /// Creates a configuration with port 8080 on all addresses and a new token.
        public init() { token = AccessToken() }
    }

    /// An event.
    public enum Event: Sendable {
        /// A viewer has joined the room.
        case joined(RoomViewer, ServedViewer)
        /// A viewer waits for admission.
        case waitingForApproval(ServedViewer)
    }

    /// The events in order, for one reader, which can be slow.
    public nonisolated let events: AsyncStream<Event>
    /// The port that the server listens on.
    public nonisolated let port: UInt16
    /// Whether each new viewer waits for ``admit(_:)``.
    package var requiresApproval: Bool
    let room: SharingRoom
    nonisolated let configuration: Configuration
    let logger: Logger
    private let continuation: AsyncStream<Event>.Continuation
    private let server: HTTPServer
    let hostCheck: HostCheck
    var accessGuard: AccessGuard
    private(set) var sessions: [String: ViewerSession] = [:]
    /// The sessions' keys, by the viewers' numbers in the room.
    private var keys: [Int: String] = [:]
    /// The tasks that disconnect removed viewers, by the viewers' numbers in the room.
    private var departures: [Int: Task<Void, Never>] = [:]
    /// The keys of the sessions that were removed last. Their players may ask for the reason.
    var removedKeys: [(key: String, phase: ShareState.Phase)] = []
    private static let mostRemovedKeys = 64
    let places: ViewerPlaces
    /// The networks of the clients whose offers are being read, by the numbers of the offers.
    var offerNetworks: [Int: IPAddress?] = [:]
    var offersSoFar = 0
    /// The time of the last check whether viewers still answer, which is made for clients that find no place.
    var lastConsentCheck: Instant?
    /// Whether new viewers are rejected.
    public private(set) var isLocked = false
    /// Whether the presenter paused the share.
    var isPaused = false
    private(set) var hasEnded = false
    /// The task that notifies pages at intervals that the server runs. Nil without pages.
    var heartbeat: Task<Void, Never>?
    /// Whether ``updatePages()`` is posted.
    var isUpdatingPages = false
    /// The task that looks for a renewed certificate. Nil without HTTPS.
    private var renewal: Task<Void, Never>?
    /// The task that removes viewers who don't connect in time. Nil if there are none.
    private var expiry: Task<Void, Never>?
    var counts = ServerCounts()

    /// Starts to listen, and adds viewers to `room`. The caller owns the room and its sources.
    /// - Throws: An error if the server can't listen, or if the certificate is not usable.
    public init(room: SharingRoom, configuration: Configuration = Configuration()) async throws {
        self.room = room
        var configuration = configuration
        configuration.connection.connectTimeout = configuration.connectTimeout
        configuration.connection.releasesHandshake = true
        configuration.connection.usesTrickleICE = true
        self.configuration = configuration
        requiresApproval = configuration.requiresApproval
        accessGuard = AccessGuard(firstWait: configuration.firstWait)
        places = ViewerPlaces(limit: configuration.maximumViewers)
        logger = configuration.logger
        (events, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(1024))
        hostCheck = HostCheck(names: configuration.names + [configuration.publicURL?.host].compactMap { $0 })
        let first = configuration.port
        let others = first == 0 ? 0 : min(configuration.otherPorts, Int(UInt16.max - first))
        // The names are resolved now, so that the first viewer does not wait for them.
        for iceServer in configuration.connection.iceServers { iceServer.prepare() }
        // Requests can arrive before this object is complete.
        let reference = ServerReference()
        // A page has one connection for its events and another one for requests.
        let limits = HTTPServer.Limits(connections: 1024 + 2 * configuration.maximumViewers)
        let certificate = try await Self.watch(configuration.tls, logger: logger)
        var tls: (@Sendable () -> TLSContext)?
        if let certificate { tls = { certificate.context } }
        server = try await HTTPServer.start(
            addresses: configuration.addresses, zone: configuration.zone,
            ports: (0...others).map { first + UInt16($0) },
            tls: tls, mediaPort: configuration.streamPort, limits: limits,
            eventLoopGroup: configuration.eventLoopGroup,
            logger: logger
        ) { request in
            await reference.server?.respond(to: request)
                ?? ProblemDetails(.serviceUnavailable, "the server is starting: try again", retryAfter: .seconds(1))
                .response
        }
        port = server.port
        await configuration.streamPort?.setListener(port: port, addresses: configuration.addresses)
        reference.server = self
        room.add(observer: self)
        if let certificate { renewal = Task { await certificate.run() } }
    }

    /// Reads a certificate, on a separate thread, because its files may be on a slow disk.
    private static func watch(
        _ certificate: ServerCertificate?, logger: Logger
    ) async throws -> CertificateWatch? {
        guard let certificate else { return nil }
        return try await WorkerThread.run(named: "certificate") { try CertificateWatch(certificate, logger: logger) }
    }

    /// Rejects new viewers, and notifies viewers' pages that the share has ended.
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

    /// Ends all sessions and stops listening. The room continues.
    public func close() async {
        end()
        renewal?.cancel()
        await configuration.streamPort?.removeListener()
        await server.close()
        for session in sessions.values { remove(session) }
        for departure in departures.values { await departure.value }
        continuation.finish()
    }

    // MARK: Viewers

    /// The viewers in the order of their offers. Viewers whose offer is still being answered have not caused
    /// ``Event/joined(_:_:)`` yet.
    public var viewers: [ServedViewer] { sessions.values.map(\.served).sorted { $0.id < $1.id } }

    /// Admits a viewer who waits for admission.
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
        remove(session)
        await departures[viewer]?.value
    }

    /// Rejects new viewers. Viewers who have joined stay.
    public func lock() {
        isLocked = true
        removeUnanswered()
    }

    /// Accepts new viewers again.
    public func unlock() { isLocked = false }

    /// Notifies viewers' pages that the presenter paused or resumed the share. Pages show without this that a source
    /// delivers no frames, such as a minimized window.
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

    /// Notifies the program of a viewer whose offer was answered.
    func didAnswer(_ session: ViewerSession, _ viewer: RoomViewer) {
        session.isAnswered = true
        counts.sessions += 1
        continuation.yield(.joined(viewer, session.served))
    }

    /// Removes a session if that was not done before, and ends the event streams of its pages.
    func forget(_ session: ViewerSession) {
        guard sessions.removeValue(forKey: session.key) != nil else { return }
        keys[session.id] = nil
        session.finishPages()
        updatePages()
    }

    /// Removes a session if that was not done before, and disconnects its viewer. Callers do not wait until the queued
    /// packets are sent.
    func remove(_ session: ViewerSession) {
        guard sessions[session.key] != nil else { return }
        forget(session)
        let (viewer, ended) = (session.id, session.attendeeSession)
        departures[viewer] = Task {
            await ended.leave()
            departures[viewer] = nil
        }
    }

    /// Removes viewers who do not connect in time, until all others are connected. A client that only answers ICE
    /// checks is not a viewer.
    private func removeUnconnected() {
        guard expiry == nil else { return }
        expiry = Task { [weak self] in
            while let wait = self?.removeExpired() {
                guard (try? await Task.sleep(for: wait)) != nil else { return }
            }
        }
    }

    /// Removes viewers whose time is over. Returns the time until the next one's is over. Nil if all are connected.
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
    package func roomDidChange() {
        if room.hasEnded { end() } else { updatePages() }
    }

    /// Updates a viewer who connects, does not answer or has left.
    package func viewer(_ id: Int, didChangeTo state: ConnectionState) {
        guard let session = try? session(of: id) else { return }
        if state.isOver { return forget(session) }
        if state == .connected, session.isWaiting, !session.isAnnounced {
            session.isAnnounced = true
            continuation.yield(.waitingForApproval(session.served))
        }
        updatePages()
    }
}

/// The server that answers the requests of an HTTP server. The HTTP server does not retain it.
@SharingActor private final class ServerReference {
    /// The server. Nil until it listens.
    weak var server: ViewerServer?
}

/// The reason why a request to a server failed.
public enum ViewerServerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no viewer with this number who joined by a link.
    case unknownViewer(Int)
    /// The viewer does not wait for admission.
    case notWaiting(Int)

    /// The problem.
    public var description: String {
        switch self {
        case .unknownViewer(let viewer): "no viewer \(viewer)"
        case .notWaiting(let viewer): "viewer \(viewer) is not waiting for approval"
        }
    }
}
