internal import NIOCore
internal import RTCShareLocks
internal import RTCShareWireFormat

/// What the connections of one event loop have in common: the timer that wakes them, and the way of what they send.
///
/// Deadlines that fall into the same millisecond are served together where there are many, in one wakeup, and what a
/// wakeup, a read or a frame has connections send leaves in one batch. It lives as long as somebody has it, connections,
/// sockets and a timer that is set, and on its event loop: ``of(_:)`` gives it to nobody elsewhere, and it can't be sent.
final class ConnectionLoop {
    /// A connection's place among those that wait for their time.
    final class Entry {
        fileprivate(set) var deadline = Instant.distantFuture
        /// Its row among those that wait; nil while it doesn't.
        fileprivate var row: DeadlineHeap.Row?
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
    fileprivate var deadlines = DeadlineHeap()
    /// The entries that wait, by their rows.
    private var entries: [Entry?] = []
    private var timer: Scheduled<Void>?
    private var timerDeadline = Instant.distantFuture
    private var gathering = 0

    /// From so many connections on, deadlines are put together.
    private static let coalescedCount = 16
    /// In nanoseconds.
    private static let coalescedTime: Int64 = 1_000_000
    /// The least time until the timer rings. SwiftNIO runs every task that is due before it looks at the sockets, so that
    /// one that is always due, as where the processor is too slow for the room, would leave what arrived unread: feedback
    /// would be lost, and rates would fall for it.
    private static let readingPause = Duration.microseconds(50)

    /// Knows the one of an event loop, which may end, as its group may, once nobody has it.
    fileprivate struct Known: @unchecked Sendable {
        // Sendable: on other threads nothing is done with the loop but to see whether it is there. Should that be the last
        // to let go of it, what it frees is memory that nobody else has.
        weak var loop: ConnectionLoop?
        weak var eventLoop: (any EventLoop)?
    }

    fileprivate static let known = Locked<[ObjectIdentifier: Known]>([:])

    /// The one of this event loop, on which the caller must be.
    static func of(_ eventLoop: any EventLoop) -> ConnectionLoop {
        eventLoop.preconditionInEventLoop()
        let bound = known.withLock { known in
            if let loop = known[ObjectIdentifier(eventLoop)]?.loop { return NIOLoopBound(loop, eventLoop: eventLoop) }
            let new = ConnectionLoop(on: eventLoop)
            known = known.filter { $0.value.loop != nil }
            known[ObjectIdentifier(eventLoop)] = Known(loop: new, eventLoop: eventLoop)
            return NIOLoopBound(new, eventLoop: eventLoop)
        }
        return bound.value
    }

    private init(on eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
        batch = DatagramBatch(on: eventLoop)
    }

    // MARK: Sending together

    /// Holds back datagrams until ``endGathering()``, so that they leave in one batch.
    func beginGathering() {
        gathering += 1
    }

    /// Sends the datagrams that were held back.
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
        entry.deadline = deadline
        if deadline == .distantFuture {
            remove(entry)
        } else if let row = entry.row {
            deadlines.move(row, to: deadline)
        } else {
            add(entry)
        }
        if !wasDue { setTimer() }
    }

    private func add(_ entry: Entry) {
        let row = deadlines.insert(entry.deadline)
        entry.row = row
        if row == entries.count { entries.append(nil) }
        entries[row] = entry
    }

    private func remove(_ entry: Entry) {
        guard let row = entry.row else { return }
        entry.row = nil
        entries[row] = nil
        deadlines.remove(row)
    }

    /// When the timer is to ring for a deadline: never before it.
    private func ringing(for deadline: Instant) -> Instant {
        guard deadlines.count >= Self.coalescedCount else { return deadline }
        let (units, rest) = deadline.nanoseconds.quotientAndRemainder(dividingBy: Self.coalescedTime)
        guard rest > 0, units < .max / Self.coalescedTime else { return deadline }
        return Instant(nanoseconds: (units + 1) * Self.coalescedTime)
    }

    private func setTimer() {
        guard gathering == 0, let first = deadlines.first else { return }
        let time = max(ringing(for: first.deadline), MonotonicClock.now.advanced(by: Self.readingPause))
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
        beginGathering()
        while let (deadline, row) = deadlines.first, deadline <= now, let entry = entries[row] {
            // It stays where it is, to be moved once it says when it is due next.
            entry.isDue = true
            entry.wake(now)
            guard entry.isDue else { continue }
            entry.isDue = false
            entry.deadline = .distantFuture
            remove(entry)
        }
        endGathering()
        setTimer()
    }
}

/// The timers of this process's connections, for whoever looks for what is left behind.
package enum ConnectionTimers {
    /// How many wait, on all event loops.
    package static func waitingCount() async -> Int {
        var count = 0
        for known in ConnectionLoop.known.withLock({ Array($0.values) }) {
            count += (try? await known.eventLoop?.submit { known.loop?.deadlines.count ?? 0 }.get()) ?? 0
        }
        return count
    }
}
