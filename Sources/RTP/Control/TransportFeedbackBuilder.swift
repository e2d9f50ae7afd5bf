package import RTCShareWireFormat

/// Creates a receiver's transport-wide feedback from the arrivals since the previous feedback
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01 §3.1).
///
/// Numbers between the last reported one and the first new arrival are reported as not received, so that a loss at the
/// border of two feedback packets is visible.
package struct TransportFeedbackBuilder: Sendable {
    /// The arrival of a packet.
    package struct Arrival: Hashable, Sendable {
        /// The packet's number.
        package let sequenceNumber: TransportSequenceNumber
        /// The time of the arrival.
        package let instant: Instant

        package init(sequenceNumber: TransportSequenceNumber, instant: Instant) {
            self.sequenceNumber = sequenceNumber
            self.instant = instant
        }
    }

    private let sender: SynchronizationSource
    private let maximumByteCount: Int
    private var unwrapper = SerialNumberUnwrapper<TransportSequenceNumber>()
    private var nextUnreported: Int64?
    /// The arrival times of the newest numbers in units of 250 microseconds, keyed by unwrapped number.
    private var reported: [Int64: Int64] = [:]
    private var feedbackPacketCount: UInt8 = 0

    /// Creates a builder of packets of at most `maximumByteCount` bytes, or 64 if that is more.
    package init(sender: SynchronizationSource, maximumByteCount: Int = 1000) {
        self.sender = sender
        self.maximumByteCount = max(64, maximumByteCount)
    }

    /// Returns the feedback for `arrivals`, in any order, about the transport of the stream `media`. Sizes, gaps and
    /// time differences determine the number of packets; there are none without new arrivals. Only the first arrival of
    /// a number counts.
    ///
    /// A packet that arrived late is reported together with all packets that arrived after it, so that no packet is
    /// reported as lost after it was reported as received.
    package mutating func makeFeedback(for arrivals: [Arrival], media: SynchronizationSource) -> [TransportFeedback] {
        var ticks: [Int64: Int64] = [:]
        for arrival in arrivals {
            let number = unwrapper.unwrap(arrival.sequenceNumber)
            if ticks[number] == nil, reported[number] == nil { ticks[number] = Self.ticks(arrival.instant) }
        }
        let news = ticks
        if let first = ticks.keys.min(), let nextUnreported, first < nextUnreported {
            ticks.merge(reported.filter { $0.key > first }) { new, _ in new }
        }
        defer { remember(news) }
        var packets: [TransportFeedback] = []
        var current: Draft?
        for (number, tick) in ticks.sorted(by: { $0.key < $1.key }) {
            if current?.append(number, at: tick, maximumByteCount: maximumByteCount) == true { continue }
            if let full = current { packets.append(finish(full, media)) }
            current = Draft(base: base(for: number), number: number, tick: tick)
        }
        if let last = current { packets.append(finish(last, media)) }
        return packets
    }

    /// Returns the first number to report in a packet whose first arrival is `number`.
    private func base(for number: Int64) -> Int64 {
        guard let nextUnreported, nextUnreported < number, number - nextUnreported < Int64(Self.maximumStatusCount)
        else {
            return number
        }
        return nextUnreported
    }

    /// The maximum number of packets, including lost ones, that one feedback packet reports. A longer gap is a restart
    /// instead of a loss, and its report would waste bytes. The limit also matters because the sender determines the
    /// numbers, and with them the cost of a report.
    static let maximumStatusCount = 2048

    private mutating func remember(_ news: [Int64: Int64]) {
        reported.merge(news) { old, _ in old }
        guard reported.count > 2 * Self.memory, let nextUnreported else { return }
        reported = reported.filter { $0.key >= nextUnreported - Int64(Self.memory) }
    }

    /// The minimum number of past packets whose arrivals are stored: some seconds of a fast stream.
    private static let memory = 2048

    private mutating func finish(_ draft: Draft, _ media: SynchronizationSource) -> TransportFeedback {
        nextUnreported = max(nextUnreported ?? .min, draft.base + Int64(draft.feedback.deltas.count))
        var feedback = draft.feedback
        feedback.sender = sender
        feedback.media = media
        feedback.feedbackPacketCount = feedbackPacketCount
        feedbackPacketCount &+= 1
        return feedback
    }

    /// Returns the instant in units of 250 microseconds, rounded down, so that sums of differences do not drift.
    private static func ticks(_ instant: Instant) -> Int64 {
        let (quotient, rest) = instant.nanoseconds.quotientAndRemainder(dividingBy: 250_000)
        return rest < 0 ? quotient - 1 : quotient
    }
}

/// A feedback packet that is being filled.
private struct Draft {
    let base: Int64
    var feedback: TransportFeedback
    private var lastTick: Int64
    private var deltaByteCount: Int

    init(base: Int64, number: Int64, tick: Int64) {
        self.base = base
        let reference = tick >> 8
        let delta = Int16(tick - reference * TransportFeedback.ticksPerReference)
        var deltas = [Int16?](repeating: nil, count: Int(number - base))
        deltas.append(delta)
        feedback = TransportFeedback(
            sender: SynchronizationSource(0), media: SynchronizationSource(0),
            baseSequenceNumber: TransportSequenceNumber(UInt16(truncatingIfNeeded: base)),
            // The clock wraps within 24 bits. The sign is extended in the same way as in a parser.
            referenceTime: (Int32(truncatingIfNeeded: reference) << 8) >> 8, feedbackPacketCount: 0, deltas: deltas)
        lastTick = tick
        deltaByteCount = TransportFeedback.byteCount(of: delta)
    }

    /// Whether the arrival was added. It needs a new packet if the gap, the time since the last arrival or the size is
    /// too large.
    mutating func append(_ number: Int64, at tick: Int64, maximumByteCount: Int) -> Bool {
        let gap = Int(number - base) - feedback.deltas.count
        let count = feedback.deltas.count + gap + 1
        guard count <= TransportFeedbackBuilder.maximumStatusCount, let delta = Int16(exactly: tick - lastTick) else {
            return false
        }
        let deltaBytes = deltaByteCount + TransportFeedback.byteCount(of: delta)
        feedback.deltas.append(contentsOf: repeatElement(nil, count: gap))
        feedback.deltas.append(delta)
        // The upper bound of the size, which is cheap. The exact size is computed only if the bound is too large.
        let bound = 20 + (count + 6) / 7 * 2 + deltaBytes + 3
        if bound > maximumByteCount, feedback.byteCount > maximumByteCount {
            feedback.deltas.removeLast(gap + 1)
            return false
        }
        deltaByteCount = deltaBytes
        lastTick = tick
        return true
    }
}
