public import RTCShareWireFormat

/// Spreads packets over time, so that no frame leaves as one burst.
///
/// A leaky bucket of packet descriptors: it contains no bytes, and needs only their sizes. Packets are sent in groups
/// of at most ``Configuration/burstDuration`` (at low rates of at most ``Configuration/leastBurst``) and
/// ``Configuration/burstPackets``. After a group the bucket drains completely. So in any time `t` at most one group (or
/// one packet that is larger than a group) is sent beyond what the pacing rate carries in `t`. One timer serves a
/// group.
///
/// The pacing rate is set, or is the target times ``Configuration/pacingFactor``. It is raised so that every packet is
/// sent within ``Configuration/maximumQueueTime`` of being queued: the last resort for a sender that ignores
/// ``isQueueFull``. The raised rate stays until the queue is empty. Only packets of a higher priority that are queued
/// later can delay a packet further, by the time that they take.
///
/// Audio never waits. It is small and regular, and its bytes reduce what the others can send next.
///
/// During a probe, its rate replaces the pacing rate. Media are sent first, and padding fills the rest. Padding has no
/// packets here: ``paddingWanted(now:)`` returns the number of bytes, and the sender makes them. A probe that padding
/// would have to fill waits until the queue is empty: behind the large packets of a frame, the smaller ones of padding
/// would measure less than the path carries (``ProbeEstimator``). libwebrtc sends a small packet first for that.
///
/// Code that runs for every packet is inlined into the caller's module, as in ``RetransmissionHistory``, and no access
/// copies the pacer.
public struct Pacer<Packet: Sendable>: ~Copyable, Sendable {
    /// The priority of a packet, in descending order.
    public enum Priority: Int, Sendable, CaseIterable {
        /// Audio, which is sent immediately.
        case sound
        /// Retransmissions, for which a receiver is already waiting.
        case retransmission
        /// First transmissions of video.
        case video
    }

    /// The parameters of the bucket.
    public struct Configuration: Hashable, Sendable {
        /// The ratio of pacing rate to target rate. It is more than 1 because frames differ in size and the queue must
        /// become empty between two frames.
        public var pacingFactor = 2.5
        /// The minimum pacing rate, which lets the first frames of a call be sent.
        public var minimumPacingRate = DataRate.kilobitsPerSecond(300)
        /// The maximum duration of a group at the pacing rate.
        public var burstDuration = Duration.milliseconds(5)
        /// The minimum size of a group's limit in bytes, two full packets, if ``burstDuration`` would allow less, as
        /// far as ``longestBurst`` allows it. Single packets would not noticeably help a path of a megabit per second,
        /// and each would cost the sender a wakeup.
        public var leastBurst = 2400
        /// The maximum duration at the pacing rate of a group that ``leastBurst`` enlarges. libwebrtc uses twice that
        /// for all groups.
        public var longestBurst = Duration.milliseconds(20)
        /// The maximum number of packets in a group.
        public var burstPackets = 16
        /// The queue is full if its packets take longer than this at the target rate, and more than this divided by
        /// ``pacingFactor`` at the pacing rate. For a shared screen, a frame that would be half a second late is better
        /// dropped before it is encoded.
        public var fullQueueTime = Duration.milliseconds(500)
        /// The duration of waiting packets below which a full queue is no longer full.
        public var resumeQueueTime = Duration.milliseconds(250)
        /// The maximum time that a packet waits before the rate is raised for it.
        public var maximumQueueTime = Duration.seconds(2)
        /// The maximum delay of a probe's next packets. A later probe is abandoned, since it would measure the delay.
        public var latestProbe = Duration.milliseconds(10)
        /// The maximum age of a probe that could not start.
        public var oldestProbe = Duration.seconds(5)

        /// Creates parameters for video of a screen.
        public init() {}
    }

    /// The target rate of the sources.
    public private(set) var targetRate: DataRate
    /// Whether more is queued than ``Configuration/fullQueueTime`` allows, and has not yet fallen to
    /// ``Configuration/resumeQueueTime``. The sender should drop whole frames before they are encoded. Queued packets
    /// are still sent.
    public private(set) var isQueueFull = false
    /// The number of queued bytes.
    @inlinable public var queuedBytes: Int { waiting.bytes }
    /// The number of queued packets.
    @inlinable public var queuedPackets: Int { waiting.packets }
    /// The number of packets that ``removeAll()`` discarded.
    public private(set) var packetsDiscarded = 0

    /// The number of packets of probes, including padding.
    public private(set) var probePackets = 0
    /// The number of probes that were abandoned because they were late or could not start.
    public private(set) var probesAbandoned = 0
    /// The probe of the packet that was sent last; nil for none.
    @inlinable public var cluster: Int? { lastCluster }
    /// The time that the packet waited that was sent last.
    @inlinable public var lastSendDelay: Duration { .nanoseconds(lastDelay) }
    /// Whether the sender can make padding.
    public var allowsPadding = false

    private struct Probe: Sendable {
        let cluster: ProbeCluster
        let started: Instant
        var next: Instant
        var packets = 0
        var bytes = 0
        var burstBytes = 0
    }

