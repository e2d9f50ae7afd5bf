internal import RTCShareCSDL
internal import RTCShareCapture
internal import RTCShareLocks

/// Waits for what happens to windows, and has them drawn when their pictures are due: for as long as there are any.
@ViewActor
final class WindowLoop {
    static let shared = WindowLoop()
    private var surfaces: [UInt32: WindowSurface] = [:]
    private var isRunning = false
    /// For how many milliseconds X11 is waited for at most.
    private static let longestWait: Int32 = 1000
    /// SDL, ready for windows, and the type of the event that ends a wait.
    private var video: (sdl: SDLLibrary, wakening: UInt32)?

    /// SDL, told to get ready for windows if it was not yet. It stays so: another thread could be about to wake us.
    func start() throws(VideoWindowError) -> SDLLibrary {
        guard !sdl_lost_x11() else { throw .displayLost }
        if let video { return video.sdl }
        let sdl = try SDLLibrary.load()
        let hints = [
            // Signals are the program's.
            (SDL_HINT_NO_SIGNAL_HANDLERS, "1"),
            // A Wayland display is asked itself, not by way of X11, which knows nothing of its scales.
            (SDL_HINT_VIDEODRIVER, "wayland,x11"),
            // What the processor has drawn goes to the display by shared memory: by an OpenGL of the processor's it would
            // take three times as long.
            (SDL_HINT_FRAMEBUFFER_ACCELERATION, "0"),
        ]
        // What the environment says goes before.
        for (name, value) in hints { _ = sdl.functions.SetHintWithPriority(name, value, SDL_HINT_DEFAULT) }
        guard sdl.functions.InitSubSystem(SDL_INIT_VIDEO) == 0 else {
            throw .displayUnavailable(reason: sdl.reason)
        }
        video = (sdl, sdl.functions.RegisterEvents(1))
        return sdl
    }

    /// Looks after a window from now on.
    func add(_ surface: WindowSurface) {
        surfaces[surface.id] = surface
        guard !isRunning else { return }
        isRunning = true
        Task { run() }
    }

    /// Looks after it no longer.
    func remove(_ surface: WindowSurface) { surfaces[surface.id] = nil }

    /// One turn after the other, between which the thread does what else it was asked for.
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
        executor.setAlarm {
            // SDL wakes its thread over a connection of its own, whose end would end the process.
            guard !sdl_lost_x11() else { return }
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
        // On a connection that it finds lost, SDL would wait for ever.
        if surfaces.values.contains(where: { $0.x11ID != 0 }) {
            timeout = timeout < 0 ? Self.longestWait : min(timeout, Self.longestWait)
        }
        while !sdl_lost_x11(), sdl.functions.WaitEventTimeout(&event, timeout) == 1 {
            handle(event)
            timeout = 0
        }
        guard sdl_lost_x11() else { return }
        for surface in surfaces.values { surface.displayIsLost() }
    }

    /// Rounded up: what is waited for is due then.
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
        // These are of no one window.
        case SDL_QUIT, SDL_RENDER_DEVICE_RESET, SDL_RENDER_TARGETS_RESET:
            for surface in surfaces.values { surface.handle(event) }
        default: surfaces[event.window.windowID]?.handle(event)
        }
    }
}
