public import WireFormat

/// Spreads packets over time, so that no frame leaves as one burst.
///
/// A leaky bucket over whatever stands for a packet: it holds descriptors, never bytes, and needs only their sizes.
/// Packets leave in groups of at most ``Configuration/burstDuration`` and ``Configuration/burstPackets``, after which
/// the bucket drains empty before the next group: in any time `t` no more leaves than the pacing rate carries in `t`
/// and one group (or one packet, where a packet is larger than a group may be). One timer serves a group.
///
/// The pacing rate is the target times ``Configuration/pacingFactor``, and raised as far as it takes for every packet
/// to leave within ``Configuration/maximumQueueTime`` of being queued: a key frame that is large for its rate goes out
/// above the rate instead of holding up the picture for seconds. The raised rate holds until the queue is empty. Only
/// packets of a higher priority that are queued later can make one wait longer, by the time that they take.
///
/// Sound never waits. It is small and regular, and what it uses is taken from what the others may send next.
///
/// What runs for every packet is inlined into the caller's module, as in ``RetransmissionHistory``.
public struct Pacer<Packet: Sendable>: Sendable {
    /// Who goes first, in falling order.
    public enum Priority: Int, Sendable, CaseIterable {
        /// Sound: leaves at once.
        case sound
        /// What a receiver is waiting for already.
        case retransmission
        /// First transmissions of video.
        case video
        /// Padding and probes: only when nothing else waits.
        case padding
    }

    /// The constants of the bucket.
    public struct Configuration: Hashable, Sendable {
        /// Pacing rate over target rate. More than 1, for frames differ in size and the queue is to empty between two.
        public var pacingFactor = 2.5
        /// The pacing rate is never lower than this, in order that the first frames of a call get out.
        public var minimumPacingRate = DataRate.kilobitsPerSecond(300)
        /// The longest group, in time at the pacing rate.
        public var burstDuration = Duration.milliseconds(5)
        /// The most packets of a group.
        public var burstPackets = 16
        /// The queue is full when what waits takes longer than this at the target rate. It is a screen that is shown: what
        /// is half a second old already is better left out, before it is encoded, than sent late.
        public var fullQueueTime = Duration.milliseconds(500)
        /// A full queue is so until what waits takes less than this.
        public var resumeQueueTime = Duration.milliseconds(250)
        /// How long a packet may wait before the rate is raised for it.
        public var maximumQueueTime = Duration.milliseconds(500)

        /// The values that suit video of a screen.
        public init() {}
    }

    @usableFromInline
    struct Entry: Sendable {
        @usableFromInline var packet: Packet
        @usableFromInline var size: Int
        @usableFromInline var queued: Instant

        @inlinable
        init(packet: Packet, size: Int, queued: Instant) {
            self.packet = packet
            self.size = size
            self.queued = queued
        }
    }

    /// The rate that the sources are told to keep to.
    public private(set) var targetRate: DataRate
    /// Whether more waits than ``Configuration/fullQueueTime`` allows, and has not yet fallen to
    /// ``Configuration/resumeQueueTime``: whole frames are to be dropped before they are encoded. What is queued
    /// nevertheless is sent.
    public private(set) var isQueueFull = false
    /// Bytes that wait.
    @inlinable public var queuedBytes: Int { waiting.bytes }
    /// Packets that wait.
    @inlinable public var queuedPackets: Int { waiting.packets }
    /// How long all packets together have waited (`totalPacketSendDelay` of W3C webrtc-stats).
    public var totalPacketSendDelay: Duration { .nanoseconds(sendDelay) }
    /// Packets that ``removeAll()`` threw away.
    public private(set) var packetsDiscarded = 0

    private let configuration: Configuration
    @usableFromInline var waiting = (bytes: 0, packets: 0)
    /// In nanoseconds.
    @usableFromInline var sendDelay: Int64 = 0
    @usableFromInline var sound = RingQueue<Entry>()
    @usableFromInline var retransmissions = RingQueue<Entry>(minimumCapacity: 64)
    @usableFromInline var video = RingQueue<Entry>(minimumCapacity: 512)
    @usableFromInline var padding = RingQueue<Entry>()
    @usableFromInline var drainRate = DataRate.zero
    /// What has left and not drained, in bits times 10⁹, so that draining is exact in whole nanoseconds.
    @usableFromInline var level: Int64 = 0
    private var levelTaken: Instant?
    @usableFromInline var groupPackets = 0
    /// A group is complete: nothing but sound leaves before the bucket is empty.
    @usableFromInline var isHolding = false

    /// An empty pacer.
    public init(targetRate: DataRate, configuration: Configuration = Configuration()) {
        self.targetRate = targetRate
        self.configuration = configuration
    }

    /// The rate at which packets leave now.
    public var pacingRate: DataRate {
        max(targetRate * configuration.pacingFactor, max(configuration.minimumPacingRate, drainRate))
    }

