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
    /// Why it ended, where the connection does not know.
    public private(set) var reason: (any Error)?
    private let atServer: EndpointSession
    private var listener: EndpointListener?
    private var mending: Task<Void, Never>?
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
        mending?.cancel()
        await atServer.end()
        await session.leave()
    }

    private func session(did event: EndpointListener.Event) async {
        guard !isEnding else { return }
        switch event {
        case .away, .needsRestart: mend()
        case .back:
            mending?.cancel()
            mending = nil
        case .found(let candidate, let mid, let ufrag): await atServer.tell(candidate, mid: mid, ufrag: ufrag)
        case .connected, .ended: return
        }
    }

    /// Looks for another way. A server that no longer knows the session, as after its restart, shows long before consent to
    /// send has expired that there is nothing to wait for. If it takes no part, the connection fails in its time.
    private func mend() {
        guard mending == nil else { return }
        mending = Task { [weak self, atServer] in
            let outcome = await findAnotherWay { await atServer.restart() }
            if !Task.isCancelled { await self?.mendingDidEnd(outcome) }
        }
    }

    private func mendingDidEnd(_ outcome: SessionRestart) async {
        mending = nil
        guard outcome == .gone, await !session.isOver else { return }
        reason = WHEPError.sessionGone
        await leave()
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
    /// The server knows the session no more, as after it was restarted.
    case sessionGone
    /// The server stopped answering, and no other way to it was found.
    case lost

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
        case .sessionGone:
            "the server doesn't know this session any more; it may have been restarted. Open the link again"
        case .lost:
            "the server stopped answering, and no other way to it was found. Open the link again once it is back"
        }
    }
}
