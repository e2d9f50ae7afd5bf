public import RTCShareWireFormat

/// Spreads packets over time, so that no frame leaves as one burst.
///
/// A leaky bucket over whatever stands for a packet: it holds descriptors, never bytes, and needs only their sizes.
/// Packets leave in groups of at most ``Configuration/burstDuration`` (at low rates of at most
/// ``Configuration/leastBurst``) and ``Configuration/burstPackets``, after which the bucket drains empty before the next group: in any time `t` no more leaves than the pacing rate carries in `t`
/// and one group (or one packet, where a packet is larger than a group may be). One timer serves a group.
///
/// The pacing rate is set, or is the target times ``Configuration/pacingFactor``. It is raised as far as it takes for
/// every packet to leave within ``Configuration/maximumQueueTime`` of being queued: the last resort for whoever sends in
/// spite of ``isQueueFull``. The raised rate holds until the queue is empty. Only packets of a higher priority that are
/// queued later can make one wait longer, by the time that they take.
///
/// Sound never waits. It is small and regular, and what it uses is taken from what the others may send next.
///
/// While a probe is under way its rate takes the place of the pacing rate: media go first, and padding fills up where they
/// are too few. Padding has no packets here: ``paddingWanted(now:)`` says how much is to be sent, and whoever sends makes
/// it up on the spot.
///
/// What runs for every packet is inlined into the caller's module, as in ``RetransmissionHistory``, and nothing is answered by
/// a copy of the pacer.
public struct Pacer<Packet: Sendable>: ~Copyable, Sendable {
    /// Who goes first, in falling order.
    public enum Priority: Int, Sendable, CaseIterable {
        /// Sound: leaves at once.
        case sound
        /// What a receiver is waiting for already.
        case retransmission
        /// First transmissions of video.
        case video
    }

    /// The constants of the bucket.
    public struct Configuration: Hashable, Sendable {
        /// Pacing rate over target rate. More than 1, for frames differ in size and the queue is to empty between two.
        public var pacingFactor = 2.5
        /// The pacing rate is never lower than this, in order that the first frames of a call get out.
        public var minimumPacingRate = DataRate.kilobitsPerSecond(300)
        /// The longest group, in time at the pacing rate.
        public var burstDuration = Duration.milliseconds(5)
        /// A group may have this many bytes, two full packets, where ``burstDuration`` would hold less, as far as
        /// ``longestBurst`` allows: a packet at a time saves a path of a megabit a second nothing that it would notice, and
        /// costs the sender a wakeup for each.
        public var leastBurst = 2400
        /// The longest group that is made for the sake of ``leastBurst``, in time at the pacing rate; libwebrtc has twice
        /// that for all groups.
        public var longestBurst = Duration.milliseconds(20)
        /// The most packets of a group.
        public var burstPackets = 16
        /// The queue is full when what waits takes longer than this at the target rate, and more than ``pacingFactor`` times
        /// less at the pacing rate. It is a screen that is shown: what is half a second old already is better left out,
        /// before it is encoded, than sent late.
        public var fullQueueTime = Duration.milliseconds(500)
        /// A full queue is so until what waits takes less than this.
        public var resumeQueueTime = Duration.milliseconds(250)
        /// How long a packet may wait before the rate is raised for it.
        public var maximumQueueTime = Duration.seconds(2)
        /// A probe whose next packets are later than this is given up: it would measure the delay.
        public var latestProbe = Duration.milliseconds(10)
        /// A probe that could not begin for this long is forgotten.
        public var oldestProbe = Duration.seconds(5)

        /// The values that suit video of a screen.
        public init() {}
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
    /// Packets that ``removeAll()`` threw away.
    public private(set) var packetsDiscarded = 0

    /// Packets, with padding, that were part of probes.
    public private(set) var probePackets = 0
    /// Probes that were given up, for they came too late or could not begin.
    public private(set) var probesAbandoned = 0
    /// The probe that the packet which left last was part of; nil for none.
    @inlinable public var cluster: Int? { lastCluster }
    /// How long the packet waited that left last.
    @inlinable public var lastSendDelay: Duration { .nanoseconds(lastDelay) }
    /// Whether there is anything to make padding of.
    public var allowsPadding = false

