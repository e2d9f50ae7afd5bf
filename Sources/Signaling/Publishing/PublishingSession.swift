public import RTCShareContentShare
public import RTCSharePeerConnection
public import RTCShareWireFormat

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
