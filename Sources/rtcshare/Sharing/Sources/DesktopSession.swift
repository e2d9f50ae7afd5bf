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

    /// Whether the screen is a Wayland desktop's. An X server other than XWayland shows a screen of its own, even on
    /// such a desktop. XWayland shows only X11 programs.
    var isWayland: Bool {
        guard wayland != nil else { return false }
        guard let display else { return true }
        return DisplaySource.isXWayland(display: display)
    }

    /// The kind of a desktop.
    enum Kind: Sendable, Hashable {
        case x11
        /// A Wayland desktop; X programs may have a display there.
        case wayland(hasX: Bool)

        var isWayland: Bool { self != .x11 }

        /// Whether there may be windows of X programs.
        var hasX: Bool { self != .wayland(hasX: false) }
    }

    /// The kind, for which an X server may be asked.
    var kind: Kind { isWayland ? .wayland(hasX: display != nil) : .x11 }

    /// The sentence that reports a Wayland desktop.
    var sentence: String {
        "This is a Wayland desktop: its portal shares the screen."
            + (display.map { " XWayland (\($0)) shows only X11 programs." } ?? "")
    }
}
