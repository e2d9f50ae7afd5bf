public import RTCShareContentShare
public import RTCSharePeerConnection
public import RTCShareWireFormat

/// A server that a room's share can be published at, as a ``Publication`` needs it: WHIP's is ``WHIPEndpoint``, Janus'
/// ``JanusEndpoint``.
public protocol PublishingEndpoint: Sendable {
    /// How it is spoken to: `whip`, `janus`.
    var kind: String { get }
    /// What people know it by, without secrets.
    var name: String { get }

    /// Begins a session, with a place in `room` of its own. It has begun when this returns; whether a path is found its
    /// events tell. Where this throws, nothing of it is left.
    func publish(_ room: SharingRoom) async throws -> any PublishingSession

    /// What is to be thought of a session that failed, or did not begin.
    func retryPolicy(after error: any Error) -> RetryPolicy
}

/// A session at a server that a room's share is published at.
public protocol PublishingSession: Sendable {
    /// The server's place in the room.
    var viewer: RoomViewer { get }
    /// How it goes, in order, until it has ended; one reader.
    var events: AsyncStream<PublishingSessionEvent> { get }

    /// Tells the server the end, as far as it can be reached, and leaves the room.
    func leave() async
}

/// How it goes with a session at a server.
public enum PublishingSessionEvent: Sendable {
    /// The connection to the server has this state. While it is disconnected, another path to the server is looked for.
    case state(ConnectionState)
    /// The server misses so many packets: more than it likes.
    case losses(Int)
    /// The server takes no more than this.
    case limited(DataRate)
    /// It is over: with an error where it failed, without where the server took its leave.
    case ended((any Error)?)
}

/// Whether a failed publication is tried again.
public enum RetryPolicy: Hashable, Sendable {
    /// It will be the same each time, unless something is changed.
    case permanent
    /// It may be better the next time: the server could not be reached, or has trouble of its own.
    case transient
    /// The server itself wants to be asked again, in this time where it says one.
    case retry(after: Duration?)
    /// Somebody there sent it away on purpose: it is not tried again, whatever was before.
    case removedByServer
}
