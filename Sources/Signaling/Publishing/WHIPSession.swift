internal import Logging
public import RTCShareContentShare
internal import RTCSharePeerConnection
internal import RTCShareSDP
internal import RTCShareTransport

/// One session at a WHIP server (RFC 9725): publishes a room's share, encoded once for all viewers, until the server, a
/// lost route or the program ends it.
///
///     start() ── POST offer ──▶ connected ⇄ disconnected ── PATCH, while there is a chance ──▶ ended
///     leave() ── DELETE ──────────────────────────────────────────────────────────────────────────▲
///
/// While the server does not answer, ICE is restarted if the server supports that. A lost session is not restarted: a
/// ``Publication`` does that.
public final class WHIPSession: PublishingSession {
    /// The server as a viewer of the room: for statistics and limits.
    public let viewer: RoomViewer
    /// The events, in order, until the session has ended, for one reader.
    public var events: AsyncStream<PublishingSessionEvent> { signaled.events }
    private let signaled: SignaledSession

    /// Creates a session, which ``start()`` starts. It is a viewer of the room from now on, until ``leave()``.
    public init(at endpoint: WHIPEndpoint, publishing room: SharingRoom) async throws {
        let configuration = endpoint.configuration.mending
        viewer = try await room.addViewer(
            restrictedTo: endpoint.media, configuration: configuration, membership: endpoint.membership)
        let serverSession = EndpointSession(
            endpoint: endpoint.url, token: endpoint.token, connection: viewer.session.connection,
            usesOwnServers: !configuration.iceServers.isEmpty, logger: configuration.logger,
            check: { answer, offer in
                guard answer.takesPictures else { throw WHIPError.pictureDeclined(offered: offer.videoCodecs) }
            },
            explain: WHIPError.init)
        signaled = SignaledSession(
            of: viewer.session, at: serverSession, reasons: .init(gone: WHIPError.sessionGone, lost: WHIPError.lost))
    }

    /// Offers the share, and sets the answer. ``events`` reports everything that follows.
    /// - Throws: ``WHIPError``, ``HTTPClientError``, `NegotiationError`, `ConnectionError`, `CancellationError`. The
    ///   session has ended then, at the server too.
    public func start() async throws { try await signaled.begin() }

    /// Notifies the server of the end, if it can be reached, and leaves the room.
    public func leave() async { await signaled.leave() }
}

extension SessionDescription {
    /// Whether an answer accepts the video, if there is one: audio without video is not a share, and would end that of
    /// a room without other viewers.
    var takesPictures: Bool {
        let pictures = media.filter { $0.kind == "video" }
        return pictures.isEmpty || pictures.contains { $0.port != 0 }
    }

    /// The names of the codecs of the first video section, without those that repeat or repair it.
    var videoCodecs: [String] {
        let maps = (try? media.first { $0.kind == "video" }?.rtpMaps()) ?? []
        return maps.filter { !ForwardErrorCorrectionFormats.isAuxiliary($0) }.map(\.encodingName)
    }
}
