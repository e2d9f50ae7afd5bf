/// The reason why capture is interrupted, but has not ended.
public enum CaptureInterruption: Sendable, Hashable, CustomStringConvertible {
    /// The window is minimized, or on another desktop: it provides no video.
    case minimized
    /// The window is beyond the edges of the screen. Its video continues.
    case movedOffScreen
    /// The desktop asks the user what to share.
    case awaitingChoice
    /// The desktop has not provided the first frame yet, because its screen is unchanged.
    case awaitingPicture
    /// The desktop has stopped to provide frames, for example of a minimized window, and may resume.
    case heldByDesktop
    /// The capturing process is not connected: `reason` names since when, or why.
    case extensionUnavailable(reason: String)
    /// The camera was unplugged, or provides nothing: `reason` names the camera and the cause.
    case cameraUnavailable(reason: String)
    /// The source is muted, for an unknown reason.
    case sourceMuted
    /// The microphone, the captured output or the sound server is unavailable: `reason` names it.
    case audioUnavailable(reason: String)
    /// The monitor is off or unplugged, or the region is beyond the screen: `reason` names it.
    case displayUnavailable(reason: String)

    /// A text for people.
    public var description: String {
        switch self {
        case .minimized: "the window is minimized"
        case .movedOffScreen: "the window was moved off the screen"
        case .awaitingChoice: "the desktop waits for your choice in its dialog"
        case .awaitingPicture: "the desktop sends the first frame when something on the screen changes"
        case .heldByDesktop: "the desktop sends no frames, perhaps because the window is minimized"
        case .sourceMuted: "the source sends no frames"
        case .extensionUnavailable(let reason), .cameraUnavailable(let reason), .displayUnavailable(let reason),
            .audioUnavailable(let reason):
            reason
        }
    }
}
