import RTCShareLocks
import RTCShareMedia

/// Records the calls of a sink.
final class FrameLog: VideoSink {
    struct Entries: Sendable {
        var frames: [VideoFrame] = []
        var hints: [ContentHint] = []
        var mutes: [Bool] = []
        var ends = 0
    }

    private let log = Locked(Entries())

    var entries: Entries { log.withLock { $0 } }
    var frames: [VideoFrame] { entries.frames }

    func receive(_ frame: VideoFrame) { log.withLock { $0.frames.append(frame) } }
    func sourceDidEnd(error: (any Error)?) { log.withLock { $0.ends += 1 } }
    func contentHintDidChange(_ hint: ContentHint) { log.withLock { $0.hints.append(hint) } }
    func muteDidChange(_ isMuted: Bool) { log.withLock { $0.mutes.append(isMuted) } }
}

/// Records the calls of an observer.
final class ObserverLog: CaptureSourceObserver {
    private let log = Locked<[String]>([])

    var entries: [String] { log.withLock { $0 } }

    func captureDidStart() { log.withLock { $0.append("start") } }
    func captureDidStop() { log.withLock { $0.append("stop") } }
    func captureDidFail(error: CaptureSourceError) { log.withLock { $0.append("\(error.kind)") } }
}

/// A clock that a test moves on, and the timers that run by it.
final class ManualTimer: Sendable {
    private struct State {
        var now = Duration.seconds(1000)
        var pending: [(time: Duration, action: @Sendable () -> Void)] = []
    }

    private let state = Locked(State())

    var timer: FrameTimer {
        var timer = FrameTimer()
        timer.now = { [self] in state.withLock { $0.now } }
        timer.start = { [self] wait, action in state.withLock { $0.pending.append(($0.now + wait, action)) } }
        return timer
    }

    /// Moves on by `time`, and fires the timers that run out until then, at their times.
    func advance(_ time: Duration) {
        let end = state.withLock { $0.now + time }
        while let action = state.withLock({ state -> (@Sendable () -> Void)? in
            guard
                let next = state.pending.indices.min(by: { state.pending[$0].time < state.pending[$1].time }),
                state.pending[next].time <= end
            else { return nil }
            state.now = max(state.now, state.pending[next].time)
            return state.pending.remove(at: next).action
        }) { action() }
        state.withLock { $0.now = end }
    }
}

/// Returns a grey frame.
func grey(
    _ width: Int = 16, _ height: Int = 16, at milliseconds: Int = 0, rotation: VideoRotation = .upright,
    damage: [PixelRectangle]? = nil, outputSize: PixelSize? = nil
) -> VideoFrame {
    let buffer = PixelBuffer(size: PixelSize(width: width, height: height), format: .i420) { planes, _ in
        for plane in planes { plane.initializeMemory(as: UInt8.self, repeating: 128) }
    }
    return VideoFrame(
        buffer: buffer, timestamp: .milliseconds(milliseconds), rotation: rotation, damage: damage,
        outputSize: outputSize)
}

/// A buffer whose planes are shorter than its size requires.
struct ShortBuffer: VideoFrameBuffer {
    var size = PixelSize(width: 64, height: 64)
    let format = PixelFormat.bgra

    func withPlanes<Result>(_ body: (borrowing PlaneSet) throws -> Result) rethrows -> Result {
        try [UInt8](repeating: 0, count: 16).withUnsafeBytes { try body(PlaneSet(planes: [$0], strides: [256])) }
    }
}
