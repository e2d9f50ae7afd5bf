internal import RTCShareCSDL
internal import RTCShareCapture
internal import RTCShareLocks

/// Waits for events of windows, and draws them when their frames are due, as long as there are any.
@ViewActor
final class WindowLoop {
    static let shared = WindowLoop()
    private var surfaces: [UInt32: WindowSurface] = [:]
    private var isRunning = false
    /// SDL with its video subsystem, and the type of the event that ends a wait.
    private var video: (sdl: SDLLibrary, wakening: UInt32)?

    /// Initializes SDL's video subsystem, if necessary. It stays initialized, because another thread could be about to
    /// end a wait.
    func start() throws(VideoWindowError) -> SDLLibrary {
        guard !sdl_lost_x11() else { throw .displayLost }
        if let video { return video.sdl }
        let sdl = try SDLLibrary.load()
        let hints = [
            // The program handles signals itself.
            (SDL_HINT_NO_SIGNAL_HANDLERS, "1"),
            // Wayland directly, not through X11, which does not know its scales.
            (SDL_HINT_VIDEODRIVER, "wayland,x11"),
            // Software rendering reaches the display through shared memory: through a software OpenGL it would take
            // three times as long.
            (SDL_HINT_FRAMEBUFFER_ACCELERATION, "0"),
        ]
        // The environment takes precedence.
        for (name, value) in hints { _ = sdl.functions.SetHintWithPriority(name, value, SDL_HINT_DEFAULT) }
        guard sdl.functions.InitSubSystem(SDL_INIT_VIDEO) == 0 else {
            throw .displayUnavailable(reason: sdl.reason)
        }
        video = (sdl, sdl.functions.RegisterEvents(1))
        return sdl
    }

    /// Adds a window to the loop.
    func add(_ surface: WindowSurface) {
        surfaces[surface.id] = surface
        guard !isRunning else { return }
        isRunning = true
        Task { run() }
    }

    /// Removes a window from the loop.
    func remove(_ surface: WindowSurface) { surfaces[surface.id] = nil }

    /// Runs iterations, between which the thread does the actor's other work.
    private func run() {
        guard let video, !surfaces.isEmpty else {
            isRunning = false
            return
        }
        turn(video.sdl, wakening: video.wakening)
        Task { run() }
    }

    private func turn(_ sdl: SDLLibrary, wakening: UInt32) {
        let executor = ViewActor.executor
        let isOnX11 = surfaces.values.contains { $0.x11ID != 0 }
        executor.setAlarm {
            guard !isOnX11 else { return sdl_end_x11_wait() }
            var event = SDL_Event(type: wakening)
            _ = sdl.functions.PushEvent(&event)
        }
        defer { executor.setAlarm(nil) }
        let now = monotonicNow()
        let next = surfaces.values.compactMap { $0.update(at: now) }.min()
        for surface in surfaces.values where surface.isClosed { remove(surface) }
        guard !surfaces.isEmpty else { return }
        var event = SDL_Event()
        var timeout = executor.hasAlarm ? next.map { Self.milliseconds(until: $0) } ?? -1 : 0
        if isOnX11 {
            if !sdl_lost_x11(), sdl.functions.WaitEventTimeout(nil, 0) == 0 { sdl_wait_x11(timeout) }
            timeout = 0
        }
        while !sdl_lost_x11(), sdl.functions.WaitEventTimeout(&event, timeout) == 1 {
            handle(event)
            timeout = 0
        }
        guard sdl_lost_x11() else { return }
        for surface in surfaces.values { surface.displayIsLost() }
    }

    /// Returns the time left, rounded up so that the time has come at the end of the wait.
    private static func milliseconds(until time: Duration) -> Int32 {
        let left = time - monotonicNow() + .microseconds(999)
        return left > .zero ? left.wholeMilliseconds : 0
    }

    private func handle(_ event: SDL_Event) {
        switch SDL_EventType(event.type) {
        case SDL_SYSWMEVENT:
            var gone: UInt = 0
            guard withUnsafePointer(to: event, { sdl_tells_of_destruction($0, &gone) }) else { return }
            for surface in surfaces.values where surface.x11ID == gone { surface.windowIsGone() }
        // These events belong to no single window.
        case SDL_QUIT, SDL_RENDER_DEVICE_RESET, SDL_RENDER_TARGETS_RESET:
            for surface in surfaces.values { surface.handle(event) }
        default: surfaces[event.window.windowID]?.handle(event)
        }
    }
}
