/// An observer of a share, with one call at a time on ``SharingActor``. An observer that blocks delays all rooms. It
/// may call the share. Each start and each stop that did not throw results in `contentShareDidStart` or
/// `contentShareDidStop`.
public protocol ContentShareObserver: AnyObject, Sendable {
    /// Called when the first frame of the latest start was sent.
    @SharingActor func contentShareDidStart()
    /// Called when the share ended, or when a start was replaced before its first frame.
    @SharingActor func contentShareDidStop(status: ContentShareStatus)
    /// Called at most once for each start, when the source has delivered no frame for this time, although there is a
    /// viewer and it is not muted. Its capture may not be running. The share waits for the frame.
    @SharingActor func contentShareSourceIsSilent(for time: Duration)
    /// Called when the source has ended, with an error if it failed. The share continues with its last frame until it
    /// is stopped.
    @SharingActor func contentShareSourceDidEnd(error: (any Error)?)
    /// Called when the video was muted or unmuted, by the program or by its source: the track's `isMuted`.
    @SharingActor func contentShareMuteDidChange(_ isMuted: Bool)
}

extension ContentShareObserver {
    /// Does nothing.
    public func contentShareDidStart() {}
    /// Does nothing.
    public func contentShareDidStop(status: ContentShareStatus) {}
    /// Does nothing.
    public func contentShareSourceIsSilent(for time: Duration) {}
    /// Does nothing.
    public func contentShareSourceDidEnd(error: (any Error)?) {}
    /// Does nothing.
    public func contentShareMuteDidChange(_ isMuted: Bool) {}
}
