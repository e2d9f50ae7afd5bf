public import FoundationEssentials
internal import Glibc
public import RTCShareMedia

/// Captures an X screen: all of it, one output, or a region, with the mouse pointer.
///
/// Each change results in a frame at once, but not more often than the frame rate allows. The frame has the changed
/// parts, and the time at which the server returned its pixels. An idle screen sends no frames. If a screen or output
/// changes its size, later frames have the new size. While an output is off, or a region is beyond the screen, the
/// source is muted, and observers are notified (``CaptureInterruption/displayUnavailable(reason:)``). It resumes
/// afterwards. Widths and heights are even: an odd last column or row is cut. Everything on the screen is visible,
/// including a program's own overlays, which no X server excludes. A ``WindowSource`` captures a window without them.
public final class DisplaySource: CaptureSource, BroadcastingVideoSource {
    /// The part of a screen to share.
    public enum Area: Sendable, Hashable {
        /// The whole screen.
        case screen
        /// The output (monitor) of this name.
        case output(String)
        /// A rectangle of the screen.
        case region(PixelRectangle)
    }

    /// The size at the time the source was opened, and the rate.
    public let captureFormat: CaptureFormat
    private let area: Area
    private let display: String?
    private let connection: XConnection
    /// The sinks and observers.
    public let broadcaster = VideoBroadcaster()
    private let thread = CaptureThread()

    /// Connects to `display` (the value of `DISPLAY`) and finds the area. Throws if it can't be shared, with the
    /// alternatives.
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

    /// Returns the size of a display's whole screen.
    public static func screenSize(
        display: String? = ProcessInfo.processInfo.environment["DISPLAY"]
    ) throws(CaptureError) -> PixelSize {
        // Without a signal there is always an answer.
        try XConnection(display: display).screenSize(signal: nil) ?? PixelSize(width: 0, height: 0)
    }

    /// Returns whether a display is the XWayland of a Wayland desktop, whose screen shows only X programs. Returns
    /// false if the display can't be asked.
    public static func isXWayland(
        display: String? = ProcessInfo.processInfo.environment["DISPLAY"]
    ) -> Bool {
        (try? XConnection(display: display).isXWayland()) ?? false
    }

    /// Returns the outputs (monitors) of a display with their product names, the primary one first.
    public static func outputs(
        display: String? = ProcessInfo.processInfo.environment["DISPLAY"]
    ) throws(CaptureError) -> [DisplayOutput] {
        try XConnection(display: display).outputs(signal: nil, withProductNames: true) ?? []
    }

    /// Starts the delivery of frames.
    public func start() throws {
        let (area, connection, broadcaster, format) = (area, connection, broadcaster, captureFormat)
        try thread.start { signal in
            broadcaster.run(until: signal) { () throws(CaptureError) in
                try ScreenCapture.run(
                    ScreenPart(area, on: connection), on: connection, as: format, to: broadcaster, until: signal)
            }
        }
    }

    /// Stops capture and notifies the sinks.
    public func stop() { thread.stop() }
}
