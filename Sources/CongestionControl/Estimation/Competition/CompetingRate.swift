internal import Glibc
internal import RTCShareWireFormat

/// What a TCP flow would send, beside others that fill the queue whatever the delay: a rate that gives way to delay
/// would be left with nothing.
///
/// Such a queue is one that stays although this side has cut its rate. As long as it does, the rate is that of a window as
/// TCP's CUBIC has it, which loss alone lowers. At a loss, every few seconds, the rate is cut further for a moment: a
/// queue that goes away by that was this side's own, and the delay is what counts again.
///
/// Source: none in libwebrtc; the window is that of RFC 9438 4.2, 4.6; the changing of modes follows Copa (Arun,
/// Balakrishnan, NSDI 2018, 2.2).
struct CompetingRate: Sendable {
    /// A queue that was never shorter than this...
    static let standingDelay = Duration.milliseconds(40)
    /// ...for this long, is one that stays.
    static let standingTime = Duration.seconds(4)
    /// Cuts meanwhile, without which it may be this side's own.
    static let cuts = 2
    /// Nor is it one that others fill, where nothing was lost for this long.
    private static let lossTime = Duration.seconds(10)
    /// A queue shorter than this is none.
    private static let emptyDelay = Duration.milliseconds(15)
    private static let emptyTime = Duration.milliseconds(500)
    private static let testInterval = Duration.seconds(8)
    /// Who comes back within this time has never been away.
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

    /// Bytes a round trip; nil while no other is taken to compete.
    private(set) var window: Double?
    private var peak = 0.0
    private var epoch = Instant(nanoseconds: 0)
    private var roundTrip = 0.2
    private var lastCut: Instant?
    private var lastLoss: Instant?
    /// The newest cuts, as many as are asked for.
    private(set) var cutTimes: [Instant] = []
    private var test: Test?
    private var lastTest = Instant(nanoseconds: 0)

    /// Grows where the others were taken to be gone and were not.
    private var doubt = 1
    private var lastEnd: Instant?

    /// Whether others are taken to compete.
    var isActive: Bool { window != nil }

    /// What a TCP flow would send; nil while none is taken to compete.
    var rate: DataRate? {
        guard let window else { return nil }
        let share = test == nil ? 1 : Self.testShare
        return DataRate(kilobits: window * 8 / 1000 / roundTrip * share)
    }

    /// Takes note of a cut of the delay-based estimate.
    mutating func didCut(now: Instant) {
        cutTimes.append(now)
        cutTimes.removeAll { now - $0 > .seconds(5) }
        if cutTimes.count > Self.cuts { cutTimes.removeFirst() }
    }

    /// Takes one feedback.
    mutating func receive(
        _ results: [TransportFeedbackTracker.PacketResult], roundTrip: Duration, acknowledged: DataRate?,
        queueing: QueueingDelay, now: Instant
    ) {
        self.roundTrip += 0.2 * (max(roundTrip.seconds, 0.01) - self.roundTrip)
        if results.contains(where: { $0.arrival == nil }) { lastLoss = now }
        guard let acknowledged else { return }
        guard window != nil else {
            // A path that became longer has a delay that stays, too; who fills queues makes them overflow.
            guard cutTimes.count >= Self.cuts, lastLoss.map({ now - $0 < Self.lossTime }) ?? false,
                let lowest = queueing.lowest(since: now.advanced(by: .zero - Self.standingTime)),
                lowest > Self.standingDelay
            else { return }
            begin(Double(acknowledged.bitsPerSecond) / 8 * self.roundTrip, now: now)
            return
        }
        follow(results, queueing: queueing, now: now)
        guard let window else { return }
        // No further than was tried out.
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
