internal import RTCShareCapture

/// The desktop of this session: an X server, or a Wayland desktop, whose screen X clients can't capture.
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

    /// Whether the screen is a Wayland desktop's. An X server other than XWayland shows a screen of its own, even on
    /// such a desktop. XWayland shows only X11 programs.
    var isWayland: Bool {
        guard wayland != nil else { return false }
        guard let display else { return true }
        return DisplaySource.isXWayland(display: display)
    }

    /// The sentence that reports a Wayland desktop.
    var sentence: String {
        "This is a Wayland desktop: its portal shares the screen."
            + (display.map { " XWayland (\($0)) shows only X11 programs." } ?? "")
    }
}