    private struct Probe: Sendable {
        let cluster: ProbeCluster
        let started: Instant
        var next: Instant
        var packets = 0
        var bytes = 0
        var burstBytes = 0
    }

    private let configuration: Configuration
    private var setPacingRate: DataRate?
    /// The rate that padding fills up to.
    public private(set) var paddingRate = DataRate.zero
    private var probe: Probe?
    private var requested: [(cluster: ProbeCluster, at: Instant)] = []
    /// A probe is under way or waits to begin.
    @usableFromInline var hasProbes = false
    @usableFromInline var lastCluster: Int?
    /// In nanoseconds.
    @usableFromInline var lastDelay: Int64 = 0
    /// As ``level``, for the rate of padding.
    @usableFromInline var paddingLevel: Int64 = 0
    @usableFromInline var waiting = (bytes: 0, packets: 0)
    /// In nanoseconds.
    @usableFromInline var sound = RingQueue<Packet>()
    @usableFromInline var retransmissions = RingQueue<Packet>()
    @usableFromInline var video = RingQueue<Packet>()
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
        max(
            setPacingRate ?? max(targetRate * configuration.pacingFactor, configuration.minimumPacingRate), drainRate)
    }

    /// How long what waits takes to leave at the present rate.
    public var queueDuration: Duration {
        queuedBytes == 0 ? .zero : pacingRate.duration(ofBytes: queuedBytes)
    }

    /// Sets the rates: what the sources keep to, at what packets leave, nil for ``Configuration/pacingFactor`` times
    /// the target, and up to what padding fills. What has left already drains at the old rates until `now`.
    public mutating func setRates(
        target: DataRate, pacing: DataRate? = nil, padding: DataRate = .zero, now: Instant
    ) {
        drain(now: now)
        targetRate = target
        setPacingRate = pacing
        paddingRate = padding
        if padding == .zero { paddingLevel = 0 }
        updateFullness()
    }

    /// Queues a packet of `size` bytes as the last of its priority.
    @inlinable
    public mutating func enqueue(_ packet: consuming Packet, size: Int, priority: Priority, now: Instant) {
        drain(now: now)
        let stamp = RingQueue<Packet>.Stamp(size: max(0, size), queued: now)
        switch priority {
        case .sound: sound.append(packet, stamp)
        case .retransmission: retransmissions.append(packet, stamp)
        case .video: video.append(packet, stamp)
        }
        waiting.bytes += stamp.size
        waiting.packets += 1
        // With the highest of these rates held until nothing waits, what is ahead of this packet and the packet itself
        // are gone in time.
        raiseDrainRate()
        updateFullness()
    }

    @usableFromInline
    mutating func updateFullness() {
        let limit = isQueueFull ? configuration.resumeQueueTime : configuration.fullQueueTime
        let rate = max(targetRate, pacingRate * (1 / configuration.pacingFactor))
        isQueueFull = queuedBytes > rate.bytes(in: limit)
    }

    @usableFromInline
    mutating func raiseDrainRate() {
        drainRate = max(drainRate, DataRate(byteCount: queuedBytes, over: configuration.maximumQueueTime))
    }

    /// The next packet that may leave, or nil; call until nil.
    @inlinable
    public mutating func pop(now: Instant) -> Packet? {
        drain(now: now)
        lastCluster = nil
        let isProbing = hasProbes && advanceProbes(now: now)
        if let next = sound.next {
            leave(next, now: now)
            return sound.popFirst()
        }
        let isAgain = !retransmissions.isEmpty
        guard let next = isAgain ? retransmissions.next : video.next else { return nil }
        if isProbing {
            guard isProbeDue(now: now) else { return nil }
        } else {
            guard !isHolding else { return nil }
            guard level == 0 || fitsGroup(next.size) else {
                isHolding = true
                return nil
            }
            groupPackets += 1
        }
        leave(next, now: now)
        return isAgain ? retransmissions.popFirst() : video.popFirst()
    }

