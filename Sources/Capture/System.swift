internal import Glibc
internal import RTCShareMedia

/// The time that frames are stamped with.
package func monotonicNow() -> Duration { CaptureClock.now }

/// When each tick of a source is due: counted from its start, so that no tick's lateness moves the next.
struct TickSchedule {
    let start: Duration
    let framesPerSecond: Double

    /// When tick `number` is due.
    func deadline(_ number: Int) -> Duration {
        start + .nanoseconds(Int64(Self.nanoseconds(to: number, framesPerSecond: framesPerSecond)))
    }

    /// Whole nanoseconds from the start to tick `number`.
    static func nanoseconds(to number: Int, framesPerSecond: Double) -> Double {
        (Double(number) * 1e9 / framesPerSecond).rounded()
    }

    /// The tick to run after `number`: the next one, or where that is long past, the newest that is due at `now`.
    func tick(after number: Int, now: Duration) -> Int {
        max(number + 1, newest(at: now))
    }

    /// The tick to run after `number` where those that are due by `now` are left out.
    func tick(after number: Int, dueFrom now: Duration) -> Int {
        let newest = newest(at: now)
        return max(number + 1, deadline(newest) < now ? newest + 1 : newest)
    }

    /// The newest tick that is due at `now`, but none before `number`.
    func newest(from number: Int, now: Duration) -> Int { max(number, newest(at: now)) }

    private func newest(at now: Duration) -> Int {
        let (seconds, attoseconds) = (now - start).components
        let elapsed = Double(seconds) + Double(attoseconds) * 1e-18
        return Int((elapsed * framesPerSecond).rounded(.down))
    }
}

/// This process's number.
func currentProcessID() -> Int32 { getpid() }
