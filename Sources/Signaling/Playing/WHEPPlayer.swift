internal import FoundationEssentials
internal import Glibc
internal import Logging
public import RTCShareContentShare
public import RTCShareNetworkRuntime
internal import RTCSharePeerConnection
internal import RTCShareSDP

/// Watches what a WHEP server shows (draft-ietf-wish-whep): offers, receives, mends the connection, and takes its leave.
///
/// Links of a ``ViewerServer`` are taken as they are, and the URLs of other servers' endpoints.
public actor WHEPPlayer {
    /// The pictures and sounds that come: for tiles, sounds, statistics and the end.
    public nonisolated let session: AttendeeSession
    private let atServer: EndpointSession
    private var listener: EndpointListener?
    private var isEnding = false

    /// The pictures, and the sounds, that are asked for at most.
    private static let sections = 2

    /// A player of what a URL leads to. A token in a link counts before `token`.
    public init(
        url: String, token: AccessToken? = nil, as viewer: AttendeeID,
        configuration: Connection.Configuration = Connection.Configuration()
    ) async throws {
        // Some programs write the `#` of a link as `%23`.
        let link = url.contains("#") ? url : url.replacing("/%23", with: "/#", maxReplacements: 1)
        guard let address = WebAddress(link) else { throw WHEPError.url }
        var endpoint = address
        if address.fragment != nil || address.path.hasSuffix("/") {
            guard let own = address.appending(path: "whep") else { throw WHEPError.url }
            endpoint = own
        }
        let token = try Self.token(in: address) ?? token
        let configuration = configuration.mending
        session = try await AttendeeSession.receiving(
            as: viewer, pictures: Self.sections, sounds: Self.sections, configuration: configuration)
        atServer = EndpointSession(
            endpoint: endpoint, token: token, connection: session.connection,
            usesOwnServers: !configuration.iceServers.isEmpty, logger: configuration.logger)
    }

    private static func token(in address: WebAddress) throws(WHEPError) -> AccessToken? {
        guard let fragment = address.fragment else { return nil }
        do {
            return try AccessToken(presenting: fragment)
        } catch {
            throw .token(error)
        }
    }

    /// Offers, and takes the answer. What comes then, ``session`` tells.
    /// - Throws: ``WHEPError``, ``HTTPClientError``, `NegotiationError`. The session has ended then.
    public func start() async throws {
        let listener = EndpointListener { [weak self] event in
            Task { await self?.session(did: event) }
        }
        self.listener = listener
        session.add(observer: listener)
        do {
            try await atServer.begin()
        } catch {
            await leave()
            throw (error as? EndpointSession.Failure).map(WHEPError.init) ?? error
        }
    }

    /// Tells the server the end, and leaves.
    public func leave() async {
        isEnding = true
        await atServer.end()
        await session.leave()
    }

    private func session(did event: EndpointListener.Event) async {
        guard !isEnding else { return }
        switch event {
        // Where the server takes no part, the connection fails in its time and says why.
        case .needsRestart: _ = await atServer.restart()
        case .found(let candidate, let mid, let ufrag): await atServer.tell(candidate, mid: mid, ufrag: ufrag)
        case .connected, .away, .back, .ended: return
        }
    }
}

/// Why a WHEP server shows nothing.
public enum WHEPError: Error, Hashable, Sendable, CustomStringConvertible {
    /// It is no URL of the web.
    case url
    /// The link's secret is none.
    case token(AccessTokenError)
    /// The server refuses.
    case refused(EndpointRefusal)
    /// What the server said is no answer.
    case noAnswer(status: Int)

    init(_ failure: EndpointSession.Failure) {
        self =
            switch failure {
            case .refused(let refusal): .refused(refusal)
            case .noAnswer(let status, _): .noAnswer(status: status)
            }
    }

    /// What is wrong and what to do.
    public var description: String {
        switch self {
        case .url: "this is no link; give one that begins with http:// or https://"
        case .token(let error): "the link's secret, behind the #, is not whole: \(error)"
        case .noAnswer(let status):
            "the server accepts (\(status)) and gives no answer; is the URL that of its WHEP endpoint?"
        case .refused(let refusal): refusal.words
        }
    }
}
