internal import RTCShareLocks

/// The clock and timer of a track. A test replaces them.
package struct FrameTimer: Sendable {
    /// The time of the monotonic clock.
    package var now: @Sendable () -> Duration = { CaptureClock.now }
    /// Calls the action after a duration.
    package var start: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void = { time, action in
        Task {
            try? await Task.sleep(for: time)
            action()
        }
    }

    package init() {}
}

/// Passes the frames of a source to sinks in the requested output format, or black frames while it is disabled.
///
/// The outlet keeps the newest frame. An idle source sends no other, so the sinks receive this one again when the
/// format or the switch changes or when a mute ends, and later if the frame rate skipped it.
///
/// Frames come from the source's thread, repetitions from others. One thread at a time delivers, with no lock held; the
/// others leave their frame to that one.
final class FrameOutlet: Sendable {
    /// The sinks and observers.
    let broadcaster: VideoBroadcaster
    private let state = Locked(State())
    private let timer: FrameTimer

    fileprivate struct State {
        var adapter = VideoFrameAdapter()
        var isEnabled = true
        /// The newest valid frame, and its arrival time.
        var newest: (frame: VideoFrame, arrival: Duration)?
        /// Whether the sinks have not received the newest frame yet.
        var isOwed = false
        /// The time until the rate admits the frame that it skipped last.
        var timeToWait: Duration?
        var hasTimer = false
        /// The black buffer that the sinks received last, while disabled.
        var black: PixelBuffer?
        var framesMuted = 0
        /// The frame for the delivering thread.
        var waiting: VideoFrame?
        var isGiving = false
    }

    init(broadcaster: VideoBroadcaster, timer: FrameTimer = FrameTimer()) {
        self.broadcaster = broadcaster
        self.timer = timer
    }

    /// Whether the sinks receive the source's frames; otherwise they receive black, from now on.
    var isEnabled: Bool {
        get { state.withLock { $0.isEnabled } }
        set {
            let isNew = state.withLock { state in
                defer { state.isEnabled = newValue }
                guard state.isEnabled != newValue else { return false }
                state.black = nil
                state.adapter.invalidate()
                return true
            }
            if isNew { repeatFrame(atOnce: true) }
        }
    }

    /// The number of frames that came while the broadcaster was muted.
    var framesMuted: Int { state.withLock { $0.framesMuted } }

    /// The frames that the sinks and the format need now.
    var demand: FrameDemand {
        guard !broadcaster.isMuted else { return .nothing }
        let now = timer.now()
        return state.withLock { $0.adapter.isDue(at: now) } ? broadcaster.demand : .nothing
    }

    /// Sets the output format, for the newest frame too.
    func setOutputFormat(width: Int, height: Int, fps: Double, mode: OutputFormatMode) {
        state.withLock { $0.adapter.setOutputFormat(width: width, height: height, fps: fps, mode: mode) }
        repeatFrame()
    }

    /// Delivers a new frame. The broadcaster rejects an invalid one.
    func receive(_ frame: VideoFrame) {
        let (now, usable) = (timer.now(), try? frame.validated())
        give { state in
            // Read here: a mute that ends before this finds no frame to send, and one that ends later finds this one.
            let isMuted = broadcaster.isMuted
            guard let usable else {
                state.adapter.invalidate()
                return isMuted ? nil : frame
            }
            state.newest = (usable, now)
            guard isMuted else { return state.adapt(usable) }
            state.adapter.skip(usable)
            state.isOwed = true
            state.framesMuted += 1
            return nil
        }
    }

    /// Delivers the newest frame again, with the current time; when the frame rate admits it, unless `atOnce`.
    func repeatFrame(atOnce: Bool = false) {
        repeatFrame(atOnce: atOnce) { _ in true }
    }

    /// Delivers the newest frame if the sinks have not received it yet.
    func giveOwedFrame(atOnce: Bool = false) {
        repeatFrame(atOnce: atOnce) { $0.isOwed }
    }

    private func repeatFrame(atOnce: Bool, if condition: (State) -> Bool) {
        let now = timer.now()
        give(once: true) { state in
            guard condition(state), let (frame, arrival) = state.newest else { return nil }
            guard !broadcaster.isMuted else {
                state.isOwed = true
                return nil
            }
            return state.adapt(frame.repeated(after: now - arrival), regardlessOfRate: atOnce)
        }
    }

