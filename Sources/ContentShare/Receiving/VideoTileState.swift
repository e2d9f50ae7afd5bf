public import RTCShareMedia

/// A video that a peer sends, with its current state.
public struct VideoTileState: Sendable, Hashable {
    /// The tile's number in its session. It is never reused.
    public let tileID: Int
    /// The attendee whose video it is.
    public let attendeeID: AttendeeID
    /// The columns and rows after the rotation to upright.
    public internal(set) var size: PixelSize
    /// The subgroup to which the video is shared, if the sender names one. Nil for the main room.
    public internal(set) var subgroup: Subgroup?
    /// Whether the video is paused, and the reason.
    public internal(set) var pauseState = PauseState.unpaused

    /// Whether it is an attendee's content, and not the attendee's camera.
    public var isContent: Bool { attendeeID.modality == .content }

    /// The reason why a video is paused.
    public enum PauseState: String, Sendable, Hashable {
        /// The video is not paused.
        case unpaused
        /// The viewer paused it on this side.
        case pausedByUser
        /// The sender is connected, but sends no frames: it is muted or does not respond.
        case pausedBySender
        /// No frames arrive although the sender sends them, or the connection is lost.
        case pausedForPoorConnection
    }
}

/// An observer of the tiles of a session, with one call at a time on ``SharingActor``.
public protocol VideoTileObserver: AnyObject, Sendable {
    /// Called when a tile was added. A sink that is bound in this call gets all of its frames.
    @SharingActor func videoTileDidAdd(_ tile: VideoTileState)
    /// Called when a tile was removed. Its sinks get no more frames.
    @SharingActor func videoTileDidRemove(_ tile: VideoTileState)
    /// Called when a tile was paused, for the reason in `pauseState`.
    @SharingActor func videoTileDidPause(_ tile: VideoTileState)
    /// Called when a tile was resumed.
    @SharingActor func videoTileDidResume(_ tile: VideoTileState)
    /// Called when the size of a tile changed.
    @SharingActor func videoTileSizeDidChange(_ tile: VideoTileState)
    /// Called when the video is shared to another subgroup, or to the main room.
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
