internal import FoundationEssentials
internal import Glibc
public import RTCShareContentShare
internal import RTCSharePeerConnection
internal import RTCShareSDP
public import RTCShareTransport

/// An endpoint of WHIP (RFC 9725), where a ``Publication`` publishes a room's share.
///
/// A WHIP session has one picture and one sound (§4.4.2): by default those of the content.
public struct WHIPEndpoint: PublishingEndpoint {
    /// What is sent there: of pictures and of sounds one at most.
    public var media: Set<SharedMedia> = [.content, .contentAudio]
    /// Where the server is in the room.
    public var membership = RoomMembership()
    /// What connections to it go by. `trickles` and `restartPatience` are the session's own; where no servers are named that
    /// help to connect, those are asked that the endpoint names.
    public var configuration = Connection.Configuration()
    let url: WebAddress
    let token: AccessToken?

    /// How the server is spoken to.
    public var kind: String { "whip" }
    /// The URL, without what stands behind its path.
    public var name: String { url.shown }

    /// The endpoint that a URL names, with what the server wants to be shown. That goes to the URL's own origin alone,
    /// wherever the server leads to.
    public init(url text: String, token: AccessToken? = nil) throws(WHIPError) {
        guard let url = WebAddress(text) else { throw .url }
        guard !url.hasUserInformation else { throw .userInformation }
        self.url = url
        self.token = token
    }

    /// Whether the token goes to another machine in the clear.
    public var exposesToken: Bool { token != nil && !url.isSecure && !url.isLoopback }

    /// Begins a session.
    public func publish(_ room: SharingRoom) async throws -> any PublishingSession {
        let session = try await WHIPSession(at: self, publishing: room)
        try await session.start()
        return session
    }

    /// What a server says is about its own state may change, and so may the way to it. What it refuses for good is what it
    /// was asked for.
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
    /// Who can't be reached now may be in a while.
    var retryPolicy: RetryPolicy {
        switch self {
        case .unavailable, .certificate, .redirection, .redirectionRefused: .permanent
        case .cancelled, .unreachable, .noTLS: .transient
        }
    }
}
