internal import NIOCore
internal import RTCShareLocks
internal import RTCShareWireFormat

/// The shared state of the connections of one event loop: the timer that wakes them, and the batch of their datagrams.
///
/// If there are many deadlines, those in the same millisecond are handled in one wakeup. The datagrams of a wakeup, a
/// read or a frame are sent in one batch. The loop exists as long as there are references to it, by connections,
/// sockets and an active timer. It is used only on its event loop: ``of(_:)`` checks that, and it is not Sendable.
final class ConnectionLoop {
    /// The timer of one connection.
    final class Entry {
        fileprivate(set) var deadline = Instant.distantFuture
        /// Its row in the heap; nil while it has no deadline.
        fileprivate var row: DeadlineHeap.Row?
        /// Whether it is being woken, and has not set its next deadline yet.
        fileprivate var isDue = false
        /// The earliest next deadline: after the time of its last waking.
        fileprivate var earliest = Instant(nanoseconds: .min)
        let wake: (Instant) -> Void
        fileprivate let resume: (Duration, Instant) -> Void

        /// Creates a timer that calls `wake` at its deadline, and `resume` before that if this machine was suspended
        /// for the given time.
        init(
            resume: @escaping (_ suspension: Duration, _ now: Instant) -> Void = { _, _ in },
            wake: @escaping (Instant) -> Void
        ) {
            self.resume = resume
            self.wake = wake
        }
    }

    let batch: DatagramBatch
    private let eventLoop: any EventLoop
    fileprivate var deadlines = DeadlineHeap()
    /// The entries by their rows.
    private var entries: [Entry?] = []
    private var timer: Scheduled<Void>?
    private var timerDeadline = Instant.distantFuture
    private var gathering = 0
    /// Returns the time of all suspensions of this machine; a test can replace it.
    var suspendedTime: () -> Duration = { MonotonicClock.suspendedTime } {
        didSet { knownSuspension = suspendedTime() }
    }
    /// The part of it that the connections know.
    private var knownSuspension = MonotonicClock.suspendedTime

    /// The shortest suspension that the connections learn of.
    private static let shortestSuspension = Duration.seconds(1)
    /// The number of connections from which on deadlines are merged.
    private static let coalescedCount = 16
    /// The interval of merged deadlines in nanoseconds.
    private static let coalescedTime: Int64 = 1_000_000
    /// The minimum time until the timer fires. SwiftNIO runs every due task before it reads the sockets, so a task that
    /// is always due, as on a machine that is too slow for the room, would prevent reading: feedback would be lost, and
    /// bitrates would fall for that reason.
    private static let readingPause = Duration.microseconds(50)

    /// The weak reference to the loop of an event loop, both of which can end when they are not used any more.
    fileprivate struct Known: @unchecked Sendable {
        // Sendable: other threads only check whether the loop still exists. If such a thread drops the last reference,
        // it frees memory that nobody else uses.
        weak var loop: ConnectionLoop?
        weak var eventLoop: (any EventLoop)?
    }

    fileprivate static let known = Locked<[ObjectIdentifier: Known]>([:])

    /// Returns the loop of this event loop, on which the caller must be.
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

    /// Sets the deadline of an entry, which replaces the previous one. An entry that is due again at once is woken after
    /// the other due entries, and after the sockets were read.
    func schedule(_ entry: Entry, at deadline: Instant) {
        let deadline = max(deadline, entry.earliest)
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

    /// Returns the time at which the timer fires for a deadline, which is never before it.
    private func ringing(for deadline: Instant) -> Instant {
        guard deadlines.count >= Self.coalescedCount else { return deadline }
        let (units, rest) = deadline.nanoseconds.quotientAndRemainder(dividingBy: Self.coalescedTime)
        guard rest > 0, units < .max / Self.coalescedTime else { return deadline }
        return Instant(nanoseconds: (units + 1) * Self.coalescedTime)
    }

    private func setTimer() {
        guard gathering == 0, let first = deadlines.first else { return }
        let time = max(ringing(for: first.deadline), MonotonicClock.now.advanced(by: Self.readingPause))
        // A timer that fires too early has no effect, and is set again.
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

    private func resumeAll(now: Instant) {
        let suspension = suspendedTime() - knownSuspension
        guard suspension >= Self.shortestSuspension else { return }
        knownSuspension += suspension
        for entry in entries { entry?.resume(suspension, now) }
    }

    private func wakeThoseDue() {
        let now = MonotonicClock.now
        beginGathering()
        resumeAll(now: now)
        while let (deadline, row) = deadlines.first, deadline <= now, let entry = entries[row] {
            // It stays where it is, to be moved once it says when it is due next.
            entry.isDue = true
            entry.earliest = now.advanced(by: .nanoseconds(1))
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

/// The timers of this process's connections, for tests of leaks.
package enum ConnectionTimers {
    /// Returns the number of waiting timers on all event loops.
    package static func waitingCount() async -> Int {
        var count = 0
        for known in ConnectionLoop.known.withLock({ Array($0.values) }) {
            count += (try? await known.eventLoop?.submit { known.loop?.deadlines.count ?? 0 }.get()) ?? 0
        }
        return count
    }
}
