internal import RTCShareLocks

/// The time that a track goes by; a test has a clock of its own.
package struct FrameTimer: Sendable {
    /// The time of the monotonic clock.
    package var now: @Sendable () -> Duration = { CaptureClock.now }
    /// Calls the action after a time.
    package var start: @Sendable (Duration, @escaping @Sendable () -> Void) -> Void = { time, action in
        Task {
            try? await Task.sleep(for: time)
            action()
        }
    }

    package init() {}
}

/// Gives the frames of a source to sinks in the output format that was asked for, and black while it is switched off.
///
/// The newest frame is kept. A source that stands still gives no other, so the sinks get this one again when the format or the
/// switch changes or a mute ends, and get it late where the frame rate left it out.
///
/// Frames come from the source's thread, repetitions from others. One thread at a time gives, with no lock held; the others
/// leave their frame to that one.
final class FrameOutlet: Sendable {
    /// The sinks and observers.
    let broadcaster: VideoBroadcaster
    private let state = Locked(State())
    private let timer: FrameTimer

    fileprivate struct State {
        var adapter = VideoFrameAdapter()
        var isEnabled = true
        /// The newest usable frame, and when it came.
        var newest: (frame: VideoFrame, arrival: Duration)?
        /// Whether the sinks have yet to get the newest frame.
        var isOwed = false
        /// The time until the rate admits the frame that it left out last.
        var timeToWait: Duration?
        var hasTimer = false
        /// The black buffer that the sinks saw last, while switched off.
        var black: PixelBuffer?
        var framesMuted = 0
        /// The frame for the thread that gives.
        var waiting: VideoFrame?
        var isGiving = false
    }

    init(broadcaster: VideoBroadcaster, timer: FrameTimer = FrameTimer()) {
        self.broadcaster = broadcaster
        self.timer = timer
    }

    /// Whether the sinks get the source's pictures; black otherwise, from now on.
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

    /// The frames that the sinks and the format have a use for now.
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

    /// Gives a new frame; one that can't be used too, which the broadcaster refuses.
    func receive(_ frame: VideoFrame) {
        let (now, usable) = (timer.now(), try? frame.validated())
        give { state in
            // Read here: a mute that ends before this finds no frame to give, and one that ends later finds this one.
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

    /// Gives the newest frame again, as of now; when the frame rate admits it, unless `atOnce`.
    func repeatFrame(atOnce: Bool = false) {
        repeatFrame(atOnce: atOnce) { _ in true }
    }

    /// Gives the newest frame, if the sinks have yet to get it.
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

    /// Forgets the newest frame: what comes next differs from what the sinks saw last.
    func reset() {
        let forgotten = state.withLock { state in
            defer {
                state.newest = nil
                state.isOwed = false
                state.adapter.invalidate()
            }
            return state.newest
        }
        // The buffer is freed after the lock is.
        withExtendedLifetime(forgotten) {}
    }

    /// Gives the sinks a frame, and those that come meanwhile. A sink may hold the caller up, which is meant for the source:
    /// another caller gives one frame only, `once`, and leaves what came meanwhile to the source's next frame or the timer.
    private func give(once: Bool = false, _ take: (inout State) -> VideoFrame?) {
        let (first, wait, replaced) = state.withLock { state -> (VideoFrame?, Duration?, (VideoFrame?, VideoFrame?)) in
            let before = (state.newest?.frame, state.waiting)
            if let frame = take(&state) { state.waiting = state.waiting.map(frame.following(missed:)) ?? frame }
            let wait = state.takeTimeToWait()
            guard !state.isGiving, let frame = state.waiting else { return (nil, wait, before) }
            (state.waiting, state.isGiving) = (nil, true)
            return (frame, wait, before)
        }
        // The buffers of frames that newer ones replaced are freed after the lock is.
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
    /// The frame for the sinks; nil where it is left out.
    mutating func adapt(_ frame: VideoFrame, regardlessOfRate: Bool = false) -> VideoFrame? {
        guard let adapted = adapter.adapt(frame, regardlessOfRate: regardlessOfRate) else {
            isOwed = true
            timeToWait = adapter.timeToWait(at: frame.timestamp)
            return nil
        }
        isOwed = false
        return isEnabled ? adapted : blackened(adapted)
    }

    /// The time after which the frame that was left out is to be given, unless a timer runs already.
    mutating func takeTimeToWait() -> Duration? {
        defer { timeToWait = nil }
        guard let timeToWait, !hasTimer else { return nil }
        hasTimer = true
        return timeToWait
    }

    /// Black of the frame's shape; the first shows a change, those after it none.
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
    /// The same picture some time later, in which nothing changed.
    fileprivate func repeated(after time: Duration) -> VideoFrame {
        var frame = VideoFrame(
            buffer: buffer, timestamp: timestamp + max(time, .zero), rotation: rotation, damage: [],
            outputSize: outputSize, captureTime: captureTime)
        frame.isValidated = isValidated
        return frame
    }
}

extension PixelBuffer {
    /// A black picture in I420.
    static func black(_ size: PixelSize) -> PixelBuffer {
        PixelBuffer(size: size, format: .i420) { planes, _ in
            // Limited range: luma 16 is black, chroma 128 is grey.
            for (plane, value) in zip(planes, [16, 128, 128] as [UInt8]) {
                plane.initializeMemory(as: UInt8.self, repeating: value)
            }
        }
    }
}
