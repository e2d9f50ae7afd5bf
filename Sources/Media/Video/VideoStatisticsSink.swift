internal import RTCShareLocks

/// Counts the frames of a source or a track, and keeps none.
public final class VideoStatisticsSink: VideoSink {
    /// The counts.
    public struct Statistics: Sendable, Hashable {
        /// The number of frames.
        public internal(set) var frames = 0
        /// The number of frames that the source marked as unchanged.
        public internal(set) var framesWithoutChange = 0
        /// The newest frame's size, before rotation.
        public internal(set) var size: PixelSize?
        /// The number of changes of the size.
        public internal(set) var sizeChanges = 0
        /// The time at which the newest frame was captured.
        public internal(set) var lastTimestamp: Duration?
        /// The longest time between two frames, by their timestamps.
        public internal(set) var longestGap = Duration.zero
        /// The number of frames in the last second of timestamps.
        public internal(set) var framesPerSecond = 0.0
        /// Whether the source has ended.
        public internal(set) var hasEnded = false
    }

    /// The maximum number of frames of a second that are counted.
    private static let capacity = 1000

    private struct State {
        var statistics = Statistics()
        var recent: [Duration] = []
    }

    private let state = Locked(State())

    /// Creates counts of zero.
    public init() {}

    /// The counts so far.
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
            // A source whose clock does not advance must not fill the memory.
            if state.recent.count > Self.capacity { state.recent.removeFirst() }
            state.statistics.framesPerSecond = Double(state.recent.count)
        }
    }

    /// Records the end.
    public func sourceDidEnd(error: (any Error)?) {
        state.withLock { $0.statistics.hasEnded = true }
    }
}
