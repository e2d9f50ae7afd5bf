internal import Glibc
internal import RTCShareCapture
internal import RTCShareLocks
public import RTCShareMedia

/// Shows the frames of a tile, a track or a source: in a ``VideoWindow``, or in any SDL renderer of a program.
///
///     let view = VideoView()
///     try session.tiles.bind(view, toTile: tile.tileID)
///
/// Each frame is shown on arrival or, with ``synchronize(with:)``, when its audio is heard. A frame is dropped if its
/// successor's time has come too, so that no queue forms. While the source is muted (a tile: paused), the frame is
/// dimmed. At its end, the frame is removed.
public final class VideoView: VideoSink {
    /// The counts of a view.
    public struct Statistics: Sendable, Hashable {
        /// The number of frames that were given to the display.
        public internal(set) var framesRendered = 0
        /// The number of frames that were not shown, because a newer one replaced them.
        public internal(set) var framesDropped = 0
        /// The total time from each frame's timestamp (of a tile's: the arrival of its last packet) until it had been
        /// given to the display.
        public internal(set) var totalRenderDelay = Duration.zero
        /// The same time of the last shown frame.
        public internal(set) var renderDelay: Duration?
        /// The time at which the sender captured the last shown frame, by its own clock, if that is known.
        public internal(set) var captureTime: Duration?
        /// The time at which that frame had been given to the display, since the start of the monotonic clock.
        public internal(set) var renderTime: Duration?
    }

    /// The content of a view at a time.
    struct Appearance {
        let frame: VideoFrame?
        /// The number of this frame.
        let frameNumber: Int
        let isPaused: Bool
        /// The number of visible changes so far.
        let changes: Int
        /// The time of the next change, if no frame arrives before.
        let nextChange: Duration?
    }

    /// The state of drawing in a program's renderer. Sendable: only code that has checked `thread` uses the texture.
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
        var sound: AudioOutput?
        /// The smoothed time that a frame takes to appear on the display.
        var lead = Duration.zero
        var lookTime = Duration.zero
        /// Called when there is something new to draw, or when that will be the case.
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
    /// The longest plausible time. A longer one does not predict the next.
    private static let longestLead = Duration.milliseconds(50)

    /// Creates a view. Until it is shown, it keeps the newest frame.
    public init() {}

    /// Delays frames until their audio is heard (lip sync), while any is audible. For a tile, use the audio of the same
    /// attendee. Nil shows frames on arrival.
    public func synchronize(with sound: AudioOutput?) { state.withLock { $0.sound = sound } }

    /// The audio that frames are delayed for.
    var sound: AudioOutput? { state.withLock { $0.sound } }

    /// The counts so far.
    public var statistics: Statistics {
        state.withLock { state in
            var statistics = state.statistics
            statistics.framesDropped += state.schedule.framesDropped
            return statistics
        }
    }

    /// The current frame; nil if there is none.
    public var frame: VideoFrame? { state.withLock { $0.frame } }

    /// Calls `action` when there is something new to draw, on any thread, which it must not block.
    public func onChange(_ action: (@Sendable () -> Void)?) { state.withLock { $0.onChange = action } }

    /// Shows nothing until the next frame arrives.
    public func clear() {
        change { state in
            state.schedule.removeAll()
            state.frame = nil
        }
    }

    // MARK: Events of the source

    /// Receives a frame.
    public func receive(_ frame: VideoFrame) {
        // Tracks and tiles only deliver valid frames, but a view can have another source.
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

    /// Dims the frame, or shows it normally again.
    public func muteDidChange(_ isMuted: Bool) { change { $0.isPaused = isMuted } }

    /// Removes the frame.
    public func sourceDidEnd(error: (any Error)?) { clear() }

    private func change(_ body: (inout State) -> Void) {
        let onChange = state.withLock { state in
            body(&state)
            state.changes += 1
            return state.onChange
        }
        onChange?()
    }

    // MARK: Display

    /// Returns the current content.
    func appearance(at now: Duration) -> Appearance { state.withLock { $0.appearance(at: now) } }

    /// Records that a new frame has been given to the display.
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

    /// Draws the current content into `area` of a program's `SDL_Renderer`. Outside of the frame it draws nothing.
    /// `next` is the time of the next change, if no frame arrives before.
    ///
    /// Call this on the renderer's thread. Each frame is uploaded only once. Call ``endDrawing()`` before you destroy
    /// the renderer, and before you draw with another one.
    /// - Parameter renderer: The pointer that `SDL_CreateRenderer` returned.
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

    /// Releases the objects that were created with a program's renderer, on the thread that drew.
    public func endDrawing() throws(VideoWindowError) {
        guard let drawing = state.withLock({ $0.drawing }) else { return }
        guard drawing.thread == pthread_self() else { throw .wrongThread }
        drawing.texture.destroy()
        state.withLock { $0.drawing = nil }
    }
}