    private var configuration: Configuration
    private var setPacingRate: DataRate?
    /// The rate up to which padding fills.
    public private(set) var paddingRate = DataRate.zero
    private var probe: Probe?
    private var requested: [(cluster: ProbeCluster, at: Instant)] = []
    /// Whether a probe is active or waits to start.
    @usableFromInline var hasProbes = false
    @usableFromInline var lastCluster: Int?
    /// The last send delay in nanoseconds.
    @usableFromInline var lastDelay: Int64 = 0
    /// The ``level`` for the rate of padding.
    @usableFromInline var paddingLevel: Int64 = 0
    @usableFromInline var waiting = (bytes: 0, packets: 0)
    @usableFromInline var sound = RingQueue<Packet>()
    @usableFromInline var retransmissions = RingQueue<Packet>()
    @usableFromInline var video = RingQueue<Packet>()
    @usableFromInline var drainRate = DataRate.zero
    /// The sent bytes that have not drained, in bits times 10⁹, so that draining is exact in whole nanoseconds.
    @usableFromInline var level: Int64 = 0
    private var levelTaken: Instant?
    @usableFromInline var groupPackets = 0
    /// Whether a group is complete, so that only audio is sent before the bucket is empty.
    @usableFromInline var isHolding = false

    /// Creates an empty pacer.
    public init(targetRate: DataRate, configuration: Configuration = Configuration()) {
        self.targetRate = targetRate
        self.configuration = configuration
    }

    /// The current rate of sending.
    public var pacingRate: DataRate {
        max(
            setPacingRate ?? max(targetRate * configuration.pacingFactor, configuration.minimumPacingRate), drainRate)
    }

    /// The time that the queued packets take at the current rate.
    public var queueDuration: Duration {
        queuedBytes == 0 ? .zero : pacingRate.duration(ofBytes: queuedBytes)
    }

    /// Sets the target rate of the sources, the pacing rate (nil for ``Configuration/pacingFactor`` times the target),
    /// and the rate up to which padding fills. Sent packets drain at the old rates until `now`.
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

    /// Sets the time that a full queue takes, and half of it as that from which the queue is not full any more. Nil for
    /// the usual times.
    public mutating func setQueueTime(_ time: Duration?) {
        configuration.fullQueueTime = time ?? Configuration().fullQueueTime
        configuration.resumeQueueTime = time.map { $0 / 2 } ?? Configuration().resumeQueueTime
        updateFullness()
    }

    /// Returns the time for which the oldest packet of audio has waited; zero if there is none.
    public func soundDelay(now: Instant) -> Duration {
        sound.next.map { now - $0.queued } ?? .zero
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
        // If the highest of these rates stays until the queue is empty, this packet and those before it are sent in
        // time.
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

    /// Returns the next packet that can be sent, or nil. Call it until it returns nil.
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

    /// The size of the next packet other than audio.
    private var nextSize: Int? { (retransmissions.next ?? video.next)?.size }

    /// Returns the next time to call ``pop(now:)`` and ``paddingWanted(now:)``; nil if there is nothing to send.
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

    /// Discards all queued packets, and counts them.
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

    /// The maximum number of bytes in a group.
    private var groupLimit: Int {
        let rate = pacingRate
        let usual = rate.bytes(in: configuration.burstDuration)
        guard usual < configuration.leastBurst else { return usual }
        return max(usual, min(configuration.leastBurst, rate.bytes(in: configuration.longestBurst)))
    }

    /// Records that a packet is sent.
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
        // A burst of media must not prevent padding for long.
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

    /// The maximum number of probes that wait to start.
    private static var maximumRequested: Int { 5 }
    /// The size of a probe's first packet, or of its first burst, if that is less.
    private static var firstProbePacket: Int { 200 }

    /// Queues a probe. It starts after earlier probes, and when there is media or padding to send. If there are too
    /// many probes, the oldest is abandoned.
    package mutating func enqueue(_ cluster: ProbeCluster, now: Instant) {
        guard cluster.rate > .zero else { return }
        if requested.count == Self.maximumRequested {
            requested.removeFirst()
            probesAbandoned += 1
        }
        requested.append((cluster, now))
        hasProbes = true
    }

    /// Returns the number of padding bytes to send now, if ``pop(now:)`` returned nil; nil for none. Report the sent
    /// padding to ``didPad(_:now:)``.
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

    /// Records that a packet of padding of `size` bytes is sent.
    public mutating func didPad(_ size: Int, now: Instant) {
        charge(max(0, size))
        lastDelay = 0
        lastCluster = nil
        if hasProbes { countProbe(max(0, size), now: now) }
    }

    private var canProbe: Bool {
        guard let cluster = requested.first?.cluster else { return false }
        if allowsPadding {
            return queuedPackets == 0
                || queuedPackets >= cluster.minimumPackets && queuedBytes >= cluster.minimumBytes
        }
        let least = min(cluster.rate.bytes(in: cluster.burstInterval), Self.firstProbePacket)
        return nextSize.map { $0 >= least } ?? false
    }

    /// Whether a probe is active. This abandons a late probe and starts a waiting one.
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

    /// Counts a packet of the active probe. After a burst, the next one is due when the rate has carried all bytes so
    /// far.
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
