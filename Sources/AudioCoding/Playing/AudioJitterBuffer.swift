package import RTCShareMedia

/// Puts packets of sound in order and says, at each moment, what to play: a packet, what stands in for one, or silence.
///
/// A value without a clock: time is a parameter. Packets wait as long as the jitter seen makes necessary, 20 ms to 1 s.
/// That wait grows when a packet comes after all for which time had run out, and both grows and shrinks where the sender pauses
/// (gaps in the timestamps but not in the sequence numbers, RFC 3551 §4.1) and by ``shorten(by:)`` and
/// ``lengthen(by:)``, with which whoever plays tells by how much it sped up or slowed down.
///
///              packet                     nothing there                 packet after all,
///     waiting ────────▶ playing ◀──────────────────────────▶ underrun ── wait grows ──▶ playing
///                         │  ▲          next packet                │
///            sequence gap │  │                                     │ 500 ms
///                         ▼  │                                     ▼
///                   recover, conceal                            silence
package struct AudioJitterBuffer: Sendable {
    /// What to play next.
    package enum Step: Sendable, Hashable {
        /// Nothing is due before this instant; nil before the first packet.
        case wait(until: Duration?)
        /// Decode this packet.
        case packet(payload: [UInt8], sampleCount: Int)
        /// A packet is lost, and the one after it repeats its sound; that one comes with a later step.
        case recover(from: [UInt8], sampleCount: Int)
        /// Make up this much from what was heard: lost sound, or the background noise of a pause.
        case conceal(sampleCount: Int)
        /// Nothing came for so long that making up would be heard: silence.
        case silence(sampleCount: Int)
    }

    /// The wait before anything is known of the jitter.
    package static let initialDelay: Duration = .milliseconds(40)
    /// The most packets kept; the oldest gives way.
    package static let capacity = 512

    static let smallestTarget: Int64 = 960
    static let largestTarget: Int64 = 48_000
    static let largestConcealment: Int64 = 24_000
    /// A wait that is 280 ms too long is cut at once, by leaving out packets.
    static let largestSurplus: Int64 = 13_440
    /// A packet that reaches back into what was made up may lengthen the wait this far beyond the target.
    static let tolerance: Int64 = 480
    static let restartDistance: Int64 = 96_000
    /// A caller that was away for longer does not get to hear what it missed.
    static let longestAbsence: Int64 = 48_000
    /// If all packets have been late for this long, it is not they who are wrong.
    static let longestLateness: Int64 = 9600
    /// How much older than the first packet one may be with which playing begins after all.
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

    /// How long packets wait at least, whatever the jitter is.
    var minimumTarget: Int64 = 0
    var estimator = PacketDelayEstimator()
    /// In the order of their timestamps, none of them twice.
    var packets: [Packet] = []
    var hasStream = false
    var isPlaying = false
    /// The timestamp of the next sample to play, and when that is, in samples.
    var position: Int64 = 0
    var due: Int64 = 0
    /// The timestamp and instant of what the last step gave.
    var stepTimestamp: Int64 = 0
    var stepDue: Int64 = 0
    var lastSequence: Int64?
    var lastSampleCount: Int64 = 960
    /// From where to where nothing was there to be played, and how much was made up: it shows later what it was.
    var underrun: (position: Int64, end: Int64, concealed: Int)?
    var isLossCounted = false
    var concealedRun: Int64 = 0
    private var lateSince: Int64?
    private var highestSequence: Int64?
    private var recentSequences: UInt64 = 0

    /// An empty buffer.
    package init() {}

    /// When the next step is due; nil before the first packet.
    package var nextDue: Duration? { hasStream ? Self.duration(due) : nil }

    /// How long packets are to wait for the jitter seen, counted from when the quickest would have come.
    package var targetDelay: Duration { Self.duration(target) }

    /// How long they wait.
    package var currentDelay: Duration { Self.duration(delay) }

    /// By how many samples the wait is longer than the target; negative where it is shorter.
    package var surplus: Int { Int(delay - target) }

    var target: Int64 {
        guard estimator.base != nil else { return Self.samples(Self.initialDelay) }
        // To mend a loss the packet after it must be there in time.
        let last = packets.last
        let mending = last?.repeatsLast == true ? last?.sampleCount ?? 0 : 0
        return min(max(estimator.jitter + mending, Self.smallestTarget, minimumTarget), Self.largestTarget)
    }

    var delay: Int64 {
        guard hasStream, let base = estimator.base else { return 0 }
        return due - position - base
    }

    /// Takes a packet, in any order. `timestamp` is the extended RTP timestamp at 48 kHz, `sampleCount` what it decodes
    /// to; a nonsensical packet is counted as discarded.
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
            // One that was overtaken by the new beginning does not bring the old one back.
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

    /// What to play now. To be called again until it says to wait.
    package mutating func pop(now: Duration) -> Step {
        guard hasStream else { return .wait(until: nil) }
        let now = Self.samples(now)
        if now - due > Self.longestAbsence { catchUp(to: now) }
        guard now >= due else { return .wait(until: Self.duration(due)) }
        return nextStep()
    }

    /// Whoever plays left out `sampleCount` samples of the last step.
    package mutating func shorten(by sampleCount: Int) {
        guard hasStream, sampleCount > 0 else { return }
        due -= Int64(sampleCount)
        statistics.removedSamplesForAcceleration += sampleCount
    }

    /// Whoever plays made the last step `sampleCount` samples longer.
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
            // What is played goes on without a break: until the packet is due, nothing was sent.
            position = packet.timestamp - max(0, wanted - due)
        } else {
            position = packet.timestamp
            due = wanted
        }
    }

    private var isFirstStream: Bool { statistics.totalSamplesReceived == 0 }

    /// What was there is of a stream that is over.
    private mutating func restart() {
        statistics.packetsDiscarded += packets.count
        packets.removeAll(keepingCapacity: true)
        estimator.forgetBase()
        hasStream = false
        lastSequence = nil
        underrun = nil
        isLossCounted = false
    }

    /// Whether the packet can still be played. If it is late, that is counted, or the wait lengthened for it.
    private mutating func isInTime(_ packet: Packet) -> Bool {
        let lateness = position - packet.timestamp
        guard lateness > 0 else {
            lateSince = nil
            return true
        }
        if !isPlaying, lateness <= Self.largestOvertaking {
            // Nothing was played yet: the stream begins with this one, which was overtaken.
            position -= lateness
            due -= lateness
            return true
        }
        // Where nothing newer was played, it was a break in any case: the sound goes on where it broke off.
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

    /// Looks 64 sequence numbers back; one that is older is late anyway.
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

    /// A duration in samples at 48 kHz, rounded down.
    static func samples(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        // A clock that has run for thousands of years is no clock.
        let whole = min(max(seconds, -1 << 40), 1 << 40) * 48_000
        return whole + attoseconds / 1_000_000_000 * 48_000 / 1_000_000_000
    }

    /// Samples at 48 kHz as a duration, rounded up: at that instant they are over.
    static func duration(_ samples: Int64) -> Duration {
        let (seconds, rest) = samples.quotientAndRemainder(dividingBy: 48_000)
        return .seconds(seconds) + .nanoseconds((rest * 1_000_000_000 + 47_999) / 48_000)
    }
}
