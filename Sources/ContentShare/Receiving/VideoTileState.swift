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
