package import RTCShareWireFormat

/// One end of a modelled TCP connection: sends segments of equal size as its window allows.
///
/// Slow start, fast retransmit and congestion avoidance of RFC 5681, selective acknowledgement as RFC 6675 uses it, a
/// retransmission timer as RFC 6298 has it but, as in Linux, 200 ms above the round trip at the least instead of a
/// second in all, and the window of NewReno or of CUBIC. There is no handshake, no receive window and no pacing. It does no I/O: segments are taken out
/// (``pollSegment(now:)``), acknowledgements are given in, time comes with each input.
package struct TCPSender: Sendable {
    /// What a segment has in bytes on the wire, IPv4 and TCP headers included.
    package static let segmentByteCount = 1500
    /// What a segment carries in bytes.
    package static let segmentPayloadByteCount = 1448
    /// What an acknowledgement has in bytes on the wire.
    package static let acknowledgementByteCount = 64

    /// A segment on its way.
    package struct Segment: Hashable, Sendable {
        /// Its place in the stream, in segments.
        package let number: Int
        /// When it was sent, which the receiver gives back (RFC 7323 §3).
        package let timestamp: Instant
    }

    /// What the receiver says of what has come.
    package struct Acknowledgement: Hashable, Sendable {
        /// The first segment that has not come.
        package let next: Int
        /// The segments around the one that is answered, where there are gaps before it (RFC 2018).
        package let block: Range<Int>?
        /// The timestamp of the segment that is answered.
        package let echo: Instant
    }

    private struct Outstanding: Sendable {
        var sent: Instant
        var hasArrived = false
        var isLost = false
        var wasRepeated = false
    }

    /// The first segment that is not known to have come.
    package private(set) var acknowledged = 0
    /// The segments that may be under way at once.
    package var window: Double { control.window }
    /// How often the retransmission timer ran out.
    package private(set) var timeouts = 0
    /// How often loss was seen by acknowledgements, once a window.
    package private(set) var fastRetransmits = 0
    /// Segments sent again.
    package private(set) var repetitions = 0

    private let segmentCount: Int?
    private var control: TCPWindow
    private var outstanding: [Outstanding] = []
    /// While it repairs: what must have come for the repair to be done.
    private var recoveryEnd: Int?
    private var recoversFromTimeout = false
    private var newestDelivery: Instant?
    private var smoothedRoundTrip: Duration?
    private var roundTripVariation = Duration.zero
    private var backoff = 1
    private var timer: Instant?

    /// A connection that has this many bytes to send, or without end.
    package init(_ control: TCPCongestionControl, byteCount: Int? = nil) {
        self.control = TCPWindow(control)
        segmentCount = byteCount.map { max(1, ($0 + Self.segmentPayloadByteCount - 1) / Self.segmentPayloadByteCount) }
    }

    /// Whether all has come.
    package var isFinished: Bool { acknowledged == segmentCount }

    /// When ``handleTimeout(now:)`` is next due.
    package var nextDeadline: Instant? { timer }

    private var next: Int { acknowledged + outstanding.count }

    /// The next segment that may leave now, or nil.
    package mutating func pollSegment(now: Instant) -> Segment? {
        guard segmentsInFlight < Int(control.window) else { return nil }
        if let index = outstanding.firstIndex(where: { $0.isLost && !$0.hasArrived && !$0.wasRepeated }) {
            outstanding[index].wasRepeated = true
            outstanding[index].sent = now
            repetitions += 1
            return segment(acknowledged + index, now: now)
        }
        guard segmentCount.map({ next < $0 }) ?? true else { return nil }
        outstanding.append(Outstanding(sent: now))
        return segment(next - 1, now: now)
    }

    private mutating func segment(_ number: Int, now: Instant) -> Segment {
        if timer == nil { timer = now.advanced(by: timeout) }
        return Segment(number: number, timestamp: now)
    }

    /// Takes an acknowledgement.
    package mutating func receive(_ acknowledgement: Acknowledgement, now: Instant) {
        measure(now - acknowledgement.echo)
        newestDelivery = max(newestDelivery ?? acknowledgement.echo, acknowledgement.echo)
        for number in acknowledgement.block ?? 0..<0 where number >= acknowledged && number < next {
            outstanding[number - acknowledged].hasArrived = true
        }
        let advance = min(max(0, acknowledgement.next - acknowledged), outstanding.count)
        if advance > 0 {
            outstanding.removeFirst(advance)
            acknowledged += advance
            backoff = 1
            timer = outstanding.isEmpty ? nil : now.advanced(by: timeout)
        }
        if let end = recoveryEnd, acknowledged >= end { recoveryEnd = nil }
        if noteLosses(), recoveryEnd == nil {
            recoveryEnd = next
            recoversFromTimeout = false
            fastRetransmits += 1
            control.reduce()
            timer = now.advanced(by: timeout)
        }
        if advance > 0, recoveryEnd == nil || recoversFromTimeout {
            control.grow(by: advance, roundTrip: smoothedRoundTrip ?? .zero, now: now)
        }
    }

    /// Does what is due.
    package mutating func handleTimeout(now: Instant) {
        guard let due = timer, due <= now else { return }
        guard !outstanding.isEmpty else {
            timer = nil
            return
        }
        timeouts += 1
        backoff = min(64, backoff * 2)
        timer = now.advanced(by: timeout)
        for index in outstanding.indices where !outstanding[index].hasArrived {
            outstanding[index].isLost = true
            outstanding[index].wasRepeated = false
        }
        recoveryEnd = next
        recoversFromTimeout = true
        control.collapse()
    }

    /// What RFC 6675 calls pipe: what is neither known to have come nor taken for lost.
    private var segmentsInFlight: Int {
        outstanding.count { !$0.hasArrived && (!$0.isLost || $0.wasRepeated) }
    }

    /// Takes for lost what has three later ones come (RFC 6675 §4), and a repetition when what was sent a quarter of a
    /// round trip after it has come (RFC 8985 §3.4). Whether any is new.
    private mutating func noteLosses() -> Bool {
        var isNew = false
        var later = 0
        let reordering = (smoothedRoundTrip ?? .zero) / 4
        for index in outstanding.indices.reversed() {
            if outstanding[index].hasArrived {
                later += 1
            } else if !outstanding[index].isLost, later >= 3 {
                outstanding[index].isLost = true
                isNew = true
            } else if outstanding[index].wasRepeated, let newestDelivery,
                newestDelivery > outstanding[index].sent.advanced(by: reordering)
            {
                outstanding[index].wasRepeated = false
            }
        }
        return isNew
    }

    private var timeout: Duration {
        guard let smoothedRoundTrip else { return .seconds(1) * backoff }
        return (smoothedRoundTrip + max(.milliseconds(200), roundTripVariation * 4)) * backoff
    }

    private mutating func measure(_ sample: Duration) {
        guard let smoothed = smoothedRoundTrip else {
            smoothedRoundTrip = sample
            roundTripVariation = sample / 2
            return
        }
        let error = sample - smoothed
        roundTripVariation = roundTripVariation * 0.75 + max(error, .zero - error) * 0.25
        smoothedRoundTrip = smoothed + error / 8
    }
}
