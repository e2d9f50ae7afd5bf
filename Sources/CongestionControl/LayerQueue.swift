public import RTCShareWireFormat

/// Delays the packets of a layer of a simulcast, before the ``Pacer``.
///
/// The pacer follows the path to the server, which usually carries more than the paths from there to the viewers. At its
/// rate, a key frame would arrive at such a path at once, and overflow the queue there. So each layer has a rate that
/// follows its own target, as a token bucket: the first packets after a pause leave at once. Small frames don't wait, and
/// the arrival of the first packets of a large frame shows a viewer the bandwidth of its path.
public struct LayerQueue<Packet: Sendable>: Sendable {
    /// The ratio of the rate to the target of the layer. Paths of its viewers carry the target and little more.
    private static var pacingFactor: Double { 1.25 }
    /// The number of bytes that can leave at once after a pause: six full packets. They take 200 ms at 300 kbit/s, which
    /// is less than the usual length of a queue.
    private static var burst: Int { 7500 }
    /// The number of bytes that leave together after that, if so many wait: two full packets, so that not each packet
    /// costs a wakeup.
    private static var group: Int { 2500 }
    /// The queue is full if its packets take longer than this, as in ``Pacer/Configuration``.
    private static var fullTime: Duration { .milliseconds(500) }
    /// The time below which a full queue is not full any more.
    private static var resumeTime: Duration { .milliseconds(250) }
    /// The maximum time in which the queue becomes empty, for which packets leave at a higher rate if necessary.
    private static var maximumTime: Duration { .seconds(2) }

    /// Whether the encoder should drop whole frames until its packets have left.
    public private(set) var isFull = false
    /// The rate at which packets leave, unless the queue would need more than ``maximumTime``.
    public private(set) var rate = DataRate.zero
    /// The rate that empties the queue in ``maximumTime``, until it is empty.
    private var drainRate = DataRate.zero
    private var packets = RingQueue<Packet>()
    private var byteCount = 0
    /// The bytes that have left and that the rate has not carried.
    private var debt = 0.0
    /// The time of the debt.
    private var time: Instant?
    /// Whether the packets wait for the next group.
    private var isHolding = false

    /// Creates an empty queue of a layer with this target.
    public init(target: DataRate) { rate = target * Self.pacingFactor }

    /// Whether no packet waits.
    public var isEmpty: Bool { packets.isEmpty }

    private var currentRate: DataRate { max(rate, drainRate) }

    /// Sets the target of the layer. A layer that gets nothing keeps the target for the packets that wait.
    public mutating func setTarget(_ target: DataRate, now: Instant) {
        drain(now: now)
        if target > .zero { rate = target * Self.pacingFactor }
        updateFullness()
    }

    /// Adds a packet of `size` bytes.
    public mutating func enqueue(_ packet: consuming Packet, size: Int, now: Instant) {
        drain(now: now)
        packets.append(packet, .init(size: size, queued: now))
        byteCount += size
        drainRate = max(
            drainRate, DataRate(byteCount: byteCount + Int(debt) - Self.burst, over: Self.maximumTime))
        updateFullness()
    }

    /// Returns the next packet that is due, its size and the time of ``enqueue(_:size:now:)``, or nil. Call it until it
    /// returns nil.
    public mutating func pop(now: Instant) -> (packet: Packet, size: Int, queued: Instant)? {
        guard let next = packets.next else { return nil }
        drain(now: now)
        if isHolding, wait > .zero { return nil }
        isHolding = debt > 0 && Int(debt) + next.size > Self.burst
        guard !isHolding, let packet = packets.popFirst() else { return nil }
        debt += Double(next.size)
        byteCount -= next.size
        if byteCount == 0 { drainRate = .zero }
        updateFullness()
        return (packet, next.size, next.queued)
    }

    /// Returns the time of the next ``pop(now:)``; nil if no packet waits.
    public func nextDeadline(now: Instant) -> Instant? {
        guard !isEmpty else { return nil }
        guard isHolding, let time else { return now }
        return max(now, time.advanced(by: wait))
    }

    /// The time from ``time`` on after which the next group can leave.
    private var wait: Duration {
        let group = min(Self.group, byteCount)
        return currentRate.duration(ofBytes: max(0, Int(debt) + group - Self.burst))
    }

    private mutating func drain(now: Instant) {
        let elapsed = time.map { max(.zero, now - $0) } ?? .zero
        time = max(time ?? now, now)
        debt = max(0, debt - Double(currentRate.bitsPerSecond) / 8 * elapsed.seconds)
    }

    private mutating func updateFullness() {
        isFull = byteCount > rate.bytes(in: isFull ? Self.resumeTime : Self.fullTime)
    }
}
