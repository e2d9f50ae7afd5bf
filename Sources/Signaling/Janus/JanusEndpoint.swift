public import NIOPosix
public import RTCShareContentShare
internal import RTCSharePeerConnection
internal import RTCShareSDP
public import RTCShareTransport
public import RTCShareWireFormat

/// A room of a Janus' VideoRoom plugin, where a ``Publication`` publishes a room's share as one of the publishers there.
///
/// A publisher has one name. The content and its sound are published by one, the owner's picture and voice by another,
/// ``ownMedia``.
public struct JanusEndpoint: PublishingEndpoint {
    /// What is sent there: of pictures and of sounds one at most.
    public var media: Set<SharedMedia> = [.content, .contentAudio]
    /// Where the server is in the room that is shared to.
    public var membership = RoomMembership()
    /// What connections to it go by.
    public var configuration = Connection.Configuration()
    /// What the publisher is called there.
    public var display: String
    /// What the room is asked to take, where that is not to be what it takes by default. It may have a bound of its own.
    public var requestedBitrate: DataRate?
    /// Where a WebSocket's connection lives; the program ends it, where it is the program's.
    public var eventLoopGroup = MultiThreadedEventLoopGroup.singleton
    let address: JanusAddress
    let room: JanusID
    let credentials: JanusCredentials

    /// How the server is spoken to.
    public var kind: String { "janus" }
    /// The URL, the room and the name there.
    public var name: String { "\(address.shown), room \(room), as \(display)" }

    /// A room at a URL: `http`, `https`, `ws` or `wss`.
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

    /// The same room for the owner's picture and voice, under another name.
    public func ownMedia(as display: String) -> JanusEndpoint {
        var endpoint = self
        endpoint.media = [.camera, .microphone]
        endpoint.display = display
        return endpoint
    }

    /// Whether secrets go to another machine in the clear.
    public var exposesSecrets: Bool {
        let hasSecrets = [credentials.pin, credentials.secret, credentials.token].contains { $0 != nil }
        return hasSecrets && !address.url.isSecure && !address.url.isLoopback
    }

    /// Begins a session.
    public func publish(_ room: SharingRoom) async throws -> any PublishingSession {
        let session = try await JanusSession(at: self, publishing: room)
        try await session.start()
        return session
    }

    /// What a server says of its own state may change, and so may the way to it. Whom somebody takes out stays away.
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
            // A proxy whose Janus is being started again.
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
