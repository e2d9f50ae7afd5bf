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
        /// Its row in the tables of those that wait; -1 while it doesn't.
        fileprivate var row = -1
        /// It is being woken, and has not said yet when it is to be woken next.
        fileprivate var isDue = false
        let wake: (Instant) -> Void

        /// `wake` is called when the time has come.
        init(wake: @escaping (Instant) -> Void) {
            self.wake = wake
        }
    }

    let batch: DatagramBatch
    private let eventLoop: any EventLoop
    /// A heap: each deadline is no earlier than the one at half its position. Entries lie all over memory, so that what is
    /// moved and compared here are numbers alone.
    private var heap: [(deadline: Instant, row: Int)] = []
    /// Where each row stands in the heap.
    private var positions: [Int] = []
    /// The entries, by their rows.
    private var entries: [Entry?] = []
    private var freeRows: [Int] = []
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
        let wasDue = entry.isDue
        entry.isDue = false
        guard deadline != entry.deadline else { return }
        let isEarlier = deadline < entry.deadline
        entry.deadline = deadline
        if deadline == .distantFuture {
            remove(entry)
        } else if entry.row < 0 {
            add(entry)
        } else {
            let position = positions[entry.row]
            heap[position].deadline = deadline
            if isEarlier { rise(position) } else { sink(position) }
        }
        if !wasDue { setTimer() }
    }

    private func add(_ entry: Entry) {
        if let row = freeRows.popLast() {
            entry.row = row
            entries[row] = entry
        } else {
            entry.row = entries.count
            entries.append(entry)
            positions.append(0)
        }
        heap.append((entry.deadline, entry.row))
        rise(heap.count - 1)
    }

    private func remove(_ entry: Entry) {
        let row = entry.row
        guard row >= 0 else { return }
        entry.row = -1
        entries[row] = nil
        freeRows.append(row)
        let position = positions[row]
        let last = heap.removeLast()
        guard last.row != row else { return }
        heap[position] = last
        positions[last.row] = position
        rise(position)
        sink(positions[last.row])
    }

    private func rise(_ start: Int) {
        var position = start
        let node = heap[position]
        while position > 0 {
            let parent = (position - 1) / 2
            guard node.deadline < heap[parent].deadline else { break }
            heap[position] = heap[parent]
            positions[heap[position].row] = position
            position = parent
        }
        if position != start { heap[position] = node }
        positions[node.row] = position
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
            positions[heap[position].row] = position
            position = child
        }
        if position != start { heap[position] = node }
        positions[node.row] = position
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
            while let (deadline, row) = heap.first, deadline <= now, let entry = entries[row] {
                // It stays where it is, to be moved once it says when it is due next.
                entry.isDue = true
                entry.wake(now)
                guard entry.isDue else { continue }
                entry.isDue = false
                entry.deadline = .distantFuture
                remove(entry)
            }
        }
        setTimer()
    }
}
