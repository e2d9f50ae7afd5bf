internal import Logging
public import NIOPosix
public import RTCShareContentShare
internal import RTCSharePeerConnection
internal import RTCShareSDP
public import RTCShareTransport

/// Plays publishers in a Janus room (VideoRoom): subscribes, receives, repairs the connection, and leaves.
///
/// Video and audio have the names of their publishers, if those are valid names of attendees.
public final class JanusPlayer: SharePlayer {
    /// The received video and audio: for tiles, audio, statistics and the end.
    public let session: AttendeeSession
    private let signaled: SignaledSession

    /// Creates a player of publishers in a room, by their names or ids.
    public convenience init(
        url: String, room: JanusID, publishers: [String], credentials: JanusCredentials = JanusCredentials(),
        as viewer: AttendeeID, configuration: Connection.Configuration = Connection.Configuration(),
        eventLoopGroup: MultiThreadedEventLoopGroup = .singleton
    ) async throws {
        try await self.init(
            url: url, room: room, publishers: publishers, credentials: credentials, as: viewer,
            configuration: configuration, eventLoopGroup: eventLoopGroup, isRetry: false)
    }

    /// Creates a player of publishers in a room. In a retry some can be absent. They are received when they return.
    package init(
        url text: String, room: JanusID, publishers: [String], credentials: JanusCredentials, as viewer: AttendeeID,
        configuration: Connection.Configuration, eventLoopGroup: MultiThreadedEventLoopGroup = .singleton, isRetry: Bool
    ) async throws {
        guard let address = JanusAddress(text) else { throw JanusError.url }
        guard !address.url.hasUserInformation else { throw JanusError.userInformation }
        let logger = configuration.logger
        session = try await AttendeeSession.viewing(as: viewer, configuration: configuration.mending)
        let subscriber = JanusSubscriber(
            to: SubscribedPublishers(publishers, canBeAbsent: isRetry), in: room, credentials,
            handle: JanusHandle(address, credentials, eventLoopGroup: eventLoopGroup, logger: logger),
            connection: session.connection, logger: logger)
        signaled = SignaledSession(of: session, at: subscriber, reasons: .janus)
    }

    /// Subscribes. ``session`` reports everything that follows.
    /// - Throws: ``JanusError``, ``HTTPClientError``, `NegotiationError`. The session has ended then.
    public func start() async throws { try await signaled.begin() }

    /// Notifies the server of the end, and leaves.
    public func leave() async { await signaled.leave() }

    /// The reason for the end, if the connection does not have it.
    public var reason: (any Error)? { get async { await signaled.reason } }

    package func reason(after error: (any Error)?) async -> (any Error)? { await signaled.reason(after: error) }

    /// Whether the viewer waits for admission: always false, because rooms admit viewers at once.
    package var isWaiting: Bool { false }

    /// Returns the offer with the names of the publishers for its sections' streams (RFC 8830): Janus has one name for
    /// all.
    static func named(_ offer: String, by streams: [JanusRoomReport.Stream]) -> String {
        let names = Dictionary(
            streams.compactMap { stream in
                stream.mid.flatMap { mid in
                    stream.feedDisplay.flatMap { (try? AttendeeID(named: $0)).map { (mid, $0.rawValue) } }
                }
            }, uniquingKeysWith: { first, _ in first })
        var sections: [[Substring]] = [[]]
        for line in offer.split(whereSeparator: \.isNewline) {
            if line.hasPrefix("m=") { sections.append([]) }
            sections[sections.count - 1].append(line)
        }
        let named = sections.map { lines in
            let mid = lines.first { $0.hasPrefix("a=mid:") }?.dropFirst(6)
            guard let mid, let name = names[String(mid)] else { return lines }
            return lines.filter { !$0.hasPrefix("a=msid:") && !($0.hasPrefix("a=ssrc:") && $0.contains(" msid:")) }
                + ["a=msid:\(name) \(mid)"]
        }
        return named.joined().map { $0 + "\r\n" }.joined()
    }
}
