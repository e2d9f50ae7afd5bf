package import RTCShareWireFormat

/// The reason why video can't be shown in a window.
public enum VideoWindowError: Error, Sendable, Hashable {
    /// SDL 2 is missing, or is too old.
    case libraryMissing(reason: String)
    /// There is no display, or none that accepts a connection.
    case displayUnavailable(reason: String)
    /// The display server has ended, or has closed the connection.
    case displayLost
    /// SDL rejected an operation, with its message.
    case refused(operation: String, reason: String)
    /// The window is an X11 window, and SDL uses another driver.
    case notX11(driver: String)
    /// The renderer of a view is used on another thread than before.
    case wrongThread
}

extension VideoWindowError: CustomStringConvertible {
    /// The failure, its reason and a remedy.
    public var description: String { explanation.text }
}

extension VideoWindowError: ExplainedError {
    /// The problem and, separately, a remedy.
    package var explanation: Explanation {
        switch self {
        case .libraryMissing(let reason):
            Explanation(
                "can't open a window, because SDL 2 can't be used (\(reason))", remedy: "apt install libsdl2-2.0-0")
        case .displayUnavailable:
            Explanation(
                "can't open a window, because no display responds",
                remedy: "set DISPLAY or WAYLAND_DISPLAY to a running display")
        case .displayLost:
            Explanation("the connection to the display is lost", remedy: "run the command again on a running display")
        case .refused(let operation, let reason): "SDL failed in \(operation): \(reason)"
        case .notX11(let driver):
            Explanation(
                "the window is an X11 window, and this program shows its windows by \(driver)",
                remedy: "set SDL_VIDEODRIVER=x11")
        case .wrongThread:
            Explanation(
                "a view is drawn on another thread than before", remedy: "draw it on the thread of its renderer")
        }
    }
}
