/// Why pictures can't be shown in a window.
public enum VideoWindowError: Error, Sendable, Hashable, CustomStringConvertible {
    /// SDL 2 is not there, or is too old.
    case libraryMissing(reason: String)
    /// There is no display, or none that takes us.
    case displayUnavailable(reason: String)
    /// SDL refused something, in its words.
    case refused(operation: String, reason: String)
    /// A window of X11's was given, and the display is none of X11's.
    case notX11(driver: String)
    /// Something that SDL drew with is used on another thread than the one that it began on.
    case wrongThread

    /// What is wrong, and what to do.
    public var description: String {
        switch self {
        case .libraryMissing(let reason):
            "SDL 2, which shows windows, can't be used: \(reason); install it ('apt install libsdl2-2.0-0')"
        case .displayUnavailable(let reason):
            "no window can be opened: \(reason); set DISPLAY or WAYLAND_DISPLAY to a display that runs"
        case .refused(let operation, let reason):
            "SDL refused \(operation): \(reason)"
        case .notX11(let driver):
            "the window is one of X11's, and this program shows its windows by \(driver); set SDL_VIDEODRIVER=x11"
        case .wrongThread:
            "a view is drawn on another thread than before; draw it where its renderer was made"
        }
    }
}
