/// The due times of a source's ticks, counted from its start, so that a late tick does not move the next.
struct TickSchedule {
    let start: Duration
    let framesPerSecond: Double

    /// Returns the due time of tick `number`.
    func deadline(_ number: Int) -> Duration {
        start + .nanoseconds(Int64(Self.nanoseconds(to: number, framesPerSecond: framesPerSecond)))
    }

    /// Returns the nanoseconds from the start to tick `number`, rounded.
    static func nanoseconds(to number: Int, framesPerSecond: Double) -> Double {
        (Double(number) * 1e9 / framesPerSecond).rounded()
    }

    /// Returns the tick to run after `number`: the next one or, if that is overdue, the newest that is due at `now`.
    func tick(after number: Int, now: Duration) -> Int {
        max(number + 1, newest(at: now))
    }

    /// Returns the tick to run after `number`, without those that were due before `now`.
    func tick(after number: Int, dueFrom now: Duration) -> Int {
        let newest = newest(at: now)
        return max(number + 1, deadline(newest) < now ? newest + 1 : newest)
    }

    /// Returns the newest tick that is due at `now`, but none before `number`.
    func newest(from number: Int, now: Duration) -> Int { max(number, newest(at: now)) }

    private func newest(at now: Duration) -> Int {
        let (seconds, attoseconds) = (now - start).components
        let elapsed = Double(seconds) + Double(attoseconds) * 1e-18
        return Int((elapsed * framesPerSecond).rounded(.down))
    }
}