    /// Discards the newest frame: the next one differs from the one that the sinks received last.
    func reset() {
        let forgotten = state.withLock { state in
            defer {
                state.newest = nil
                state.isOwed = false
                state.adapter.invalidate()
            }
            return state.newest
        }
        // The buffer is freed after the lock was released.
        withExtendedLifetime(forgotten) {}
    }

    /// Delivers a frame to the sinks, and the frames that arrive during that. A sink may delay the caller, which is
    /// meant for the source: with `once`, another caller delivers one frame only, and leaves the frames that arrived to
    /// the source's next frame or the timer.
    private func give(once: Bool = false, _ take: (inout State) -> VideoFrame?) {
        let (first, wait, replaced) = state.withLock { state -> (VideoFrame?, Duration?, (VideoFrame?, VideoFrame?)) in
            let before = (state.newest?.frame, state.waiting)
            if let frame = take(&state) { state.waiting = state.waiting.map(frame.following(missed:)) ?? frame }
            let wait = state.takeTimeToWait()
            guard !state.isGiving, let frame = state.waiting else { return (nil, wait, before) }
            (state.waiting, state.isGiving) = (nil, true)
            return (frame, wait, before)
        }
        // The buffers of replaced frames are freed after the lock was released.
        withExtendedLifetime(replaced) {}
        if let wait { startTimer(wait) }
        var next = first
        while let frame = next {
            broadcaster.send(frame)
            let (following, wait) = state.withLock { state -> (VideoFrame?, Duration?) in
                guard let waiting = state.waiting, !once else {
                    state.isGiving = false
                    if state.waiting != nil { state.timeToWait = .zero }
                    return (nil, state.takeTimeToWait())
                }
                state.waiting = nil
                return (waiting, nil)
            }
            if let wait { startTimer(wait) }
            next = following
        }
    }

    private func startTimer(_ wait: Duration) {
        timer.start(wait) { [weak self] in
            self?.state.withLock { $0.hasTimer = false }
            self?.giveOwedFrame()
        }
    }
}

extension FrameOutlet.State {
    /// Returns the frame for the sinks; nil if it is skipped.
    mutating func adapt(_ frame: VideoFrame, regardlessOfRate: Bool = false) -> VideoFrame? {
        guard let adapted = adapter.adapt(frame, regardlessOfRate: regardlessOfRate) else {
            isOwed = true
            timeToWait = adapter.timeToWait(at: frame.timestamp)
            return nil
        }
        isOwed = false
        return isEnabled ? adapted : blackened(adapted)
    }

    /// Returns the time after which the skipped frame must be delivered, unless a timer runs already.
    mutating func takeTimeToWait() -> Duration? {
        defer { timeToWait = nil }
        guard let timeToWait, !hasTimer else { return nil }
        hasTimer = true
        return timeToWait
    }

    /// Returns a black frame of the same shape. The first one is marked as changed, those after it are not.
    private mutating func blackened(_ frame: VideoFrame) -> VideoFrame {
        let size = frame.outputSize
        let known = black.flatMap { $0.size == size ? $0 : nil }
        let buffer = known ?? PixelBuffer.black(size)
        black = buffer
        return VideoFrame(
            buffer: buffer, timestamp: frame.timestamp, rotation: frame.rotation, damage: known == nil ? nil : [])
    }
}

extension VideoFrame {
    /// Returns the same frame at a later time, marked as unchanged.
    fileprivate func repeated(after time: Duration) -> VideoFrame {
        var frame = VideoFrame(
            buffer: buffer, timestamp: timestamp + max(time, .zero), rotation: rotation, damage: [],
            outputSize: outputSize, captureTime: captureTime)
        frame.isValidated = isValidated
        return frame
    }
}

extension PixelBuffer {
    /// Creates a black frame in I420.
    static func black(_ size: PixelSize) -> PixelBuffer {
        PixelBuffer(size: size, format: .i420) { planes, _ in
            // Limited range: luma 16 is black, chroma 128 is gray.
            for (plane, value) in zip(planes, [16, 128, 128] as [UInt8]) {
                plane.initializeMemory(as: UInt8.self, repeating: value)
            }
        }
    }
}
