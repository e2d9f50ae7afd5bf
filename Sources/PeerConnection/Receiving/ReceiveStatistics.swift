package import RTCShareRTP
package import RTCShareWireFormat

/// A receiver's statistics of one source for its reports (RFC 3550 §A.1, §A.3, §A.8).
package struct ReceiveStatistics: Sendable {
    /// The validity of a packet according to its sequence number (§A.1).
    package enum Validity: Hashable, Sendable {
        /// The packet belongs to the stream.
        case valid
        /// The packet is the first one with restarted numbers, which are unrelated to the earlier ones.
        case restarted
        /// The source has not sent enough packets in sequence yet.
        case probation
        /// The number is far from the current one. The packet must not be used.
        case implausible
    }

    /// The maximum distance of a number ahead of the newest one.
    package static var maximumDropout: Int { 3000 }
    private static let cycle: UInt32 = 1 << 16

    /// The number of valid packets, including duplicates.
    package private(set) var packetsReceived = 0
    /// The number of packets that no statistics include: on probation or implausible.
    package private(set) var packetsInvalid = 0

    private let clockRate: Int
    private let maximumMisorder: Int
    private let minimumSequential: Int
    private var probation: Int
    private var baseNumber: UInt32?
    private var newest = SequenceNumber(0)
    private var cycles: UInt32 = 0
    private var badNumber: SequenceNumber?
    private var lastOfProbation: SequenceNumber?
    private var received = 0
    private var expectedPrior = 0
    private var receivedPrior = 0
    private var transit: UInt32?
    /// The jitter in 1/16 ticks, as in §A.8.
    private var scaledJitter: UInt32 = 0
    private var lastSenderReport: (middle: NTPShortTime, arrival: Instant)?

    /// Creates statistics of a source whose clock rate is `clockRate` Hz. It becomes valid after `minimumSequential`
    /// packets in sequence: 2 in RFC 3550; 1 for signaled and authenticated sources, whose first packet counts. A
    /// packet can be up to `maximumMisorder` behind the newest: more than RFC 3550's 100 if retransmissions have their
    /// original number.
    package init(clockRate: Int, minimumSequential: Int = 2, maximumMisorder: Int = 100) {
        self.maximumMisorder = maximumMisorder
        self.clockRate = max(1, clockRate)
        self.minimumSequential = max(1, minimumSequential)
        probation = self.minimumSequential
    }

    /// Records a packet that arrived at `now`. A known retransmission does not change the jitter.
    package mutating func receive(
        _ number: SequenceNumber, timestamp: RTPTimestamp, now: Instant, isRetransmission: Bool = false
    ) -> Validity {
        let validity = update(number)
        guard validity == .valid || validity == .restarted else {
            packetsInvalid += 1
            return validity
        }
        packetsReceived += 1
        if !isRetransmission { updateJitter(timestamp: timestamp, now: now) }
        return validity
    }

    /// Records a sender report of this source.
    package mutating func receive(_ report: SenderReport, now: Instant) {
        lastSenderReport = (report.ntpTimestamp.middle32, now)
    }

    /// The highest number received, with its wraps in the high half; zero before the first packet.
    package var extendedHighestSequenceNumber: UInt32 {
        baseNumber == nil ? 0 : cycles &+ UInt32(newest.rawValue)
    }

    /// The number of packets from the first to the newest one, received or not.
    package var packetsExpected: Int {
        guard let baseNumber else { return 0 }
        return Int(extendedHighestSequenceNumber &- baseNumber) + 1
    }

    /// The number of packets expected but not received; negative if duplicates outnumber them (§A.3).
    package var packetsLost: Int { packetsExpected - received }

    /// The interarrival jitter in ticks (§A.8).
    package var jitterTicks: UInt32 { scaledJitter >> 4 }

    /// The interarrival jitter.
    package var jitter: Duration {
        .nanoseconds(Int64(scaledJitter >> 4) * 1_000_000_000 / Int64(clockRate))
    }

    /// Returns the report block on `source`, and starts the next interval of the fraction lost.
    package mutating func reportBlock(on source: SynchronizationSource, now: Instant) -> ReportBlock {
        let expectedInterval = packetsExpected - expectedPrior
        let lostInterval = expectedInterval - (received - receivedPrior)
        expectedPrior = packetsExpected
        receivedPrior = received
        let fraction = expectedInterval <= 0 || lostInterval <= 0 ? 0 : min(255, (lostInterval << 8) / expectedInterval)
        let delay = lastSenderReport.map { NTPShortTime(now - $0.arrival) }
        return ReportBlock(
            source: source, fractionLost: UInt8(fraction),
            cumulativeLost: Int32(max(-0x80_0000, min(0x7F_FFFF, packetsLost))),
            extendedHighestSequenceNumber: extendedHighestSequenceNumber, jitter: jitterTicks,
            lastSenderReport: lastSenderReport?.middle ?? NTPShortTime(0),
            delaySinceLastSenderReport: delay ?? NTPShortTime(0))
    }

    private mutating func update(_ number: SequenceNumber) -> Validity {
        guard baseNumber != nil else { return updateProbation(number) }
        let step = Int(number.rawValue &- newest.rawValue)
        if step < Self.maximumDropout {
            if number.rawValue < newest.rawValue { cycles &+= Self.cycle }
            newest = number
        } else if step <= 0x10000 - maximumMisorder {
            // Two packets in sequence far from the current number mean that the sender has restarted.
            guard number == badNumber else {
                badNumber = number.next
                return .implausible
            }
            restart(at: number)
            received = 1
            return .restarted
        }
        received += 1
        return .valid
    }

    private mutating func updateProbation(_ number: SequenceNumber) -> Validity {
        let isNext = lastOfProbation.map { $0.next == number } ?? true
        lastOfProbation = number
        // A gap restarts the count, with this packet as its first.
        probation = (isNext ? probation : minimumSequential) - 1
        guard probation <= 0 else { return .probation }
        restart(at: number)
        received = 1
        return .valid
    }

    private mutating func restart(at number: SequenceNumber) {
        baseNumber = UInt32(number.rawValue)
        newest = number
        cycles = 0
        badNumber = nil
        expectedPrior = 0
        receivedPrior = 0
        transit = nil
    }

    private mutating func updateJitter(timestamp: RTPTimestamp, now: Instant) {
        let (seconds, rest) = now.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let ticks = seconds &* Int64(clockRate) &+ rest &* Int64(clockRate) / 1_000_000_000
        let newTransit = UInt32(truncatingIfNeeded: ticks) &- timestamp.rawValue
        defer { transit = newTransit }
        guard let transit else { return }
        let difference = Int32(bitPattern: newTransit &- transit).magnitude
        // J += (|D| - J) / 16, rounded, in sixteenths: the optimized form of §A.8.
        scaledJitter = scaledJitter &- (scaledJitter &+ 8) >> 4 &+ difference
    }
}
