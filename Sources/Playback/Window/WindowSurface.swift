internal import Glibc
internal import RTCShareCSDL
internal import RTCShareCapture
internal import RTCShareLocks
internal import RTCShareMedia

/// An SDL window with two views: one that fills it, and a small one in its corner.
@ViewActor
final class WindowSurface {
    /// The origin of the window.
    enum Origin: Sendable {
        /// A new window, for video of this size.
        case own(title: String, picture: PixelSize)
        /// The X11 window with this number, which belongs to the program.
        case x11(UInt)
    }

    /// The window's number, by which events name it.
    let id: UInt32
    /// The window's X11 number; 0 if it has none.
    let x11ID: UInt
    private let sdl: SDLLibrary
    private let window: OpaquePointer
    private let renderer: OpaquePointer
    private let views: (large: VideoView, corner: VideoView)
    private let textures: (large: PictureTexture, corner: PictureTexture)
    private let tell: @Sendable (VideoWindow.Event) -> Void
    /// The change counts of the views that were drawn last; nil if everything must be drawn.
    private var drawn: (large: Int, corner: Int)?
    private var isFullScreen = false
    /// The size that this code chose, unless the user has resized the window.
    private var givenSize: PixelSize?
    private(set) var isClosed = false
    private var isUsable: Bool { !isClosed && !sdl_lost_x11() }

    private static let smallest = PixelSize(width: 160, height: 90)
    /// The part of a display that a new window takes at most: its decoration needs some, too.
    private static let share = 0.94

    init(
        _ origin: Origin, sdl: SDLLibrary, views: (large: VideoView, corner: VideoView),
        tell: @escaping @Sendable (VideoWindow.Event) -> Void
    ) throws(VideoWindowError) {
        self.sdl = sdl
        self.views = views
        self.tell = tell
        window = try Self.makeWindow(origin, sdl)
        do throws(VideoWindowError) {
            renderer = try Self.makeRenderer(of: window, sdl)
        } catch {
            sdl.functions.DestroyWindow(window)
            throw error
        }
        id = sdl.functions.GetWindowID(window)
        switch origin {
        // An OpenGL renderer has replaced the window.
        case .own: x11ID = sdl_follow_x11_window(window, false)
        case .x11(let number): x11ID = number
        }
        textures = (PictureTexture(sdl: sdl, renderer: renderer), PictureTexture(sdl: sdl, renderer: renderer))
        for view in [views.large, views.corner] { view.onChange { ViewActor.executor.soundAlarm() } }
        guard case .own(_, let picture) = origin else { return }
        sdl.functions.ShowWindow(window)
        givenSize = size
        if density != 1 { showNaturalSize(of: picture) }
    }

    private static func makeWindow(_ origin: Origin, _ sdl: SDLLibrary) throws(VideoWindowError) -> OpaquePointer {
        // Only X11's own events report the end of a window.
        _ = sdl.functions.EventState(SDL_SYSWMEVENT.rawValue, SDL_ENABLE)
        switch origin {
        case .own(let title, let picture):
            let anywhere = Int32(bitPattern: SDL_WINDOWPOS_UNDEFINED_MASK)
            // The density of the display is known when the window is shown, which follows its renderer, because an
            // OpenGL renderer replaces the window.
            let size = windowSize(for: picture, density: 1, display: 0, sdl)
            let window = try sdl.check(
                "a window",
                sdl.functions.CreateWindow(
                    title, anywhere, anywhere, Int32(clamping: size.width), Int32(clamping: size.height),
                    SDL_WINDOW_HIDDEN.rawValue | SDL_WINDOW_RESIZABLE.rawValue
                        | SDL_WINDOW_ALLOW_HIGHDPI.rawValue))
            sdl.functions.SetWindowMinimumSize(window, Int32(smallest.width), Int32(smallest.height))
            return window
        case .x11(let number):
            let driver = sdl.functions.GetCurrentVideoDriver().map { String(cString: $0) } ?? "nothing"
            guard driver == "x11" else { throw .notX11(driver: driver) }
            let window = try sdl.check(
                "a window of X11's", sdl.functions.CreateWindowFrom(UnsafeRawPointer(bitPattern: number)))
            guard sdl_follow_x11_window(window, true) == number else {
                sdl.functions.DestroyWindow(window)
                throw .notX11(driver: driver)
            }
            return window
        }
    }

