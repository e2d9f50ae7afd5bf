internal import RTCShareLocks

/// Counts what a source or a track gives, and keeps nothing of it.
public final class VideoStatisticsSink: VideoSink {
    /// What was counted.
    public struct Statistics: Sendable, Hashable {
        /// Frames taken.
        public internal(set) var frames = 0
        /// Frames that showed nothing new, by the source's own word.
        public internal(set) var framesWithoutChange = 0
        /// The newest frame's size, before rotation.
        public internal(set) var size: PixelSize?
        /// How often the size changed.
        public internal(set) var sizeChanges = 0
        /// When the newest frame was taken.
        public internal(set) var lastTimestamp: Duration?
        /// The longest time between two frames, by their timestamps.
        public internal(set) var longestGap = Duration.zero
        /// Frames a second over the last second of timestamps.
        public internal(set) var framesPerSecond = 0.0
        /// Whether the source has ended.
        public internal(set) var hasEnded = false
    }

    /// Frames of a second that are told apart.
    private static let capacity = 1000

    private struct State {
        var statistics = Statistics()
        var recent: [Duration] = []
    }

    private let state = Locked(State())

    /// Nothing counted yet.
    public init() {}

    /// What was counted so far.
    public var statistics: Statistics { state.withLock { $0.statistics } }

    /// Counts a frame.
    public func receive(_ frame: VideoFrame) {
        state.withLock { state in
            if frame.damage?.isEmpty == true { state.statistics.framesWithoutChange += 1 }
            if let size = state.statistics.size, size != frame.outputSize { state.statistics.sizeChanges += 1 }
            if let last = state.statistics.lastTimestamp {
                state.statistics.longestGap = max(state.statistics.longestGap, frame.timestamp - last)
            }
            state.statistics.frames += 1
            state.statistics.size = frame.outputSize
            state.statistics.lastTimestamp = frame.timestamp
            state.recent.append(frame.timestamp)
            state.recent.removeAll { $0 <= frame.timestamp - .seconds(1) || $0 > frame.timestamp }
            // A source whose clock stands still fills no memory.
            if state.recent.count > Self.capacity { state.recent.removeFirst() }
            state.statistics.framesPerSecond = Double(state.recent.count)
        }
    }

    /// Notes the end.
    public func sourceDidEnd(error: (any Error)?) {
        state.withLock { $0.statistics.hasEnded = true }
    }
}
