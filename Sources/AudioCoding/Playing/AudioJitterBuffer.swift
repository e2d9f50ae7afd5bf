package import RTCShareMedia

/// Orders audio packets and determines what to play at each time: a packet, a replacement for one, or silence.
///
/// It is a value without a clock: time is a parameter. Packets wait as long as the measured jitter requires, 20 ms to 1
/// s. That delay grows when a packet arrives after all for which time had run out. It grows and shrinks in pauses of
/// the sender (gaps in the timestamps but not in the sequence numbers, RFC 3551 §4.1), and by ``shorten(by:)`` and
/// ``lengthen(by:)``, with which the player reports that it played faster or slower.
///
///              packet                     no packet                     late packet,
///     waiting ────────▶ playing ◀──────────────────────────▶ underrun ── delay grows ─▶ playing
///                         │  ▲          next packet                │
///            sequence gap │  │                                     │ 500 ms
///                         ▼  │                                     ▼
///                   recover, conceal                            silence
package struct AudioJitterBuffer: Sendable {
    /// The next step of the playout.
    package enum Step: Sendable, Hashable {
        /// Wait, since nothing is due before this instant; nil before the first packet.
        case wait(until: Duration?)
        /// Decode this packet.
        case packet(payload: [UInt8], sampleCount: Int)
        /// Recover a lost packet from the repetition in the next packet, which follows in a later step.
        case recover(from: [UInt8], sampleCount: Int)
        /// Conceal this number of samples: lost audio, or the background noise of a pause.
        case conceal(sampleCount: Int)
        /// Play silence, since nothing arrived for so long that concealment would be audible.
        case silence(sampleCount: Int)
    }

    /// The delay before the jitter is known.
    package static let initialDelay: Duration = .milliseconds(40)
    /// The maximum number of packets. The oldest ones are dropped.
    package static let capacity = 512

    static let smallestTarget: Int64 = 960
    static let largestTarget: Int64 = 48_000
    static let largestConcealment: Int64 = 24_000
    /// The excess of the delay, 280 ms, above which packets are dropped immediately.
    static let largestSurplus: Int64 = 13_440
    /// The maximum excess over the target of a delay that is extended for a packet that overlaps with concealment.
    static let tolerance: Int64 = 480
    static let restartDistance: Int64 = 96_000
    /// The absence of a caller after which it skips the missed audio.
    static let longestAbsence: Int64 = 48_000
    /// The time of only late packets after which the playout adapts to them.
    static let longestLateness: Int64 = 9600
    /// The maximum age, compared with the first packet, of a packet with which the playout can start.
    static let largestOvertaking: Int64 = 9600

    struct Packet: Sendable {
        let sequenceNumber: Int64
        let timestamp: Int64
        let payload: [UInt8]
        let sampleCount: Int64
        let arrival: Int64
        let repeatsLast: Bool
    }

    /// The counts so far.
    package internal(set) var statistics = JitterBufferStatistics()

    /// The minimum delay of packets, whatever the jitter is.
    var minimumTarget: Int64 = 0
    var estimator = PacketDelayEstimator()
    /// The packets in the order of their timestamps, without duplicates.
    var packets: [Packet] = []
    var hasStream = false
    var isPlaying = false
    /// The timestamp of the next sample to play, and its time, in samples.
    var position: Int64 = 0
    var due: Int64 = 0
    /// The timestamp and the time of the last step.
    var stepTimestamp: Int64 = 0
    var stepDue: Int64 = 0
    var lastSequence: Int64?
    var lastSampleCount: Int64 = 960
    /// The range of an underrun, and its number of concealed samples: its cause is known later.
    var underrun: (position: Int64, end: Int64, concealed: Int)?
    var isLossCounted = false
    var concealedRun: Int64 = 0
    private var lateSince: Int64?
    private var highestSequence: Int64?
    private var recentSequences: UInt64 = 0

    /// Creates an empty buffer.
    package init() {}

    /// The time of the next step; nil before the first packet.
    package var nextDue: Duration? { hasStream ? Self.duration(due) : nil }

    /// The delay that the jitter requires, relative to the fastest packet.
    package var targetDelay: Duration { Self.duration(target) }

    /// The current delay of packets.
    package var currentDelay: Duration { Self.duration(delay) }

    /// The number of samples by which the delay exceeds the target; negative if it is shorter.
    package var surplus: Int { Int(delay - target) }

    var target: Int64 {
        guard estimator.base != nil else { return Self.samples(Self.initialDelay) }
        // To repair a loss, the packet after it must arrive in time.
        let last = packets.last
        let mending = last?.repeatsLast == true ? last?.sampleCount ?? 0 : 0
        return min(max(estimator.jitter + mending, Self.smallestTarget, minimumTarget), Self.largestTarget)
    }

    var delay: Int64 {
        guard hasStream, let base = estimator.base else { return 0 }
        return due - position - base
    }

    /// Stores a packet, in any order. `timestamp` is the extended RTP timestamp at 48 kHz, `sampleCount` the number of
    /// decoded samples. An invalid packet counts as discarded.
    package mutating func insert(
        sequenceNumber: Int64, timestamp: Int64, payload: [UInt8], sampleCount: Int, now: Duration
    ) {
        guard !payload.isEmpty, (1...OpusDecoder.largestSampleCount).contains(sampleCount),
            sequenceNumber.magnitude < 1 << 56, timestamp.magnitude < 1 << 56
        else {
            statistics.packetsDiscarded += 1
            return
        }
        let packet = Packet(
            sequenceNumber: sequenceNumber, timestamp: timestamp, payload: payload, sampleCount: Int64(sampleCount),
            arrival: Self.samples(now), repeatsLast: OpusPacketLayout.repeatsLastFrame(payload))
        let highest = highestSequence
        guard !isDuplicate(sequenceNumber) else { return }
        if packet.repeatsLast { statistics.fecPacketsReceived += 1 }

        let packetDelay = packet.arrival - timestamp
        if let base = estimator.base, abs(packetDelay - base) > Self.restartDistance {
            // A packet from before a restart that arrives after it does not undo the restart.
            if let highest, sequenceNumber < highest, highest - sequenceNumber < 1000 {
                statistics.packetsDiscarded += 1
                return
            }
            restart()
        }
        estimator.note(delay: packetDelay, now: packet.arrival)
        if !hasStream { begin(with: packet) }
        guard isInTime(packet) else { return }
        keep(packet)
    }

    /// Returns the next step. Call it until it returns a wait.
    package mutating func pop(now: Duration) -> Step {
        guard hasStream else { return .wait(until: nil) }
        let now = Self.samples(now)
        if now - due > Self.longestAbsence { catchUp(to: now) }
        guard now >= due else { return .wait(until: Self.duration(due)) }
        return nextStep()
    }

    /// Records that the player omitted `sampleCount` samples of the last step.
    package mutating func shorten(by sampleCount: Int) {
        guard hasStream, sampleCount > 0 else { return }
        due -= Int64(sampleCount)
        statistics.removedSamplesForAcceleration += sampleCount
    }

    /// Records that the player extended the last step by `sampleCount` samples.
    package mutating func lengthen(by sampleCount: Int) {
        guard hasStream, sampleCount > 0 else { return }
        due += Int64(sampleCount)
        statistics.insertedSamplesForDeceleration += sampleCount
    }

    private mutating func begin(with packet: Packet) {
        hasStream = true
        lateSince = nil
        let wanted = packet.arrival + max(target, isFirstStream ? Self.samples(Self.initialDelay) : 0)
        if isPlaying {
            // The playout continues without a break: until the packet is due, nothing was sent.
            position = packet.timestamp - max(0, wanted - due)
        } else {
            position = packet.timestamp
            due = wanted
        }
    }

    private var isFirstStream: Bool { statistics.totalSamplesReceived == 0 }

    /// Removes the packets of a stream that has ended.
    private mutating func restart() {
        statistics.packetsDiscarded += packets.count
        packets.removeAll(keepingCapacity: true)
        estimator.forgetBase()
        hasStream = false
        lastSequence = nil
        underrun = nil
        isLossCounted = false
    }

    /// Whether the packet can still be played. A late packet is counted, or extends the delay.
    private mutating func isInTime(_ packet: Packet) -> Bool {
        let lateness = position - packet.timestamp
        guard lateness > 0 else {
            lateSince = nil
            return true
        }
        if !isPlaying, lateness <= Self.largestOvertaking {
            // Nothing was played yet: the stream starts with this reordered packet.
            position -= lateness
            due -= lateness
            return true
        }
        // If nothing newer was played, there was a break in any case, and the audio continues after it.
        if let underrun, packet.timestamp >= underrun.position,
            delay + lateness <= Self.largestTarget
        {
            position = packet.timestamp
            statistics.insertedSamplesForDeceleration += Int(lateness)
            lateSince = nil
            return true
        }
        if let since = lateSince, packet.arrival - since > Self.longestLateness {
            restart()
            estimator.note(delay: packet.arrival - packet.timestamp, now: packet.arrival)
            begin(with: packet)
            return true
        }
        lateSince = lateSince ?? packet.arrival
        statistics.packetsDiscarded += 1
        return false
    }

    private mutating func keep(_ packet: Packet) {
        var index = packets.endIndex
        while index > 0, packets[index - 1].timestamp > packet.timestamp { index -= 1 }
        if index > 0, packets[index - 1].timestamp == packet.timestamp {
            statistics.packetsDiscarded += 1
            return
        }
        packets.insert(packet, at: index)
        if packets.count > Self.capacity {
            packets.removeFirst()
            statistics.packetsDiscarded += 1
        }
    }

    /// Whether a sequence number was received, among the last 64. An older packet is late anyway.
    private mutating func isDuplicate(_ sequenceNumber: Int64) -> Bool {
        guard let highest = highestSequence, abs(sequenceNumber - highest) < 1000 else {
            highestSequence = sequenceNumber
            recentSequences = 1
            return false
        }
        if sequenceNumber > highest {
            recentSequences = recentSequences << UInt64(sequenceNumber - highest) | 1
            highestSequence = sequenceNumber
            return false
        }
        let bit: UInt64 = 1 << UInt64(highest - sequenceNumber)
        guard recentSequences & bit == 0 else { return true }
        recentSequences |= bit
        return false
    }

    /// Returns a duration in samples at 48 kHz, rounded down.
    static func samples(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        // This limits a clock that has run for thousands of years.
        let whole = min(max(seconds, -1 << 40), 1 << 40) * 48_000
        return whole + attoseconds / 1_000_000_000 * 48_000 / 1_000_000_000
    }

    /// Returns samples at 48 kHz as a duration, rounded up to the instant at which they end.
    static func duration(_ samples: Int64) -> Duration {
        let (seconds, rest) = samples.quotientAndRemainder(dividingBy: 48_000)
        return .seconds(seconds) + .nanoseconds((rest * 1_000_000_000 + 47_999) / 48_000)
    }
}
