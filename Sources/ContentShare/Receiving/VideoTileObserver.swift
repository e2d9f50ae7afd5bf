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
