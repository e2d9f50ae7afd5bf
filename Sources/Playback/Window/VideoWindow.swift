internal import RTCShareCSDL
internal import RTCShareLocks
public import RTCShareMedia

/// A window that shows two views: one that fills it, and a small one in the lower right corner, if it has a frame.
///
///     let window = try await VideoWindow(title: "alice", size: PixelSize(width: 1280, height: 720))
///     session.tiles.bind(window.large, to: .content)
///     session.tiles.bind(window.corner, to: .attendee)
///     for await event in window.events { … }
///
/// It is an own window, or an existing X11 window of the program. On Wayland it is a Wayland window. It is drawn only
/// after changes, on a thread that all windows share.
public final class VideoWindow: Sendable {
    /// An action of the user or of the display.
    public enum Event: Sendable, Hashable {
        /// A key was pressed that types this character, by itself or with Shift. Windows that the program created send
        /// none.
        case key(Character)
        /// The user closed the window, which exists until ``VideoWindow/close()``. Or it was the program's, and was
        /// destroyed.
        case closed
        /// The window can't show anything any more.
        case failed(VideoWindowError)
    }

    /// The view that fills the window.
    public let large: VideoView
    /// The view in its corner.
    public let corner: VideoView
    /// The events, as they occur; ends with ``close()``.
    public let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation
    private let surface: WindowSurface

    /// Opens a window for video of `size`: as large as its frames, or as the display allows.
    public convenience init(
        title: String, size: PixelSize, large: VideoView = VideoView(), corner: VideoView = VideoView()
    ) async throws(VideoWindowError) {
        try await self.init(.own(title: title, picture: size), large: large, corner: corner)
    }

    /// Shows the views in an X11 window of the program, which they fill. The window must exist until ``close()`` has
    /// returned. The program still receives its keys and other events. A process whose windows use Wayland has no X11
    /// windows: see `SDL_VIDEODRIVER`.
    public convenience init(
        x11Window: UInt, large: VideoView = VideoView(), corner: VideoView = VideoView()
    ) async throws(VideoWindowError) {
        try await self.init(.x11(x11Window), large: large, corner: corner)
    }

    private init(
        _ origin: WindowSurface.Origin, large: VideoView, corner: VideoView
    ) async throws(VideoWindowError) {
        let (events, continuation) = AsyncStream.makeStream(of: Event.self)
        self.large = large
        self.corner = corner
        self.events = events
        self.continuation = continuation
        surface = try await Self.open(origin, large, corner) { continuation.yield($0) }
    }

    deinit {
        continuation.finish()
        let surface = surface
        Task { @ViewActor in surface.close() }
    }

    @ViewActor
    private static func open(
        _ origin: WindowSurface.Origin, _ large: VideoView, _ corner: VideoView,
        tell: @escaping @Sendable (Event) -> Void
    ) async throws(VideoWindowError) -> WindowSurface {
        let sdl = try WindowLoop.shared.start()
        let surface = try WindowSurface(origin, sdl: sdl, views: (large, corner), tell: tell)
        WindowLoop.shared.add(surface)
        return surface
    }

    /// Throws if SDL 2 is missing or no display accepts windows, before there is anything to show.
    package static func checkDisplay() async throws(VideoWindowError) { try await startLoop() }

    @ViewActor
    private static func startLoop() throws(VideoWindowError) { _ = try WindowLoop.shared.start() }

    /// The version of SDL that shows windows; nil if SDL is missing.
    public static var libraryVersion: String? { try? SDLLibrary.load().version }

    /// Changes the window's title.
    public func setTitle(_ title: String) async { await surface.setTitle(title) }

    /// Turns full screen on or off.
    public func setFullScreen(_ isFullScreen: Bool) async { await surface.setFullScreen(isFullScreen) }

    /// Turns full screen on if it is off, and off if it is on.
    public func toggleFullScreen() async { await surface.toggleFullScreen() }

    /// Resizes the window so that each pixel of the large view's frame is a pixel of the screen, or to the largest
    /// possible size.
    public func showNaturalSize() async { await surface.showNaturalSize() }

    /// Resizes the window for video of another `size`, unless the user has resized it.
    public func adopt(_ size: PixelSize) async { await surface.adopt(size) }

    /// Closes the window, or releases the program's. Another window can show the views then.
    public func close() async {
        await surface.close()
        continuation.finish()
    }

    /// The processor time of the thread that all windows share, since the start of the program.
    public static var processorTime: Duration { ViewActor.executor.processorTime }
}