    /// The size of the packet that is next but for sound.
    private var nextSize: Int? { (retransmissions.next ?? video.next)?.size }

    /// When ``pop(now:)`` and ``paddingWanted(now:)`` are next worth calling; nil while there is nothing to come.
    public func nextDeadline(now: Instant) -> Instant? {
        if !sound.isEmpty { return now }
        if let probe {
            guard queuedPackets > 0 || allowsPadding else { return nil }
            return max(now, probe.next)
        }
        if !requested.isEmpty, canProbe { return now }
        guard let levelTaken else { return queuedPackets > 0 ? now : nil }
        guard queuedPackets > 0 else {
            guard allowsPadding, paddingRate > .zero else { return nil }
            let media = Self.time(toDrain: level, at: pacingRate)
            return max(now, levelTaken.advanced(by: max(media, Self.time(toDrain: paddingLevel, at: paddingRate))))
        }
        guard level > 0 else { return now }
        if !isHolding, let nextSize, fitsGroup(nextSize) { return now }
        return max(now, levelTaken.advanced(by: Self.time(toDrain: level, at: pacingRate)))
    }

    private static func time(toDrain level: Int64, at rate: DataRate) -> Duration {
        let rate = max(1, rate.bitsPerSecond)
        return .nanoseconds(level / rate + (level % rate > 0 ? 1 : 0))
    }

    /// Throws away all that waits, and counts it.
    public mutating func removeAll() {
        packetsDiscarded += queuedPackets
        sound.removeAll()
        retransmissions.removeAll()
        video.removeAll()
        waiting = (0, 0)
        drainRate = .zero
        isQueueFull = false
        probe = nil
        requested = []
        hasProbes = false
        paddingRate = .zero
        paddingLevel = 0
    }

    @usableFromInline
    func fitsGroup(_ size: Int) -> Bool {
        groupPackets < configuration.burstPackets
            && Self.weight(size) <= Self.weight(groupLimit) - level
    }

    /// The most bytes of a group.
    private var groupLimit: Int {
        let rate = pacingRate
        let usual = rate.bytes(in: configuration.burstDuration)
        guard usual < configuration.leastBurst else { return usual }
        return max(usual, min(configuration.leastBurst, rate.bytes(in: configuration.longestBurst)))
    }

    /// Takes note that a packet leaves.
    @inlinable
    mutating func leave(_ packet: RingQueue<Packet>.Stamp, now: Instant) {
        charge(packet.size)
        waiting.bytes -= packet.size
        waiting.packets -= 1
        lastDelay = now.nanoseconds - packet.queued.nanoseconds
        if queuedPackets == 0 { drainRate = .zero }
        if isQueueFull { updateFullness() }
        if hasProbes { countProbe(packet.size, now: now) }
    }

    @inlinable
    mutating func charge(_ size: Int) {
        let (sum, overflow) = level.addingReportingOverflow(Self.weight(size))
        level = overflow ? .max : sum
        if paddingRate > .zero { chargePadding(size) }
    }

    @usableFromInline
    mutating func chargePadding(_ size: Int) {
        let (sum, overflow) = paddingLevel.addingReportingOverflow(Self.weight(size))
        // A burst of media is no reason to go without padding for long after it.
        paddingLevel = min(overflow ? .max : sum, Self.weight(paddingRate.bytes(in: .milliseconds(500))))
    }

    @usableFromInline
    mutating func drain(now: Instant) {
        defer { levelTaken = max(now, levelTaken ?? now) }
        guard level > 0 || paddingLevel > 0, let levelTaken, now > levelTaken else { return }
        let elapsed = now.nanoseconds - levelTaken.nanoseconds
        let (drained, overflow) = elapsed.multipliedReportingOverflow(by: pacingRate.bitsPerSecond)
        level = overflow ? 0 : max(0, level - drained)
        if paddingLevel > 0 {
            let (drained, overflow) = elapsed.multipliedReportingOverflow(by: paddingRate.bitsPerSecond)
            paddingLevel = overflow ? 0 : max(0, paddingLevel - drained)
        }
        if level == 0 {
            groupPackets = 0
            isHolding = false
        }
    }

