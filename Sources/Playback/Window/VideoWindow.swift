internal import RTCShareCSDL
internal import RTCShareLocks
public import RTCShareMedia

/// A window that shows two views: a large one, and a small one in the right lower corner, where it has a picture.
///
///     let window = try await VideoWindow(title: "alice", size: PixelSize(width: 1280, height: 720))
///     session.tiles.bind(window.large, to: .content)
///     session.tiles.bind(window.corner, to: .attendee)
///     for await event in window.events { … }
///
/// It is one of its own, or one of X11's that the program has made with whatever toolkit. On Wayland it is Wayland's. It is
/// drawn where something changed, and costs nothing where nothing did, on a thread that all windows share.
public final class VideoWindow: Sendable {
    /// What a person, or the display, does with a window.
    public enum Event: Sendable, Hashable {
        /// A key was pressed that stands for this, by itself or with Shift. Windows that are the program's get none.
        case key(Character)
        /// The window was closed by its person; it is there until ``VideoWindow/close()``. Or it was the program's, and is gone.
        case closed
        /// Nothing can be shown in it any more.
        case failed(VideoWindowError)
    }

    /// The view that fills the window.
    public let large: VideoView
    /// The view in its corner.
    public let corner: VideoView
    /// What happens, as it does; ends with ``close()``.
    public let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation
    private let surface: WindowSurface

    /// Opens a window for a picture of `size`: as large as the picture, or as the display allows.
    public convenience init(
        title: String, size: PixelSize, large: VideoView = VideoView(), corner: VideoView = VideoView()
    ) async throws(VideoWindowError) {
        try await self.init(.own(title: title, picture: size), large: large, corner: corner)
    }

    /// Shows its views in a window that the program has made on X11, all over it. The window has to be there until
    /// ``close()`` has returned; keys and all else in it stay the program's. A process whose windows are Wayland's has none
    /// of X11's: see `SDL_VIDEODRIVER`.
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

    /// Throws if SDL 2 is not there or no display takes windows, before there is anything to show.
    package static func checkDisplay() async throws(VideoWindowError) { try await startLoop() }

    @ViewActor
    private static func startLoop() throws(VideoWindowError) { _ = try WindowLoop.shared.start() }

    /// The version of SDL that shows windows here; nil where there is none.
    public static var libraryVersion: String? { try? SDLLibrary.load().version }

    /// Gives the window another title.
    public func setTitle(_ title: String) async { await surface.setTitle(title) }

    /// Has the window fill its screen, or no longer.
    public func setFullScreen(_ isFullScreen: Bool) async { await surface.setFullScreen(isFullScreen) }

    /// Has the window fill its screen where it does not, and the other way around.
    public func toggleFullScreen() async { await surface.toggleFullScreen() }

    /// Gives the window the size at which each pixel of the large picture is one of the screen's, or the largest that there is
    /// room for.
    public func showNaturalSize() async { await surface.showNaturalSize() }

    /// Gives the window the size that a picture of `size` takes, where it has the one that it was given before and not
    /// one of its person's choice: for another large picture than the one that it was opened for.
    public func adopt(_ size: PixelSize) async { await surface.adopt(size) }

    /// Closes the window, or lets go of the program's. The views can be shown in another one then.
    public func close() async {
        await surface.close()
        continuation.finish()
    }

    /// The processor time of the thread that all windows share, since the program began.
    public static var processorTime: Duration { ViewActor.executor.processorTime }
}