    /// How long what waits takes to leave at the present rate.
    public var queueDuration: Duration {
        queuedBytes == 0 ? .zero : pacingRate.duration(ofBytes: queuedBytes)
    }

    /// How long the packet that waits longest has waited; zero where none waits.
    public func oldestQueueTime(now: Instant) -> Duration {
        var oldest = now
        for entry in [sound.first, retransmissions.first, video.first, padding.first] {
            if let entry, entry.queued < oldest { oldest = entry.queued }
        }
        return now - oldest
    }

    /// Sets the rate that pacing goes by. What has left already drains at the old rate until `now`.
    public mutating func setTargetRate(_ rate: DataRate, now: Instant) {
        drain(now: now)
        targetRate = rate
        updateFullness()
    }

    /// Queues a packet of `size` bytes as the last of its priority.
    @inlinable
    public mutating func enqueue(_ packet: Packet, size: Int, priority: Priority, now: Instant) {
        drain(now: now)
        let entry = Entry(packet: packet, size: max(0, size), queued: now)
        switch priority {
        case .sound: sound.append(entry)
        case .retransmission: retransmissions.append(entry)
        case .video: video.append(entry)
        case .padding: padding.append(entry)
        }
        waiting.bytes += entry.size
        waiting.packets += 1
        // With the highest of these rates held until nothing waits, what is ahead of this packet and the packet itself
        // are gone in time.
        raiseDrainRate()
        updateFullness()
    }

    @usableFromInline
    mutating func updateFullness() {
        let limit = isQueueFull ? configuration.resumeQueueTime : configuration.fullQueueTime
        isQueueFull = queuedBytes > targetRate.bytes(in: limit)
    }

    @usableFromInline
    mutating func raiseDrainRate() {
        drainRate = max(drainRate, DataRate(byteCount: queuedBytes, over: configuration.maximumQueueTime))
    }

    /// The next packet that may leave, or nil; call until nil.
    @inlinable
    public mutating func pop(now: Instant) -> Packet? {
        drain(now: now)
        if let entry = sound.popFirst() { return take(entry, now: now) }
        guard let next = retransmissions.first ?? video.first ?? padding.first, !isHolding else { return nil }
        guard level == 0 || fitsGroup(next.size) else {
            isHolding = true
            return nil
        }
        groupPackets += 1
        let entry = retransmissions.popFirst() ?? video.popFirst() ?? padding.popFirst()
        return entry.map { take($0, now: now) }
    }

    /// When ``pop(now:)`` is next worth calling; nil while nothing waits.
    public func nextDeadline(now: Instant) -> Instant? {
        guard queuedPackets > 0 else { return nil }
        guard sound.isEmpty, let levelTaken, level > 0 else { return now }
        if !isHolding, let next = retransmissions.first ?? video.first ?? padding.first, fitsGroup(next.size) {
            return now
        }
        let rate = max(1, pacingRate.bitsPerSecond)
        let wait = level / rate + (level % rate > 0 ? 1 : 0)
        return max(now, levelTaken.advanced(by: .nanoseconds(wait)))
    }

    /// Throws away all that waits, and counts it.
    public mutating func removeAll() {
        packetsDiscarded += queuedPackets
        sound.removeAll()
        retransmissions.removeAll()
        video.removeAll()
        padding.removeAll()
        waiting = (0, 0)
        drainRate = .zero
        isQueueFull = false
    }

    @usableFromInline
    func fitsGroup(_ size: Int) -> Bool {
        groupPackets < configuration.burstPackets
            && Self.weight(size) <= Self.weight(pacingRate.bytes(in: configuration.burstDuration)) - level
    }

    @inlinable
    mutating func take(_ entry: Entry, now: Instant) -> Packet {
        let (sum, overflow) = level.addingReportingOverflow(Self.weight(entry.size))
        level = overflow ? .max : sum
        waiting.bytes -= entry.size
        waiting.packets -= 1
        sendDelay += now.nanoseconds - entry.queued.nanoseconds
        if queuedPackets == 0 { drainRate = .zero }
        if isQueueFull { updateFullness() }
        return entry.packet
    }

    @usableFromInline
    mutating func drain(now: Instant) {
        defer { levelTaken = max(now, levelTaken ?? now) }
        guard level > 0, let levelTaken, now > levelTaken else { return }
        let elapsed = now.nanoseconds - levelTaken.nanoseconds
        let (drained, overflow) = elapsed.multipliedReportingOverflow(by: pacingRate.bitsPerSecond)
        level = overflow ? 0 : max(0, level - drained)
        if level == 0 {
            groupPackets = 0
            isHolding = false
        }
    }

    @inlinable
    static func weight(_ size: Int) -> Int64 {
        Int64(min(size, 1 << 26)) * 8_000_000_000
    }
}
