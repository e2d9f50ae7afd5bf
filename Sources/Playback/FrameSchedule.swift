/// Pictures that wait for their time, newest last. One whose successor's time has come too is not shown any more: there is
/// no queue that could grow.
struct FrameSchedule<Frame> {
    private var waiting: [(frame: Frame, due: Duration)] = []
    /// Pictures that nobody saw, as a newer one took their place.
    private(set) var framesDropped = 0

    /// More pictures never wait: a second of them at the highest rate.
    static var capacity: Int { 60 }

    /// Takes a picture that is to be shown at `due`.
    mutating func insert(_ frame: Frame, due: Duration, now: Duration) {
        waiting.append((frame, due))
        dropOverdue(at: now)
        if waiting.count > Self.capacity { drop(waiting.count - Self.capacity) }
    }

    /// The picture whose time has come, once.
    mutating func take(at now: Duration) -> Frame? {
        dropOverdue(at: now)
        guard let first = waiting.first, first.due <= now else { return nil }
        return waiting.removeFirst().frame
    }

    /// When there is one to be taken; nil where none waits.
    var nextDue: Duration? { waiting.lazy.map(\.due).min() }

    /// Lets go of what waits.
    mutating func removeAll() {
        waiting.removeAll(keepingCapacity: true)
    }

    /// Leaves of those whose time has come the newest alone.
    private mutating func dropOverdue(at now: Duration) {
        guard let newest = waiting.lastIndex(where: { $0.due <= now }) else { return }
        drop(newest)
    }

    private mutating func drop(_ count: Int) {
        waiting.removeFirst(count)
        framesDropped += count
    }
}
