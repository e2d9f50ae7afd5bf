public import FoundationEssentials
internal import Glibc
public import RTCShareMedia

/// Gives what an X screen shows: all of it, one output, or a region, with the mouse pointer.
///
/// A frame comes at once when something changes, but not more often than the rate allows, and says what changed; it is
/// stamped with when the server gave the picture. A screen at rest gives none. A screen or output that changes its
/// size is followed, frames then have the new size. While an output is off, or a region does not lie on the screen, the
/// source is muted, and observers are told (``CaptureInterruption/displayAway(reason:)``); it resumes when that is over.
/// Widths and heights are even: an odd last column or row is left out. What lies on the screen is in its picture: a
/// program's own overlays too, which no X server leaves out of a screen; a ``WindowSource`` gives a window without them.
public final class DisplaySource: CaptureSource, BroadcastingVideoSource {
    /// The part of a screen to share.
    public enum Area: Sendable, Hashable {
        /// The whole screen.
        case screen
        /// What the output (monitor) of this name shows.
        case output(String)
        /// A rectangle of the screen.
        case region(PixelRectangle)
    }

    /// The size when the source was opened, and the rate.
    public let captureFormat: CaptureFormat
    private let area: Area
    private let display: String?
    private let connection: XConnection
    /// The sinks and observers.
    public let broadcaster = VideoBroadcaster()
    private let thread = CaptureThread()

    /// Connects to `display` (what stands in `DISPLAY`) and looks the area up; what cannot be shared throws, and says
    /// what could be.
    public init(
        area: Area, display: String? = ProcessInfo.processInfo.environment["DISPLAY"], framesPerSecond: Double = 30
    ) throws(CaptureError) {
        try CaptureFormat.check(framesPerSecond: framesPerSecond)
        let connection = try XConnection(display: display)
        // Without a signal there is always an answer.
        let size = try area.rectangle(on: connection, signal: nil)?.size ?? PixelSize(width: 2, height: 2)
        captureFormat = CaptureFormat(size: size, framesPerSecond: framesPerSecond)
        self.area = area
        self.display = display
        self.connection = connection
    }

    /// The size of a display's whole screen.
    public static func screenSize(
        display: String? = ProcessInfo.processInfo.environment["DISPLAY"]
    ) throws(CaptureError) -> PixelSize {
        // Without a signal there is always an answer.
        try XConnection(display: display).screenSize(signal: nil) ?? PixelSize(width: 0, height: 0)
    }

    /// Whether a display is the XWayland of a Wayland desktop, whose screen shows nothing but the X programs. False where it
    /// can't be asked.
    public static func isXWayland(
        display: String? = ProcessInfo.processInfo.environment["DISPLAY"]
    ) -> Bool {
        (try? XConnection(display: display).isXWayland()) ?? false
    }

    /// The outputs (monitors) of a display with their product names, the primary one first.
    public static func outputs(
        display: String? = ProcessInfo.processInfo.environment["DISPLAY"]
    ) throws(CaptureError) -> [DisplayOutput] {
        try XConnection(display: display).outputs(signal: nil, withProductNames: true) ?? []
    }

    /// Begins to give frames.
    public func start() throws {
        let (area, connection, broadcaster, format) = (area, connection, broadcaster, captureFormat)
        try thread.start { signal in
            broadcaster.run(until: signal) { () throws(CaptureError) in
                try ScreenCapture.run(
                    ScreenPart(area, on: connection), on: connection, as: format, to: broadcaster, until: signal)
            }
        }
    }

    /// Ends it; sinks are told that nothing follows.
    public func stop() { thread.stop() }
}