    @inlinable
    static func weight(_ size: Int) -> Int64 {
        Int64(min(size, 1 << 26)) * 8_000_000_000
    }

    /// The most probes that wait to begin.
    private static var maximumRequested: Int { 5 }
    /// A probe begins with a packet of this size, or of what it sends at once, if that is less.
    private static var firstProbePacket: Int { 200 }

    /// Takes a probe, to be sent once those before it are through, and there is something to send it with: media, or
    /// padding. The oldest of too many is forgotten.
    package mutating func enqueue(_ cluster: ProbeCluster, now: Instant) {
        guard cluster.rate > .zero else { return }
        if requested.count == Self.maximumRequested {
            requested.removeFirst()
            probesAbandoned += 1
        }
        requested.append((cluster, now))
        hasProbes = true
    }

    /// How many bytes of padding are to be sent now, where ``pop(now:)`` gave nothing; nil for none. The padding that is
    /// sent is to be told to ``didPad(_:now:)``.
    public mutating func paddingWanted(now: Instant) -> Int? {
        guard queuedPackets == 0, allowsPadding else { return nil }
        drain(now: now)
        if hasProbes, advanceProbes(now: now), let probe {
            guard isProbeDue(now: now) else { return nil }
            return max(1, probe.cluster.rate.bytes(in: probe.cluster.burstInterval) - probe.burstBytes)
        }
        guard paddingRate > .zero, level == 0, paddingLevel == 0 else { return nil }
        return max(1, paddingRate.bytes(in: configuration.burstDuration))
    }

    /// Takes note of a packet of padding of `size` bytes that leaves.
    public mutating func didPad(_ size: Int, now: Instant) {
        charge(max(0, size))
        lastDelay = 0
        lastCluster = nil
        if hasProbes { countProbe(max(0, size), now: now) }
    }

    private var canProbe: Bool {
        guard let cluster = requested.first?.cluster else { return false }
        let least = min(cluster.rate.bytes(in: cluster.burstInterval), Self.firstProbePacket)
        return allowsPadding || nextSize.map { $0 >= least } ?? false
    }

    /// Whether a probe is under way now: one that is late is given up, and one that waits begins.
    @usableFromInline
    mutating func advanceProbes(now: Instant) -> Bool {
        if let late = probe, now - late.next > configuration.latestProbe {
            probe = nil
            probesAbandoned += 1
        }
        while probe == nil, let (cluster, time) = requested.first {
            if now - time > configuration.oldestProbe {
                requested.removeFirst()
                probesAbandoned += 1
            } else if canProbe {
                requested.removeFirst()
                probe = Probe(cluster: cluster, started: now, next: now)
            } else {
                break
            }
        }
        hasProbes = probe != nil || !requested.isEmpty
        return probe != nil
    }

    @usableFromInline
    func isProbeDue(now: Instant) -> Bool {
        probe.map { now >= $0.next } ?? false
    }

    /// Counts a packet to the probe that is under way. When a burst is out, the next is due once the rate has carried
    /// all there was so far.
    @usableFromInline
    mutating func countProbe(_ size: Int, now: Instant) {
        guard var current = probe else { return }
        lastCluster = current.cluster.identifier
        probePackets += 1
        current.packets += 1
        let size = min(size, 1 << 26)
        current.bytes = min(current.bytes + size, 1 << 40)
        current.burstBytes = min(current.burstBytes + size, 1 << 40)
        if current.burstBytes >= current.cluster.rate.bytes(in: current.cluster.burstInterval) {
            current.burstBytes = 0
            current.next = current.started.advanced(by: current.cluster.rate.duration(ofBytes: current.bytes))
        }
        let isThrough =
            current.packets >= current.cluster.minimumPackets && current.bytes >= current.cluster.minimumBytes
        probe = isThrough ? nil : current
        hasProbes = probe != nil || !requested.isEmpty
    }
}
