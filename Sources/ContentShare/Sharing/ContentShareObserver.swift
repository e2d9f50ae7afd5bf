internal import RTCShareTransport
package import RTCShareWireFormat

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

/// The reason why a share ended.
public enum ContentShareStatus: Sendable, Hashable, CustomStringConvertible {
    /// It was stopped by a call. That also ends a start whose first frame was not sent.
    case ok
    /// Another start replaced it before its first frame was sent. The other share continues.
    case replaced
    /// The viewer's answer declines the video.
    case refusedByPeer
    /// The viewer left.
    case closedByPeer
    /// The connection failed for this reason.
    case connectionFailed(String)

    /// The status as text for people.
    public var description: String {
        switch self {
        case .ok: "stopped"
        case .replaced: "replaced by another share before it began"
        case .refusedByPeer:
            "the viewer's answer rejects the shared video: it must receive VP8 in that section"
        case .closedByPeer: "the viewer left"
        case .connectionFailed(let reason): reason
        }
    }
}

/// The reason why a call failed. The share has not changed.
public enum ContentShareError: Error, Sendable, Hashable {
    /// No share can be stopped or changed, because nothing is shared.
    case notSharing
    /// The connection has ended.
    case ended
    /// The viewer's newest answer declines the content's video.
    case refusedByPeer
    /// Another controller shares this attendee's content over this connection.
    case alreadyShared(by: AttendeeID)
    /// The connection has the maximum number of shares.
    case tooManyShares(limit: Int)
    /// The stream has no video track.
    case nothingToShow(stream: String)
    /// A value of the configuration is not valid.
    case configuration(String)
    /// The encoder can't be created.
    case encoder(String)
}

extension ContentShareError: CustomStringConvertible {
    /// The failure with its reason and its remedy.
    public var description: String { explanation.text }
}

extension ContentShareError: ExplainedError {
    /// The problem, and separately its remedy.
    package var explanation: Explanation {
        switch self {
        case .notSharing: Explanation("nothing is shared", remedy: "start a share first")
        case .ended:
            Explanation("the connection has ended", remedy: "make a new connection, with a new offer")
        case .refusedByPeer:
            Explanation(
                "the viewer's answer rejects the shared video: it must receive VP8 in that section",
                remedy: "make a new offer")
        case .alreadyShared(let attendee):
            Explanation(
                "\(attendee) shares over this connection already", remedy: "use that attendee's session for both")
        case .tooManyShares(let limit):
            Explanation(
                "this connection has \(limit) shares, and no more are allowed", remedy: "use another connection")
        case .nothingToShow(let stream):
            Explanation("the stream \(stream) has no video track", remedy: "add a video track first")
        case .configuration(let problem): Explanation(problem)
        case .encoder(let reason): "can't create the encoder: \(reason)"
        }
    }
}
