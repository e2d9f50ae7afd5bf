internal import Glibc
internal import RTCShareCapture
internal import RTCShareLocks
public import RTCShareMedia

/// Shows the pictures of a tile, a track or a source: in a ``VideoWindow``, or wherever a program draws with SDL.
///
///     let view = VideoView()
///     try session.tiles.bind(view, toTile: tile.tileID)
///
/// Each picture is shown as soon as it comes or, with ``synchronize(with:)``, when its sound is heard. One whose successor's time has
/// come too is dropped: nothing queues up. While the source is muted (a tile: paused) the picture is dimmed, and with its end
/// it is gone.
public final class VideoView: VideoSink {
    /// What was shown.
    public struct Statistics: Sendable, Hashable {
        /// Pictures that were given to the screen.
        public internal(set) var framesRendered = 0
        /// Pictures that were not, as a newer one had taken their place.
        public internal(set) var framesDropped = 0
        /// The time from a picture's timestamp (of a tile's: when its last packet came) until it had been given to the
        /// screen, of all that were shown.
        public internal(set) var totalRenderDelay = Duration.zero
        /// The same of the picture that was shown last.
        public internal(set) var renderDelay: Duration?
        /// When the sender took the picture that was shown last, by its own clock, where that is known.
        public internal(set) var captureTime: Duration?
        /// When that picture had been given to the screen, since the start of the monotonic clock.
        public internal(set) var renderTime: Duration?
    }

    /// What is to be seen at a moment.
    struct Appearance {
        let frame: VideoFrame?
        /// Counts the pictures: which of them this is.
        let frameNumber: Int
        let isPaused: Bool
        /// Counts all that changes what is to be seen.
        let changes: Int
        /// When it will change by itself.
        let nextChange: Duration?
    }

    /// What a program draws with. Sendable: the texture is touched by who finds that it is on `thread`, and by nobody else.
    private struct Drawing: @unchecked Sendable {
        let texture: PictureTexture
        let thread: pthread_t
    }

    private struct State {
        var schedule = FrameSchedule<VideoFrame>()
        var frame: VideoFrame?
        var frameNumber = 0
        var isPaused = false
        var changes = 0
        var statistics = Statistics()
        var sound: SoundOutput?
        /// How long it takes from a picture's time to its being on the screen, evened out.
        var lead = Duration.zero
        var lookTime = Duration.zero
        /// Called where there is something new to be seen, or will be.
        var onChange: (@Sendable () -> Void)?
        var drawing: Drawing?

        mutating func appearance(at now: Duration) -> Appearance {
            if let next = schedule.take(at: now) {
                lookTime = now
                frame = next
                frameNumber += 1
                changes += 1
            }
            return Appearance(
                frame: frame, frameNumber: frameNumber, isPaused: isPaused, changes: changes,
                nextChange: schedule.nextDue)
        }
    }

    private let state = Locked(State())
    /// What takes longer is no measure of what comes.
    private static let longestLead = Duration.milliseconds(50)

    /// A view that nobody looks at yet: of what comes it keeps the newest.
    public init() {}

    /// Has pictures wait until the sound of their time is heard (lip sync), as long as any is: of a tile, the sound of the
    /// same attendee. Nil has them shown when they come.
    public func synchronize(with sound: SoundOutput?) { state.withLock { $0.sound = sound } }

    /// What was shown so far.
    public var statistics: Statistics {
        state.withLock { state in
            var statistics = state.statistics
            statistics.framesDropped += state.schedule.framesDropped
            return statistics
        }
    }

    /// The picture that is shown; nil where there is none.
    public var frame: VideoFrame? { state.withLock { $0.frame } }

    /// Has `action` called where there is something new to draw: on any thread, which it must not keep.
    public func onChange(_ action: (@Sendable () -> Void)?) { state.withLock { $0.onChange = action } }

    /// Shows nothing until the next picture comes.
    public func clear() {
        change { state in
            state.schedule.removeAll()
            state.frame = nil
        }
    }

    // MARK: What the source tells

    /// Takes a picture.
    public func receive(_ frame: VideoFrame) {
        // Not every picture comes by way of a track or a tile, which let through what holds what it promises.
        guard (try? frame.validate()) != nil else { return }
        let now = monotonicNow()
        let (sound, lead) = state.withLock { ($0.sound, $0.lead) }
        let due = sound?.due(captureTime: frame.captureTime, now: now + lead) ?? now + lead
        let onChange = state.withLock { state in
            state.schedule.insert(frame, due: due - lead, now: now)
            return state.onChange
        }
        onChange?()
    }

    /// Dims the picture, or shows it again as it is.
    public func muteDidChange(_ isMuted: Bool) { change { $0.isPaused = isMuted } }

    /// Takes the picture away.
    public func sourceDidEnd(error: (any Error)?) { clear() }

    private func change(_ body: (inout State) -> Void) {
        let onChange = state.withLock { state in
            body(&state)
            state.changes += 1
            return state.onChange
        }
        onChange?()
    }

    // MARK: Who shows it

    /// What is to be seen now.
    func appearance(at now: Duration) -> Appearance { state.withLock { $0.appearance(at: now) } }

    /// Takes note that a new picture has been given to the screen.
    func didShow(_ frame: VideoFrame, at now: Duration) {
        state.withLock { state in
            let delay = max(now - frame.timestamp, .zero)
            state.lead += (min(max(now - state.lookTime, .zero), Self.longestLead) - state.lead) / 8
            state.statistics.framesRendered += 1
            state.statistics.totalRenderDelay += delay
            state.statistics.renderDelay = delay
            state.statistics.captureTime = frame.captureTime
            state.statistics.renderTime = now
        }
    }

    /// Draws what is to be seen now into `area` of what an `SDL_Renderer` of the program draws on; outside of the picture
    /// nothing is drawn. `next` is when there will be something else without anybody's saying so.
    ///
    /// The thread has to be the renderer's. Pictures are uploaded once each, whatever is drawn anew. Call ``endDrawing()``
    /// before the renderer is destroyed, and before another one is drawn with.
    /// - Parameter renderer: the pointer that `SDL_CreateRenderer` gave.
    @discardableResult
    public func draw(
        with renderer: OpaquePointer, in area: PixelRectangle
    ) throws(VideoWindowError) -> (didChange: Bool, next: Duration?) {
        let sdl = try SDLLibrary.load()
        let known = state.withLock { $0.drawing }
        let drawing =
            known ?? Drawing(texture: PictureTexture(sdl: sdl, renderer: renderer), thread: pthread_self())
        guard drawing.thread == pthread_self() else { throw .wrongThread }
        state.withLock { $0.drawing = drawing }
        let appearance = appearance(at: monotonicNow())
        let isNew = try drawing.texture.draw(appearance, in: area)
        if isNew, let frame = appearance.frame { didShow(frame, at: monotonicNow()) }
        return (isNew, appearance.nextChange)
    }

    /// Lets go of what was made with a program's renderer, on the thread that drew.
    public func endDrawing() throws(VideoWindowError) {
        guard let drawing = state.withLock({ $0.drawing }) else { return }
        guard drawing.thread == pthread_self() else { throw .wrongThread }
        drawing.texture.destroy()
        state.withLock { $0.drawing = nil }
    }
}
