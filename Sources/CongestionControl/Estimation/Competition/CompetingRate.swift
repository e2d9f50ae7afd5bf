internal import Glibc
internal import RTCShareWireFormat

/// The rate of a TCP flow, for a path on which other flows fill the queue whatever the delay. A rate that depends on
/// delay would fall to almost zero.
///
/// Such a queue stays although this side has reduced its rate. While it stays, the rate is that of a window like that
/// of TCP's CUBIC, which only loss reduces. At a loss, every few seconds, the rate is reduced further for a moment. If
/// the queue disappears then, it was this side's own, and the delay determines the rate again.
///
/// Source: none in libwebrtc. The window is that of RFC 9438 4.2, 4.6. The change of modes is similar to Copa (Arun,
/// Balakrishnan, NSDI 2018, 2.2).
struct CompetingRate: Sendable {
    /// The minimum delay of a queue that stays...
    static let standingDelay = Duration.milliseconds(40)
    /// ...for this time.
    static let standingTime = Duration.seconds(4)
    /// The number of reductions during that time. With fewer, the queue may be this side's own.
    static let cuts = 2
    /// The time without loss after which others do not fill the queue.
    private static let lossTime = Duration.seconds(10)
    /// The delay below which the queue is empty.
    private static let emptyDelay = Duration.milliseconds(15)
    private static let emptyTime = Duration.milliseconds(500)
    private static let testInterval = Duration.seconds(8)
    /// The time within which flows that come back were never away.
    private static let relapseTime = Duration.seconds(15)
    private static let mostDoubt = 8
    private static let testTime = Duration.milliseconds(600)
    private static let testShare = 0.25
    private static let backoffFactor = 0.7
    private static let growth = 0.4
    private static let segment = 1200.0

    private struct Test: Sendable {
        let end: Instant
        let delay: Duration
    }

    /// The window in bytes; nil while no flow competes.
    private(set) var window: Double?
    private var peak = 0.0
    private var epoch = Instant(nanoseconds: 0)
    private var roundTrip = 0.2
    private var lastCut: Instant?
    private var lastLoss: Instant?
    /// The times of the latest reductions, as many as required.
    private(set) var cutTimes: [Instant] = []
    private var test: Test?
    private var lastTest = Instant(nanoseconds: 0)

    /// A factor that grows when competing flows were assumed to be gone and were not.
    private var doubt = 1
    private var lastEnd: Instant?

    /// Whether flows compete.
    var isActive: Bool { window != nil }

    /// The rate of a TCP flow; nil while no flow competes.
    var rate: DataRate? {
        guard let window else { return nil }
        let share = test == nil ? 1 : Self.testShare
        return DataRate(kilobits: window * 8 / 1000 / roundTrip * share)
    }

    /// Records a reduction of the delay-based estimate.
    mutating func didCut(now: Instant) {
        cutTimes.append(now)
        cutTimes.removeAll { now - $0 > .seconds(5) }
        if cutTimes.count > Self.cuts { cutTimes.removeFirst() }
    }

    /// Processes one feedback.
    mutating func receive(
        _ results: [TransportFeedbackTracker.PacketResult], roundTrip: Duration, acknowledged: DataRate?,
        queueing: QueueingDelay, now: Instant
    ) {
        self.roundTrip += 0.2 * (max(roundTrip.seconds, 0.01) - self.roundTrip)
        if results.contains(where: { $0.arrival == nil }) { lastLoss = now }
        guard let acknowledged else { return }
        guard window != nil else {
            // A longer path also has a delay that stays, but flows that fill the queue make it overflow.
            guard cutTimes.count >= Self.cuts, lastLoss.map({ now - $0 < Self.lossTime }) ?? false,
                let lowest = queueing.lowest(since: now.advanced(by: .zero - Self.standingTime)),
                lowest > Self.standingDelay
            else { return }
            begin(Double(acknowledged.bitsPerSecond) / 8 * self.roundTrip, now: now)
            return
        }
        follow(results, queueing: queueing, now: now)
        guard let window else { return }
        // The rate does not exceed what was tested.
        let limit = (1.5 * Double(acknowledged.bitsPerSecond) / 8 + 1250) * self.roundTrip
        if window < limit, test == nil {
            self.window = min(max(window, grown(now: now)), limit)
        } else if test == nil {
            epoch = now
            peak = window
        }
    }

    private mutating func begin(_ bytes: Double, now: Instant) {
        window = max(bytes, 2 * Self.segment)
        peak = window ?? 0
        epoch = now
        lastCut = now
        lastTest = now
        doubt = lastEnd.map { now - $0 < Self.relapseTime } ?? false ? min(2 * doubt, Self.mostDoubt) : 1
        test = nil
    }

    private mutating func follow(
        _ results: [TransportFeedbackTracker.PacketResult], queueing: QueueingDelay, now: Instant
    ) {
        if let highest = queueing.highest(since: now.advanced(by: .zero - Self.emptyTime * doubt)),
            highest.delay < Self.emptyDelay
        {
            end(now: now)
            return
        }
        if let test, now >= test.end {
            self.test = nil
            lastTest = now
            let fall = (test.delay - (queueing.current ?? .zero)).seconds
            let expected = min((1 - Self.testShare) * Self.testTime.seconds, test.delay.seconds)
            epoch = epoch.advanced(by: Self.testTime)
            if fall > 0.75 * expected { end(now: now) }
        }
        let isLoss = results.contains { result in
            result.arrival == nil && lastCut.map { result.sent > $0 } ?? true
        }
        guard isLoss, let window, test == nil else { return }
        // RFC 9438 4.7, fast convergence.
        peak = window < peak ? window * (1 + Self.backoffFactor) / 2 : window
        self.window = max(window * Self.backoffFactor, 2 * Self.segment)
        lastCut = now
        epoch = now
        if now - lastTest > Self.testInterval * doubt, let delay = queueing.current {
            lastTest = now
            test = Test(end: now.advanced(by: Self.testTime), delay: delay)
        }
    }

    private mutating func end(now: Instant) {
        lastEnd = now
        window = nil
        test = nil
        cutTimes = []
    }

    private func grown(now: Instant) -> Double {
        let elapsed = max(0, (now - epoch).seconds)
        let peak = peak / Self.segment
        let start = cbrt(peak * (1 - Self.backoffFactor) / Self.growth)
        return Self.segment * (Self.growth * pow(elapsed - start, 3) + peak)
    }
}