    /// Creates the renderer, on the graphics card. If OpenGL has none, SDL's software renderer does the same at half
    /// the cost.
    private static func makeRenderer(
        of window: OpaquePointer, _ sdl: SDLLibrary
    ) throws(VideoWindowError) -> OpaquePointer {
        // Without vertical synchronization: late frames are shown at once, and the window manager prevents tearing.
        let renderer = try sdl.check("something to draw with", sdl.functions.CreateRenderer(window, -1, 0))
        var info = SDL_RendererInfo()
        guard sdl.functions.GetRendererInfo(renderer, &info) == 0, String(cString: info.name).hasPrefix("opengl"),
            getenv("SDL_RENDER_DRIVER") == nil, sdl_draws_in_software()
        else { return renderer }
        sdl.functions.DestroyRenderer(renderer)
        // The software renderer does not support each display: Wayland's, for example.
        if let software = sdl.functions.CreateRenderer(window, -1, SDL_RENDERER_SOFTWARE.rawValue) { return software }
        return try sdl.check("something to draw with", sdl.functions.CreateRenderer(window, -1, 0))
    }

    /// Closes the window. Further calls do nothing.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        for view in [views.large, views.corner] { view.onChange(nil) }
        // No SDL object of a lost display can be used, not even to destroy it.
        guard !sdl_lost_x11() else { return }
        textures.large.destroy()
        textures.corner.destroy()
        sdl.functions.DestroyRenderer(renderer)
        sdl.functions.DestroyWindow(window)
    }

    // MARK: Drawing

    /// Draws the current content if it has changed, and returns the time of the next change.
    func update(at now: Duration) -> Duration? {
        guard isUsable else { return nil }
        let (large, corner) = (views.large.appearance(at: now), views.corner.appearance(at: now))
        let isSeen = drawn.map { $0 == (large.changes, corner.changes) } ?? false
        if !isSeen, isVisible {
            do throws(VideoWindowError) {
                try draw(large, corner)
                drawn = (large.changes, corner.changes)
            } catch {
                tell(.failed(error))
                close()
            }
        }
        return [large.nextChange, corner.nextChange].compactMap { $0 }.min()
    }

    private func draw(_ large: VideoView.Appearance, _ corner: VideoView.Appearance) throws(VideoWindowError) {
        let area = try outputArea
        _ = sdl.functions.SetRenderDrawColor(renderer, 0, 0, 0, 255)
        try sdl.check("clearing a window", sdl.functions.RenderClear(renderer))
        let largeIsNew = try textures.large.draw(large, in: area)
        var cornerIsNew = false
        if let frame = corner.frame, let place = ViewLayout.corner(frame.sizeToBeSeen, of: area) {
            cornerIsNew = try textures.corner.draw(corner, in: place)
        }
        sdl.functions.RenderPresent(renderer)
        let now = monotonicNow()
        if largeIsNew, let frame = large.frame { views.large.didShow(frame, at: now) }
        if cornerIsNew, let frame = corner.frame { views.corner.didShow(frame, at: now) }
    }

    private var outputArea: PixelRectangle {
        get throws(VideoWindowError) {
            var (width, height) = (Int32(0), Int32(0))
            try sdl.check(
                "a window's size", sdl.functions.GetRendererOutputSize(renderer, &width, &height))
            return PixelRectangle(x: 0, y: 0, size: PixelSize(width: Int(width), height: Int(height)))
        }
    }

    private var isVisible: Bool {
        sdl.functions.GetWindowFlags(window) & (SDL_WINDOW_HIDDEN.rawValue | SDL_WINDOW_MINIMIZED.rawValue) == 0
    }

    // MARK: Requests of the program

    func setTitle(_ title: String) {
        guard isUsable else { return }
        sdl.functions.SetWindowTitle(window, title)
    }

    func toggleFullScreen() { setFullScreen(!isFullScreen) }

    func setFullScreen(_ isWanted: Bool) {
        guard isUsable, isWanted != isFullScreen else { return }
        let flags = isWanted ? SDL_WINDOW_FULLSCREEN_DESKTOP.rawValue : 0
        guard sdl.functions.SetWindowFullscreen(window, flags) == 0 else { return }
        isFullScreen = isWanted
        // The pointer would cover the video.
        _ = sdl.functions.ShowCursor(isWanted ? SDL_DISABLE : SDL_ENABLE)
    }

    /// Resizes the window for video of a size, unless the user has resized it.
    func adopt(_ picture: PixelSize) {
        guard isUsable, !isFullScreen, size == givenSize else { return }
        showNaturalSize(of: picture)
    }

    /// Resizes the window to the size of its large view's frame.
    func showNaturalSize() {
        guard isUsable, let picture = views.large.frame?.sizeToBeSeen else { return }
        setFullScreen(false)
        showNaturalSize(of: picture)
    }

    private func showNaturalSize(of picture: PixelSize) {
        let display = max(sdl.functions.GetWindowDisplayIndex(window), 0)
        let wanted = Self.windowSize(for: picture, density: density, display: display, sdl)
        sdl.functions.SetWindowSize(window, Int32(clamping: wanted.width), Int32(clamping: wanted.height))
        givenSize = size
        drawn = nil
    }

    private var size: PixelSize {
        var (width, height) = (Int32(0), Int32(0))
        sdl.functions.GetWindowSize(window, &width, &height)
        return PixelSize(width: Int(width), height: Int(height))
    }

    private static func windowSize(
        for picture: PixelSize, density: Double, display: Int32, _ sdl: SDLLibrary
    ) -> PixelSize {
        var bounds = SDL_Rect()
        guard sdl.functions.GetDisplayUsableBounds(display, &bounds) == 0 else { return picture }
        let room = PixelSize(width: Int(Double(bounds.w) * share), height: Int(Double(bounds.h) * share))
        return ViewLayout.window(for: picture, density: density, room: room)
    }

    /// The number of screen pixels per unit of window sizes.
    private var density: Double {
        let size = size
        guard size.width > 0, let area = try? outputArea, area.size.width > 0 else { return 1 }
        return Double(area.size.width) / Double(size.width)
    }

    // MARK: Events

    func handle(_ event: SDL_Event) {
        switch SDL_EventType(event.type) {
        case SDL_WINDOWEVENT: handle(event.window)
        case SDL_KEYDOWN where event.key.repeat == 0:
            if let key = Self.character(of: event.key.keysym) { tell(.key(key)) }
        case SDL_QUIT: tell(.closed)
        case SDL_RENDER_TARGETS_RESET: drawn = nil
        case SDL_RENDER_DEVICE_RESET:
            textures.large.forget()
            textures.corner.forget()
            drawn = nil
        default: return
        }
    }

    /// Handles the end of a window, by another program, or by this one if it was the program's.
    func windowIsGone() {
        guard !isClosed else { return }
        tell(.closed)
        close()
    }

    /// Handles the loss of the connection to the display.
    func displayIsLost() {
        guard !isClosed else { return }
        tell(.failed(.displayLost))
        close()
    }

    private func handle(_ event: SDL_WindowEvent) {
        switch SDL_WindowEventID(UInt32(event.event)) {
        case SDL_WINDOWEVENT_CLOSE: tell(.closed)
        case SDL_WINDOWEVENT_EXPOSED, SDL_WINDOWEVENT_SIZE_CHANGED, SDL_WINDOWEVENT_RESTORED, SDL_WINDOWEVENT_SHOWN,
            SDL_WINDOWEVENT_DISPLAY_CHANGED:
            drawn = nil
        default: return
        }
    }

    /// Returns the character that a key types by itself: letters by the keyboard's layout, digits by their position,
    /// because some layouts have them behind Shift.
    private static func character(of key: SDL_Keysym) -> Character? {
        let commands = UInt32(KMOD_CTRL.rawValue | KMOD_ALT.rawValue | KMOD_GUI.rawValue)
        guard UInt32(key.mod) & commands == 0 else { return nil }
        let digits = SDL_SCANCODE_1.rawValue...SDL_SCANCODE_9.rawValue
        if digits.contains(key.scancode.rawValue) {
            return Character(UnicodeScalar(UInt8(ascii: "1") + UInt8(key.scancode.rawValue - digits.lowerBound)))
        }
        if key.scancode == SDL_SCANCODE_KP_1 { return "1" }
        return UInt32(exactly: key.sym).flatMap(UnicodeScalar.init).map { Character($0) }
    }
}
