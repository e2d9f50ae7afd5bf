internal import FoundationEssentials
internal import Glibc
public import RTCShareContentShare
internal import RTCSharePeerConnection
internal import RTCShareSDP
public import RTCShareTransport

/// A WHIP endpoint (RFC 9725), to which a ``Publication`` publishes a room's share.
///
/// A WHIP session has one video and one audio (§4.4.2), by default those of the content.
public struct WHIPEndpoint: PublishingEndpoint {
    /// The media that are published: at most one video and one audio.
    public var media: Set<SharedMedia> = [.content, .contentAudio]
    /// The server's membership in the room.
    public var membership = RoomMembership()
    /// The configuration of connections to it. The session sets `usesTrickleICE` and `restartTimeout`. If it has no ICE
    /// servers, those that the endpoint names are used.
    public var configuration = Connection.Configuration()
    let url: WebAddress
    let token: AccessToken?

    /// The protocol's name.
    public var kind: String { "whip" }
    /// The URL without its path and query, where many servers expect a stream key.
    public var name: String { url.place }

    /// Creates an endpoint with its URL and token. The token is sent only to the URL's own origin, wherever the server
    /// redirects to.
    public init(url text: String, token: AccessToken? = nil) throws(WHIPError) {
        guard let url = WebAddress(text) else { throw .url }
        guard !url.hasUserInformation else { throw .userInformation }
        self.url = url
        self.token = token
    }

    /// Whether the token is sent to another machine without encryption.
    public var exposesToken: Bool { token != nil && !url.isSecure && !url.isLoopback }

    /// Starts a session.
    public func publish(_ room: SharingRoom) async throws -> any PublishingSession {
        let session = try await WHIPSession(at: self, publishing: room)
        try await session.start()
        return session
    }

    /// Returns the policy after an error. A server's state may change, and so may the route to it. A rejection of the
    /// request itself is permanent.
    public func retryPolicy(after error: any Error) -> RetryPolicy {
        switch error {
        case .refused(let refusal) as WHIPError: Self.retryPolicy(after: refusal)
        case let error as WHIPError:
            switch error {
            case .url, .userInformation, .noAnswer, .pictureDeclined, .refused: .permanent
            case .sessionGone, .lost: .transient
            }
        case let error as HTTPClientError: error.retryPolicy
        case is SDPError, is NegotiationError, SharingRoomError.ended: .permanent
        default: .transient
        }
    }

    private static func retryPolicy(after refusal: EndpointRefusal) -> RetryPolicy {
        if let time = refusal.retryAfter { return .retry(after: time) }
        return switch refusal.status {
        case 409, 423, 425, 429, 503: .retry(after: nil)
        case 500...: .transient
        default: .permanent
        }
    }
}

extension HTTPClientError {
    /// The policy: a server that can't be reached now may be available later.
    var retryPolicy: RetryPolicy {
        switch self {
        case .unavailable, .certificate, .redirection, .redirectionRefused: .permanent
        case .cancelled, .unreachable, .noTLS: .transient
        }
    }
}
