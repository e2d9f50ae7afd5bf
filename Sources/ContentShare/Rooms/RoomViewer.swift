/// A viewer in a room whose connection is not open yet.
package struct PendingViewer: Sendable {
    package let viewer: RoomViewer
    /// The closures that open the streams on its connection.
    let openings: [StreamOpening]
}

/// A viewer in a room.
public struct RoomViewer: Sendable, Identifiable {
    /// The viewer's number in the room. It is never reused.
    public let id: Int
    /// The parts of the room to which the viewer belongs.
    public let membership: RoomMembership
    /// The owner's session with the viewer, for descriptions and statistics.
    public let session: AttendeeSession
}
