internal import RTCShareTransport

/// An event of a share; see ``ContentShareController/events``.
public enum ContentShareEvent: Sendable {
    /// The first frame of the latest start was sent.
    case started
    /// The share is over, or its source was replaced before its first frame.
    case stopped(ContentShareStatus)
    /// The source has sent no frame for this long although it is not muted and a viewer is present. Its capture may not
    /// have been started. The share waits for the frame.
    case silent(Duration)
    /// The source has ended; with an error if that was not requested. The share continues with its last frame until it
    /// is stopped.
    case sourceEnded((any Error)?)
    /// The program or the source has muted or unmuted the video: the track's `isMuted`.
    case muteChanged(Bool)
}

extension ContentShareEvent: QueuedEvent {
    package func outdates(_ old: ContentShareEvent) -> Bool {
        switch (old, self) {
        case (.started, .started), (.stopped, .stopped), (.silent, .silent), (.sourceEnded, .sourceEnded),
            (.muteChanged, .muteChanged):
            true
        default: false
        }
    }
}
