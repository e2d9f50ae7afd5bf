internal import RTCShareCapture

/// What shows the screen: an X server, or a Wayland desktop whose screen no X client sees.
struct DesktopSession {
    private let display: String?
    private let wayland: String?

    init(environment: [String: String]) {
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        display = value("DISPLAY")
        wayland = value("WAYLAND_DISPLAY") ?? (value("XDG_SESSION_TYPE") == "wayland" ? "wayland" : nil)
    }

    /// Whether X programs have a display.
    var hasDisplay: Bool { display != nil }

    /// Whether the screen is a Wayland desktop's. An X server that was started beside it, and was named, is one that shows its
    /// own screen; a desktop's XWayland shows nothing but the X programs.
    var isWayland: Bool {
        guard wayland != nil else { return false }
        guard let display else { return true }
        return DisplaySource.isXWayland(display: display)
    }

    /// Which of the two is shared.
    var sentence: String {
        "This is a Wayland desktop: its portal shares the screen."
            + (display.map { " XWayland (\($0)) shows only X11 programs." } ?? "")
    }
}
