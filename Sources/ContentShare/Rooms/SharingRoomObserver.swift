package import RTCSharePeerConnection

/// Observes a room, one call after the other.
package protocol SharingRoomObserver: AnyObject, Sendable {
    /// A viewer may see something else: the share, its destination, the owner's media or a membership changed.
    @SharingActor func roomDidChange()
    /// The connection of a viewer has another state. If that is over, the viewer has left the room by then.
    @SharingActor func viewer(_ id: Int, didChangeTo state: ConnectionState)
}
