/// Frames that wait for their time, newest last. A frame is dropped if its successor's time has come too: the queue
/// can't grow.
struct FrameSchedule<Frame> {
    private var waiting: [(frame: Frame, due: Duration)] = []
    /// The number of frames that were replaced before they were shown.
    private(set) var framesDropped = 0

    /// The maximum number of waiting frames: those of a second at the highest rate.
    static var capacity: Int { 60 }

    /// Adds a frame to show at `due`.
    mutating func insert(_ frame: Frame, due: Duration, now: Duration) {
        waiting.append((frame, due))
        dropOverdue(at: now)
        if waiting.count > Self.capacity { drop(waiting.count - Self.capacity) }
    }

    /// Removes and returns the frame whose time has come.
    mutating func take(at now: Duration) -> Frame? {
        dropOverdue(at: now)
        guard let first = waiting.first, first.due <= now else { return nil }
        return waiting.removeFirst().frame
    }

    /// The time of the next frame; nil if none waits.
    var nextDue: Duration? { waiting.lazy.map(\.due).min() }

    /// Removes all waiting frames.
    mutating func removeAll() {
        waiting.removeAll(keepingCapacity: true)
    }

    /// Removes all frames whose time has come, except the newest.
    private mutating func dropOverdue(at now: Duration) {
        guard let newest = waiting.lastIndex(where: { $0.due <= now }) else { return }
        drop(newest)
    }

    private mutating func drop(_ count: Int) {
        waiting.removeFirst(count)
        framesDropped += count
    }
}
