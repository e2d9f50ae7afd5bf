public import RTCSharePeerConnection

/// A viewer who joined by a link.
public struct ServedViewer: Sendable, Identifiable {
    /// The viewer's number in the room.
    public let id: Int
    /// The state of the viewer's connection.
    public let state: ConnectionState
    /// Whether the viewer waits for admission.
    public let isWaiting: Bool
    /// The address of the viewer's client, if it is known.
    public let address: String?
    /// The name and version of the viewer's browser or player, in a short form for people.
    public let browser: String?
    /// The time at which the viewer joined, in seconds since 1 January 1970.
    public let since: Double
}
