internal import FoundationEssentials
internal import Logging
public import RTCShareContentShare
internal import RTCShareSDP
public import RTCShareTransport

/// Plays a stream of a WHEP server (draft-ietf-wish-whep): offers, receives, repairs the connection, and leaves.
///
/// It accepts links of a ``ViewerServer``, and the URLs of other servers' endpoints.
public final class WHEPPlayer: SharePlayer {
    /// The received video and audio: for tiles, audio, statistics and the end.
    public let session: AttendeeSession
    private let serverSession: EndpointSession
    private let signaled: SignaledSession

    /// The maximum number of video sections, and of audio sections.
    private static let sections = 2

    /// Creates a player of a URL. A token in a link takes precedence over `token`.
    public convenience init(
        url: String, token: AccessToken? = nil, as viewer: AttendeeID,
        configuration: Connection.Configuration = Connection.Configuration()
    ) async throws {
        try await self.init(url: url, token: token, as: viewer, configuration: configuration, isRetry: false)
    }

    /// Creates a player of a URL. A retry, which others follow, gives up sooner.
    package convenience init(
        url: String, token: AccessToken?, as viewer: AttendeeID, configuration: Connection.Configuration, isRetry: Bool
    ) async throws {
        try await self.init(
            at: try Endpoint(of: url), token: token, as: viewer, isRetry: isRetry, configuration: configuration)
    }

    /// Creates a player that uses only one kind of route; nil for all.
    init(
        at endpoint: Endpoint, token: AccessToken? = nil, as viewer: AttendeeID, usesOnly filter: RouteFilter? = nil,
        isRetry: Bool = false, configuration: Connection.Configuration
    ) async throws {
        let configuration = configuration.mending
        session = try await AttendeeSession.receiving(
            as: viewer, pictures: Self.sections, sounds: Self.sections, configuration: configuration)
        serverSession = EndpointSession(
            endpoint: endpoint.address, token: endpoint.token ?? token, connection: session.connection,
            usesOwnServers: !configuration.iceServers.isEmpty, filter: filter, isRetry: isRetry,
            logger: configuration.logger,
            explain: WHEPError.init)
        signaled = SignaledSession(
            of: session, at: serverSession, reasons: .init(gone: WHEPError.sessionGone, lost: WHEPError.lost))
    }

    /// The address to which players of a URL send their offers, and the token in the URL.
    struct Endpoint: Sendable {
        let address: WebAddress
        /// The address of the link, whose fragment is the token.
        let link: WebAddress
        let token: AccessToken?

        init(of url: String) throws(WHEPError) {
            // Some programs write the `#` of a link as `%23`.
            let text = url.contains("#") ? url : url.replacing("/%23", with: "/#", maxReplacements: 1)
            guard let link = WebAddress(text) else { throw .url }
            self.link = link
            if link.fragment != nil || link.path.hasSuffix("/") {
                guard let own = link.appending(path: "whep") else { throw .url }
                address = own
            } else {
                address = link
            }
            do {
                token = try link.fragment.map { try AccessToken(presenting: $0) }
            } catch let error as AccessTokenError {
                throw .token(error)
            } catch {
                throw .url
            }
        }
    }

    /// The candidates in the server's answer, and the URLs of the servers that it names, for a player that uses only one
    /// kind of route.
    var answered: (candidates: [CandidateAttribute], servers: [String]) {
        get async { (await serverSession.answeredCandidates, await serverSession.namedServers) }
    }

    /// Sends an offer, and sets the answer. ``session`` reports everything that follows.
    /// - Throws: ``WHEPError``, ``HTTPClientError``, `NegotiationError`. The session has ended then.
    public func start() async throws { try await signaled.begin() }

    /// The reason for the end, if the connection does not have it.
    public var reason: (any Error)? { get async { await signaled.reason } }

    package func reason(after error: (any Error)?) async -> (any Error)? {
        if let reason = await signaled.reason(after: error) { return reason }
        return await removal
    }

    /// Whether the viewer waits until the presenter admits it.
    package var isWaiting: Bool { get async { await serverSession.state() == .waiting } }

    /// The reason why the presenter ended the session of this viewer; nil if the presenter did not.
    private var removal: WHEPError? {
        get async {
            switch await serverSession.state() {
            case .removed: .removed
            case .declined: .declined
            case .waiting, nil: nil
            }
        }
    }

    /// Notifies the server of the end, and leaves.
    public func leave() async { await signaled.leave() }
}
