public import FoundationEssentials
internal import Glibc
public import RTCShareMedia

/// Gives what one window of an X display shows, with the mouse pointer where it is over that window: the window's own
/// pixels, without the frame of a window manager, also where other windows cover it.
///
/// A frame comes at once when something changes, but not more often than the rate allows, as of a ``DisplaySource``. A
/// window that changes its size is followed, frames then have the new size; an odd last column or row is left out. While
/// it is minimised, on another desktop or otherwise taken from the screen, the source is muted, and viewers see that the
/// share is paused; it goes on when the window is back. Where a window lies beyond the screen's edges, its picture goes
/// on. Observers are told all of that. When the window is closed the source ends with ``CaptureError/windowClosed(id:title:)``.
///
/// Windows of their own that a program opens from this one (menus, dialogues, tooltips) are not in its picture, nor is
/// what another program draws over it.
public final class WindowSource: CaptureSource, BroadcastingVideoSource {
    /// The window, as it was when the source was opened.
    public let window: DisplayWindow
    /// The size when the source was opened, and the rate.
    public let captureFormat: CaptureFormat
    /// The sinks and observers.
    public let broadcaster = VideoBroadcaster()
    private let connection: XConnection
    private let thread = CaptureThread()

    /// Connects to `display` (what stands in `DISPLAY`) and looks the window up; what cannot be shared throws, and says
    /// what could be. A window that is named by its number may be any that has pixels; one that is named by its title is
    /// looked for among those that people know, but for those that `filter` leaves out.
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
                from: list.windows(leavingOut: filter, includingMinimised: true))
        }
        self.connection = connection
        let area = PixelRectangle(x: 0, y: 0, size: window.size).even
        captureFormat = CaptureFormat(size: area.size, framesPerSecond: framesPerSecond)
    }

    /// The windows of a display that can be shared, as its window manager names them (EWMH's `_NET_CLIENT_LIST`), or
    /// where none does, those that lie on its screen. Menus and the like, and those out of sight, are left out, and what
    /// `filter` says; minimised windows are listed where that is asked for.
    public static func windows(
        display: String? = ProcessInfo.processInfo.environment["DISPLAY"], leavingOut filter: WindowFilter = .own,
        includingMinimised: Bool = false
    ) throws(CaptureError) -> [DisplayWindow] {
        try WindowList(connection: XConnection(display: display))
            .windows(leavingOut: filter, includingMinimised: includingMinimised)
    }

    /// Begins to give frames.
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

    /// Ends it; sinks are told that nothing follows.
    public func stop() { thread.stop() }
}
