public import RTCShareMedia

/// A picture that a peer sends, as it stands.
public struct VideoTileState: Sendable, Hashable {
    /// The tile's number in its session; a number is used once.
    public let tileID: Int
    /// Whose picture it is.
    public let attendeeID: AttendeeID
    /// Columns and rows as they are to be seen, turned upright.
    public internal(set) var size: PixelSize
    /// The subgroup that the picture is shared to, once the sender has said so; nil where it goes to the main room.
    public internal(set) var subgroup: Subgroup?
    /// Whether, and why, the picture stands still.
    public internal(set) var pauseState = PauseState.unpaused

    /// Whether it is what an attendee shares, and not the attendee's own picture.
    public var isContent: Bool { attendeeID.modality == .content }

    /// Why a picture stands still.
    public enum PauseState: String, Sendable, Hashable {
        /// It does not.
        case unpaused
        /// The viewer paused it here.
        case pausedByUser
        /// The sender sends nothing, though the connection stands: it is muted, or hangs.
        case pausedBySender
        /// Nothing comes through, though the sender sends, or the connection is lost.
        case pausedForPoorConnection
    }
}

/// Observes the tiles of a session, one call after the other, on ``SharingActor``.
public protocol VideoTileObserver: AnyObject, Sendable {
    /// A picture is there. Bound from here, a sink gets all of it.
    @SharingActor func videoTileDidAdd(_ tile: VideoTileState)
    /// The picture is gone; its sinks get nothing more.
    @SharingActor func videoTileDidRemove(_ tile: VideoTileState)
    /// The picture stands still: `pauseState` says why.
    @SharingActor func videoTileDidPause(_ tile: VideoTileState)
    /// The picture goes on.
    @SharingActor func videoTileDidResume(_ tile: VideoTileState)
    /// The picture has another size.
    @SharingActor func videoTileSizeDidChange(_ tile: VideoTileState)
    /// The picture is shared to another subgroup, or to the main room.
    @SharingActor func videoTileSubgroupDidChange(_ tile: VideoTileState)
}

extension VideoTileObserver {
    /// Does nothing.
    public func videoTileDidAdd(_ tile: VideoTileState) {}
    /// Does nothing.
    public func videoTileDidRemove(_ tile: VideoTileState) {}
    /// Does nothing.
    public func videoTileDidPause(_ tile: VideoTileState) {}
    /// Does nothing.
    public func videoTileDidResume(_ tile: VideoTileState) {}
    /// Does nothing.
    public func videoTileSizeDidChange(_ tile: VideoTileState) {}
    /// Does nothing.
    public func videoTileSubgroupDidChange(_ tile: VideoTileState) {}
}
