internal import NIOCore
internal import Synchronization
internal import WireFormat

/// What the connections of one event loop have in common: the timer that wakes them, and the way of what they send.
///
/// Deadlines that fall into the same millisecond are served together where there are many, in one wakeup, and what a
/// wakeup, a read or a frame has connections send leaves in one batch. It lives on its event loop, as long as the process.
final class ConnectionLoop: @unchecked Sendable {
    /// A connection's place among those that wait for their time. It lives on the event loop too.
    final class Entry: @unchecked Sendable {
        fileprivate(set) var deadline = Instant.distantFuture
        fileprivate var position = -1
        let wake: (Instant) -> Void

        /// `wake` is called when the time has come.
        init(wake: @escaping (Instant) -> Void) {
            self.wake = wake
        }
    }

    let batch: DatagramBatch
    private let eventLoop: any EventLoop
    /// A heap: each deadline is no earlier than the one at half its position. Deadlines are beside the entries, which lie
    /// all over memory.
    private var heap: [(deadline: Instant, entry: Entry)] = []
    private var timer: Scheduled<Void>?
    private var timerDeadline = Instant.distantFuture
    private var gathering = 0

    /// From so many connections on, deadlines are put together.
    private static let coalescedCount = 16
    /// In nanoseconds.
    private static let coalescedTime: Int64 = 1_000_000

    private static let loops = Mutex<[ObjectIdentifier: ConnectionLoop]>([:])

    /// The one of this event loop.
    static func of(_ eventLoop: any EventLoop) -> ConnectionLoop {
        loops.withLock { loops in
            if let known = loops[ObjectIdentifier(eventLoop)] { return known }
            let new = ConnectionLoop(on: eventLoop)
            loops[ObjectIdentifier(eventLoop)] = new
            return new
        }
    }

    private init(on eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
        batch = DatagramBatch(on: eventLoop)
    }

    // MARK: Sending together

    /// Has what is sent meanwhile leave in one batch at the end.
    func gather(_ body: () -> Void) {
        beginGathering()
        body()
        endGathering()
    }

    /// Holds back what is sent until ``endGathering()``.
    func beginGathering() {
        gathering += 1
    }

    /// Sends what was held back.
    func endGathering() {
        gathering -= 1
        guard gathering == 0 else { return }
        batch.flush()
        setTimer()
    }

    // MARK: Waking

    /// Has an entry woken at `deadline`, and at no other time.
    func schedule(_ entry: Entry, at deadline: Instant) {
        guard deadline != entry.deadline else { return }
        let isEarlier = deadline < entry.deadline
        entry.deadline = deadline
        if deadline == .distantFuture {
            remove(entry)
        } else if entry.position < 0 {
            heap.append((deadline, entry))
            rise(heap.count - 1)
        } else {
            heap[entry.position].deadline = deadline
            if isEarlier { rise(entry.position) } else { sink(entry.position) }
        }
        setTimer()
    }

    private func remove(_ entry: Entry) {
        let position = entry.position
        guard position >= 0 else { return }
        entry.position = -1
        let last = heap.removeLast()
        guard last.entry !== entry else { return }
        heap[position] = last
        last.entry.position = position
        rise(position)
        sink(last.entry.position)
    }

    private func rise(_ start: Int) {
        var position = start
        let node = heap[position]
        while position > 0 {
            let parent = (position - 1) / 2
            guard node.deadline < heap[parent].deadline else { break }
            heap[position] = heap[parent]
            heap[position].entry.position = position
            position = parent
        }
        if position != start { heap[position] = node }
        node.entry.position = position
    }

    private func sink(_ start: Int) {
        var position = start
        let node = heap[position]
        while true {
            var child = 2 * position + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1].deadline < heap[child].deadline { child += 1 }
            guard heap[child].deadline < node.deadline else { break }
            heap[position] = heap[child]
            heap[position].entry.position = position
            position = child
        }
        if position != start { heap[position] = node }
        node.entry.position = position
    }

    /// When the timer is to ring for a deadline: never before it.
    private func ringing(for deadline: Instant) -> Instant {
        guard heap.count >= Self.coalescedCount else { return deadline }
        let (units, rest) = deadline.nanoseconds.quotientAndRemainder(dividingBy: Self.coalescedTime)
        guard rest > 0, units < .max / Self.coalescedTime else { return deadline }
        return Instant(nanoseconds: (units + 1) * Self.coalescedTime)
    }

    private func setTimer() {
        guard gathering == 0, let first = heap.first else { return }
        let time = ringing(for: first.deadline)
        // One that rings too early finds nothing to do, and is set anew.
        guard time < timerDeadline else { return }
        timer?.cancel()
        timerDeadline = time
        timer = eventLoop.assumeIsolated().scheduleTask(
            deadline: .uptimeNanoseconds(UInt64(max(0, time.nanoseconds)))
        ) { [self] in
            timer = nil
            timerDeadline = .distantFuture
            wakeThoseDue()
        }
    }

    private func wakeThoseDue() {
        let now = MonotonicClock.now
        gather {
            while let (deadline, entry) = heap.first, deadline <= now {
                entry.deadline = .distantFuture
                remove(entry)
                entry.wake(now)
            }
        }
        setTimer()
    }
}
