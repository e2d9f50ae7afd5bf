package import RTCSharePeerConnection

/// An observer of a room, with one call at a time.
package protocol SharingRoomObserver: AnyObject, Sendable {
    /// Called when a viewer may be sent other media, because the share, its destination, the owner's media or a
    /// membership changed, or because the room has ended.
    @SharingActor func roomDidChange()
    /// Called when the state of a viewer's connection changed. If the new state is over, the viewer has left the room
    /// already.
    @SharingActor func viewer(_ id: Int, didChangeTo state: ConnectionState)
}
