internal import FoundationEssentials
internal import Glibc
internal import Logging
public import RTCShareContentShare
internal import RTCSharePeerConnection
internal import RTCShareSDP
public import RTCShareTransport
package import RTCShareWireFormat

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
        serverSession = EndpointSession(
            endpoint: endpoint, token: token, connection: session.connection,
            usesOwnServers: !configuration.iceServers.isEmpty, logger: configuration.logger, explain: WHEPError.init)
        signaled = SignaledSession(
            of: session, at: serverSession, reasons: .init(gone: WHEPError.sessionGone, lost: WHEPError.lost))
    }

    private static func token(in address: WebAddress) throws(WHEPError) -> AccessToken? {
        guard let fragment = address.fragment else { return nil }
        do {
            return try AccessToken(presenting: fragment)
        } catch {
            throw .token(error)
        }
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

/// The reason why playing from a WHEP server failed.
public enum WHEPError: Error, Hashable, Sendable {
    /// The URL is not a valid URL of the web.
    case url
    /// The link's secret is malformed.
    case token(AccessTokenError)
    /// The server rejected the request.
    case refused(EndpointRefusal)
    /// The server's response is not a valid answer.
    case noAnswer(status: Int)
    /// The presenter removed this viewer.
    case removed
    /// The presenter did not admit this viewer.
    case declined
    /// The server does not know the session any more, for example after a restart.
    case sessionGone
    /// The server stopped answering, and no other route to it was found.
    case lost

    init(_ failure: EndpointSession.Failure) {
        self =
            switch failure {
            case .refused(let refusal): .refused(refusal)
            case .noAnswer(let status, _): .noAnswer(status: status)
            }
    }
}

extension WHEPError: CustomStringConvertible {
    /// The failure, its reason and a remedy.
    public var description: String { explanation.text }
}

extension WHEPError: ExplainedError {
    /// The problem and, separately, a remedy.
    package var explanation: Explanation {
        switch self {
        case .url: Explanation("this is not a link", remedy: "give a link that begins with http:// or https://")
        case .token(let error):
            Explanation(
                "the link's secret, the part after #, is damaged: \(error.explanation.problem)", remedy: Self.copy)
        case .noAnswer(let status):
            Explanation(
                "the server accepts the offer (HTTP \(status)), but gives no answer",
                remedy: "check that the URL is a link of a share, or a WHEP endpoint")
        case .refused(let refusal):
            switch (refusal.status, refusal.token) {
            case (401, .none), (403, .none):
                Explanation("this link has no secret: the part after # is missing", remedy: Self.copy)
            case (400, _) where refusal.isPlain && refusal.sentence == nil:
                Explanation(
                    "the server refuses the request: it may require HTTPS",
                    remedy: "use https:// instead of http:// in the link")
            default: Explanation(refusal.words, remedy: Self.remedy(for: refusal))
            }
        case .removed: "the presenter removed you"
        case .declined: "the presenter did not admit you"
        case .sessionGone:
            Explanation("the server does not know this session: it may have restarted", remedy: "open the link again")
        case .lost:
            Explanation(
                "the server stopped answering, and there is no other route to it",
                remedy: "open the link again when the server is back")
        }
    }

    private static let copy = "copy the whole link"

    private static func remedy(for refusal: EndpointRefusal) -> String? {
        switch refusal.status {
        case 300..<400: refusal.location.map { "open \($0), to which the server redirects" }
        case 401: "copy the whole link, or ask the presenter for the current one"
        case 403: "ask the presenter to admit new viewers"
        case 404, 405, 410: "check the link"
        case 406, 415, 422: "use a server that sends VP8 and Opus"
        case 409, 429, 503:
            refusal.retryAfter.map { "wait \($0.components.seconds) seconds, as the server asks" } ?? "wait a while"
        default: nil
        }
    }
}
