package import RTCShareWireFormat

/// Makes a receiver's transport-wide feedback out of the arrivals since the feedback before
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01 §3.1).
///
/// Numbers between the last one reported and the first new arrival are reported as not received, so that a loss on the
/// border of two feedback packets is seen.
package struct TransportFeedbackBuilder: Sendable {
    /// A packet that arrived.
    package struct Arrival: Hashable, Sendable {
        /// Its number.
        package let sequenceNumber: TransportSequenceNumber
        /// When it arrived.
        package let instant: Instant

        /// The arrival of a packet.
        package init(sequenceNumber: TransportSequenceNumber, instant: Instant) {
            self.sequenceNumber = sequenceNumber
            self.instant = instant
        }
    }

    private let sender: SynchronizationSource
    private let maximumByteCount: Int
    private var unwrapper = SerialNumberUnwrapper<TransportSequenceNumber>()
    private var nextUnreported: Int64?
    /// When the newest numbers arrived, in 250 microseconds, by their unwrapped number.
    private var reported: [Int64: Int64] = [:]
    private var feedbackPacketCount: UInt8 = 0

    /// A builder of packets of at most `maximumByteCount` bytes, held to 64 at least.
    package init(sender: SynchronizationSource, maximumByteCount: Int = 1000) {
        self.sender = sender
        self.maximumByteCount = max(64, maximumByteCount)
    }

    /// The feedback for `arrivals`, in any order, about the transport of which `media` is a stream; as many packets as
    /// sizes, gaps and time differences ask for, none without news. A number counts once, when it first arrived.
    ///
    /// A packet that arrived late is reported together with all that arrived after it, so that nothing is ever reported
    /// as lost that was reported as received before.
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

    /// The first number to report in a packet whose first arrival is `number`.
    private func base(for number: Int64) -> Int64 {
        guard let nextUnreported, nextUnreported < number, number - nextUnreported < Int64(Self.maximumStatusCount)
        else {
            return number
        }
        return nextUnreported
    }

    /// The packets that one feedback packet tells of, lost ones included. A longer gap is a restart rather than a loss and
    /// says nothing worth its bytes; and the sender, whose numbers they are, decides with each what it costs to tell them.
    static let maximumStatusCount = 2048

    private mutating func remember(_ news: [Int64: Int64]) {
        reported.merge(news) { old, _ in old }
        guard reported.count > 2 * Self.memory, let nextUnreported else { return }
        reported = reported.filter { $0.key >= nextUnreported - Int64(Self.memory) }
    }

    /// How many numbers back an arrival is remembered at least: some seconds of a fast stream.
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

    /// The instant in 250 microseconds, rounded down, so that differences add up without drift.
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
            // The clock wraps within 24 bits; the sign is spread as a parser would.
            referenceTime: (Int32(truncatingIfNeeded: reference) << 8) >> 8, feedbackPacketCount: 0, deltas: deltas)
        lastTick = tick
        deltaByteCount = TransportFeedback.byteCount(of: delta)
    }

    /// False where the arrival belongs into a new packet: the gap, the time since the last one or the size is too much.
    mutating func append(_ number: Int64, at tick: Int64, maximumByteCount: Int) -> Bool {
        let gap = Int(number - base) - feedback.deltas.count
        let count = feedback.deltas.count + gap + 1
        guard count <= TransportFeedbackBuilder.maximumStatusCount, let delta = Int16(exactly: tick - lastTick) else {
            return false
        }
        let deltaBytes = deltaByteCount + TransportFeedback.byteCount(of: delta)
        feedback.deltas.append(contentsOf: repeatElement(nil, count: gap))
        feedback.deltas.append(delta)
        // No more chunks than this are ever needed: the true number is counted only where this is too many.
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
