public import FoundationEssentials
internal import Glibc
public import RTCShareMedia

/// Captures one window of an X display, with the mouse pointer while it is over the window: the window's own pixels,
/// without the window manager's frame, even if other windows cover it.
///
/// Each change results in a frame at once, but not more often than the frame rate allows, as with a ``DisplaySource``.
/// If the window changes its size, later frames have the new size; an odd last column or row is cut. While it is
/// minimized, on another desktop or otherwise hidden, the source is muted, and viewers see that the share is paused. It
/// resumes when the window is visible again. A window beyond the screen's edges is still captured. Observers are
/// notified of all that. When the window is closed, the source ends with ``CaptureError/windowClosed(id:title:)``.
///
/// Separate windows that a program opens from this one (menus, dialogs, tooltips) are not captured, nor is another
/// program's drawing over it.
public final class WindowSource: CaptureSource, BroadcastingVideoSource {
    /// The window at the time the source was opened.
    public let window: DisplayWindow
    /// The size at the time the source was opened, and the rate.
    public let captureFormat: CaptureFormat
    /// The sinks and observers.
    public let broadcaster = VideoBroadcaster()
    private let connection: XConnection
    private let thread = CaptureThread()

    /// Connects to `display` (the value of `DISPLAY`) and finds the window. Throws if it can't be shared, with the
    /// alternatives. A window named by its number may be any that has pixels. One named by its title is searched among
    /// the listed windows, except those that `filter` excludes.
    public init(
        _ specification: WindowSpecification, leavingOut filter: WindowFilter = .own,
        display: String? = ProcessInfo.processInfo.environment["DISPLAY"], framesPerSecond: Double = 30
    ) throws(CaptureError) {
        try CaptureFormat.check(framesPerSecond: framesPerSecond)
        let connection = try XConnection(display: display)
        guard try connection.queryComposite() else {
            throw .unsharableWindow(
                specification, reason: "the X server has no Composite extension, which gives windows their own pixels",
                remedy: .shareDisplayOrRegion)
        }
        let list = try WindowList(connection: connection)
        switch specification {
        case .id(let id):
            window = try list.window(id)
        case .title:
            window = try specification.choose(
                from: list.windows(leavingOut: filter, includingMinimized: true))
        }
        self.connection = connection
        let area = PixelRectangle(x: 0, y: 0, size: window.size).even
        captureFormat = CaptureFormat(size: area.size, framesPerSecond: framesPerSecond)
    }

    /// Returns the windows of a display that can be shared, as its window manager lists them (EWMH's
    /// `_NET_CLIENT_LIST`) or, without a list, those on its screen. Menus and hidden windows are excluded, and those
    /// that `filter` excludes. Minimized windows are listed on request.
    public static func windows(
        display: String? = ProcessInfo.processInfo.environment["DISPLAY"], leavingOut filter: WindowFilter = .own,
        includingMinimized: Bool = false
    ) throws(CaptureError) -> [DisplayWindow] {
        try WindowList(connection: XConnection(display: display))
            .windows(leavingOut: filter, includingMinimized: includingMinimized)
    }

    /// Starts the delivery of frames.
    public func start() throws {
        let (window, connection, broadcaster, format) = (window, connection, broadcaster, captureFormat)
        try thread.start { signal in
            broadcaster.run(until: signal) { () throws(CaptureError) in
                try ScreenCapture.run(
                    WindowSubject(window, on: connection, atoms: WindowAtoms(on: connection)), on: connection,
                    as: format, to: broadcaster, until: signal)
            }
        }
    }

    /// Stops capture and notifies the sinks.
    public func stop() { thread.stop() }
}
