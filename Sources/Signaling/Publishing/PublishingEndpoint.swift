public import RTCShareContentShare
public import RTCSharePeerConnection
public import RTCShareWireFormat

/// A server to which a ``Publication`` publishes a room's share: ``WHIPEndpoint`` for WHIP, ``JanusEndpoint`` for
/// Janus.
public protocol PublishingEndpoint: Sendable {
    /// The protocol's name: `whip`, `janus`.
    var kind: String { get }
    /// The name for people, without secrets.
    var name: String { get }

    /// Starts a session, which is a viewer of `room`. The session exists when this returns; its events report whether
    /// it connects. If this throws, nothing of it is left.
    func publish(_ room: SharingRoom) async throws -> any PublishingSession

    /// Returns the policy after a session that failed, or did not start.
    func retryPolicy(after error: any Error) -> RetryPolicy
}

/// A session at a server to which a room's share is published.
public protocol PublishingSession: Sendable {
    /// The server as a viewer of the room.
    var viewer: RoomViewer { get }
    /// The events, in order, until the session has ended, for one reader.
    var events: AsyncStream<PublishingSessionEvent> { get }

    /// Notifies the server of the end, if it can be reached, and leaves the room.
    func leave() async
}

/// An event of a session at a server.
public enum PublishingSessionEvent: Sendable {
    /// The connection to the server has this state. While it is disconnected, another route to the server is searched.
    case state(ConnectionState)
    /// The server reports so many lost packets, more than it tolerates.
    case losses(Int)
    /// The server accepts at most this bitrate.
    case limited(DataRate)
    /// The session has ended, with an error if it failed, without one if the server ended it.
    case ended((any Error)?)
}

/// The decision whether a failed publication is retried.
public enum RetryPolicy: Hashable, Sendable {
    /// A retry fails as well, unless something is changed.
    case permanent
    /// A retry may succeed: the server could not be reached, or has a problem of its own.
    case transient
    /// The server requests a retry, after this time if it names one.
    case retry(after: Duration?)
    /// Somebody there removed it intentionally: it is never retried.
    case removedByServer
}
