internal import Logging
public import RTCShareContentShare
internal import RTCSharePeerConnection
internal import RTCShareSDP
internal import RTCShareTransport

/// One session at a WHIP server (RFC 9725): publishes a room's share, from the room's one encode, until the server, the way
/// to it or the program ends it.
///
///     start() ── POST offer ──▶ connected ⇄ disconnected ── PATCH, while there is a chance ──▶ ended
///     leave() ── DELETE ──────────────────────────────────────────────────────────────────────────▲
///
/// While the server does not answer, ICE is restarted where the server takes part in that; a session that is lost is not
/// begun again: that is for a ``Publication``.
public final class WHIPSession: PublishingSession {
    /// The server's place in the room: for statistics and limits.
    public let viewer: RoomViewer
    /// How it goes, in order, until it has ended; one reader.
    public var events: AsyncStream<PublishingSessionEvent> { signaled.events }
    private let signaled: SignaledSession

    /// A session that ``start()`` begins, with a place in the room from now on; ``leave()`` gives it back.
    public init(at endpoint: WHIPEndpoint, publishing room: SharingRoom) async throws {
        let configuration = endpoint.configuration.mending
        viewer = try await room.addViewer(
            restrictedTo: endpoint.media, configuration: configuration, membership: endpoint.membership)
        let serverSession = EndpointSession(
            endpoint: endpoint.url, token: endpoint.token, connection: viewer.session.connection,
            usesOwnServers: !configuration.iceServers.isEmpty, logger: configuration.logger,
            check: { answer in guard answer.takesPictures else { throw WHIPError.pictureDeclined } },
            explain: WHIPError.init)
        signaled = SignaledSession(
            of: viewer.session, at: serverSession, reasons: .init(gone: WHIPError.sessionGone, lost: WHIPError.lost))
    }

    /// Offers the share, and takes the answer. What becomes of it then, ``events`` tells.
    /// - Throws: ``WHIPError``, ``HTTPClientError``, `NegotiationError`, `ConnectionError`, `CancellationError`. The session
    ///   has ended then, at the server too.
    public func start() async throws { try await signaled.begin() }

    /// Tells the server the end, as far as it can be reached, and leaves the room.
    public func leave() async { await signaled.leave() }
}

extension SessionDescription {
    /// Whether an answer takes the pictures that there are: sound alone is no share, and would end that of a room without
    /// other viewers.
    var takesPictures: Bool {
        let pictures = media.filter { $0.kind == "video" }
        return pictures.isEmpty || pictures.contains { $0.port != 0 }
    }
}
