public import RTP
public import WireFormat

/// Makes transport-wide feedback of the arrivals of a transport's packets
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01 §3).
///
/// Each feedback begins behind the last, or earlier where a packet came late: then what was reported as missing is
/// reported again as received.
public struct TransportFeedbackGenerator: Sendable {
    /// Numbers in one feedback packet: with two-byte differences throughout it still fits a datagram.
    static let maximumStatusCount = 400
    /// How far back a late packet is still reported.
    private static let historyCount = 1024
    /// The unit of arrival times.
    private static let nanosecondsPerTick: Int64 = 250_000
    private static let ticksPerReference: Int64 = 256

    private let sender: SynchronizationSource
    private let interval: Duration
    private var unwrapper = SerialNumberUnwrapper<TransportSequenceNumber>()
    private var numbers = [Int64](repeating: .min, count: historyCount)
    private var ticks = [Int64](repeating: 0, count: historyCount)
    private var media: SynchronizationSource?
    private var newest: Int64?
    private var reportedUpTo: Int64?
    private var firstUnreported: Int64?
    private var unreportedSince: Instant?
    private var feedbackPacketCount: UInt8 = 0

    /// A generator whose feedback comes from `sender`, each `interval` while packets come.
    public init(sender: SynchronizationSource, interval: Duration = .milliseconds(50)) {
        self.sender = sender
        self.interval = interval
    }

    /// Takes note of a packet of `source` with this transport-wide number.
    public mutating func receive(_ number: TransportSequenceNumber, of source: SynchronizationSource, now: Instant) {
        let number = unwrapper.unwrap(number)
        if let newest, number <= newest - Int64(Self.historyCount) { return }
        let index = Self.index(of: number)
        // The first copy is the one that tells of the path.
        guard numbers[index] != number else { return }
        numbers[index] = number
        ticks[index] = now.nanoseconds / Self.nanosecondsPerTick
        media = source
        newest = max(newest ?? number, number)
        firstUnreported = min(firstUnreported ?? number, number)
        unreportedSince = unreportedSince ?? now
    }

    /// When the next feedback is due; nil while there is nothing to report.
    public var nextDeadline: Instant? { unreportedSince.map { $0.advanced(by: interval) } }

    /// The feedback that is due: mostly one packet, several after many arrivals.
    public mutating func poll(now: Instant) -> [TransportFeedback] {
        guard let nextDeadline, nextDeadline <= now else { return [] }
        return flush()
    }

    /// What has not been reported, due or not.
    public mutating func flush() -> [TransportFeedback] {
        guard let first = firstUnreported, let newest, let media else { return [] }
        var base = max(min(first, reportedUpTo.map { $0 + 1 } ?? first), newest - Int64(Self.historyCount) + 1)
        var packets: [TransportFeedback] = []
        while base <= newest { packets.append(packet(from: &base, to: newest, media: media)) }
        reportedUpTo = newest
        firstUnreported = nil
        unreportedSince = nil
        return packets
    }

    private mutating func packet(
        from base: inout Int64, to newest: Int64, media: SynchronizationSource
    ) -> TransportFeedback {
        let start = base
        var deltas: [Int16?] = []
        var reference: Int64?
        var last: Int64 = 0
        reporting: while base <= newest, deltas.count < Self.maximumStatusCount {
            let index = Self.index(of: base)
            if numbers[index] == base {
                if reference == nil {
                    let first = Self.floorDivide(ticks[index], by: Self.ticksPerReference)
                    reference = first
                    last = first * Self.ticksPerReference
                }
                // More than eight seconds to the packet before: that takes another reference time.
                guard let delta = Int16(exactly: ticks[index] - last) else { break reporting }
                deltas.append(delta)
                last = ticks[index]
            } else {
                deltas.append(nil)
            }
            base += 1
        }
        defer { feedbackPacketCount &+= 1 }
        return TransportFeedback(
            sender: sender, media: media,
            baseSequenceNumber: TransportSequenceNumber(UInt16(truncatingIfNeeded: start)),
            referenceTime: Self.signed24(reference ?? Self.floorDivide(ticks[Self.index(of: newest)], by: Self.ticksPerReference)),
            feedbackPacketCount: feedbackPacketCount, deltas: deltas)
    }

    private static func index(of number: Int64) -> Int {
        Int(truncatingIfNeeded: number & Int64(historyCount - 1))
    }

    private static func signed24(_ value: Int64) -> Int32 {
        (Int32(truncatingIfNeeded: value) << 8) >> 8
    }

    private static func floorDivide(_ value: Int64, by divisor: Int64) -> Int64 {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
