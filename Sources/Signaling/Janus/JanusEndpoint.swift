public import NIOPosix
public import RTCShareContentShare
internal import RTCSharePeerConnection
internal import RTCShareSDP
public import RTCShareTransport
public import RTCShareWireFormat

/// A room of Janus's VideoRoom plugin, to which a ``Publication`` publishes a room's share as one of the publishers.
///
/// A publisher has one name. One publishes the content and its audio, another one the presenter's camera and
/// microphone, ``ownMedia``.
public struct JanusEndpoint: PublishingEndpoint {
    /// The media that are published: at most one video and one audio.
    public var media: Set<SharedMedia> = [.content, .contentAudio]
    /// The server's membership in the shared room.
    public var membership = RoomMembership()
    /// The configuration of connections to it.
    public var configuration = Connection.Configuration()
    /// The publisher's name in the Janus room.
    public var display: String
    /// The bitrate that is requested of the room; nil for the room's default. The room may have a limit of its own.
    public var requestedBitrate: DataRate?
    /// The event loops of a WebSocket's connection. If they belong to the program, the program shuts them down.
    public var eventLoopGroup = MultiThreadedEventLoopGroup.singleton
    let address: JanusAddress
    let room: JanusID
    let credentials: JanusCredentials

    /// The protocol's name.
    public var kind: String { "janus" }
    /// The URL, the room and the publisher's name.
    public var name: String { "\(address.shown), room \(room), as \(display)" }

    /// Creates the endpoint of a room at a URL: `http`, `https`, `ws` or `wss`.
    public init(
        url text: String, room: JanusID, display: String, credentials: JanusCredentials = JanusCredentials()
    ) throws(JanusError) {
        guard let address = JanusAddress(text) else { throw .url }
        guard !address.url.hasUserInformation else { throw .userInformation }
        self.address = address
        self.room = room
        self.display = display
        self.credentials = credentials
    }

    /// Returns the same room for the presenter's camera and microphone, under another name.
    public func ownMedia(as display: String) -> JanusEndpoint {
        var endpoint = self
        endpoint.media = [.camera, .microphone]
        endpoint.display = display
        return endpoint
    }

    /// Whether secrets are sent to another machine without encryption.
    public var exposesSecrets: Bool {
        let hasSecrets = [credentials.pin, credentials.secret, credentials.token].contains { $0 != nil }
        return hasSecrets && !address.url.isSecure && !address.url.isLoopback
    }

    /// Starts a session.
    public func publish(_ room: SharingRoom) async throws -> any PublishingSession {
        let session = try await JanusSession(at: self, publishing: room)
        try await session.start()
        return session
    }

    /// Returns the policy after an error. A server's state may change, and so may the route to it. A publisher that
    /// somebody removed is not published again.
    public func retryPolicy(after error: any Error) -> RetryPolicy {
        switch error {
        case .refused(let refusal) as JanusError:
            switch refusal.meaning {
            case .full: .retry(after: nil)
            case .noRoom, .missing, .wrongKind, .wrongPin, .notAuthorized, .noVideoRoom, .unsuitable: .permanent
            case .sessionGone, .other: .transient
            }
        case let error as JanusError:
            switch error {
            case .kicked: .removedByServer
            // A proxy whose Janus server is restarting.
            case .noJanus(let status?, _) where status >= 500: .transient
            case .url, .userInformation, .noJanus, .noAnswer, .pictureDeclined, .refused, .noPublisher: .permanent
            case .roomGone, .hungUp, .sessionGone, .connectionClosed, .lost: .transient
            }
        case let error as HTTPClientError: error.retryPolicy
        case is SDPError, is NegotiationError, SharingRoomError.ended: .permanent
        default: .transient
        }
    }
}
