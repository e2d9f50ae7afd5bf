package import RTCShareWireFormat

/// The sending end of a modeled TCP connection: sends segments of equal size as its window allows.
///
/// Slow start, fast retransmit and congestion avoidance of RFC 5681, selective acknowledgment by RFC 6675, a
/// retransmission timer by RFC 6298 (but at least 200 ms above the round trip, as in Linux, instead of a second in
/// total), and the window of NewReno or of CUBIC. There is no handshake, no receive window and no pacing. It does no
/// I/O: the caller takes segments (``pollSegment(now:)``), passes acknowledgments, and the time with each call.
package struct TCPSender: Sendable {
    /// The size of a segment on the wire in bytes, including IPv4 and TCP headers.
    package static let segmentByteCount = 1500
    /// The payload of a segment in bytes.
    package static let segmentPayloadByteCount = 1448
    /// The size of an acknowledgment on the wire in bytes.
    package static let acknowledgementByteCount = 64

    /// A segment under way.
    package struct Segment: Hashable, Sendable {
        /// Its position in the stream, in segments.
        package let number: Int
        /// The time at which it was sent, which the receiver echoes (RFC 7323 §3).
        package let timestamp: Instant
    }

    /// The receiver's report of the segments that have arrived.
    package struct Acknowledgement: Hashable, Sendable {
        /// The first missing segment.
        package let next: Int
        /// The received segments around the acknowledged one, if there are gaps before it (RFC 2018).
        package let block: Range<Int>?
        /// The timestamp of the acknowledged segment.
        package let echo: Instant
    }

    private struct Outstanding: Sendable {
        var sent: Instant
        var hasArrived = false
        var isLost = false
        var wasRepeated = false
    }

    /// The first segment that is not acknowledged.
    package private(set) var acknowledged = 0
    /// The maximum number of segments under way.
    package var window: Double { control.window }
    /// The number of retransmission timeouts.
    package private(set) var timeouts = 0
    /// The number of losses that acknowledgments revealed, at most one per window.
    package private(set) var fastRetransmits = 0
    /// The number of retransmitted segments.
    package private(set) var repetitions = 0

    private let segmentCount: Int?
    private var control: TCPWindow
    private var outstanding: [Outstanding] = []
    /// The end of the current recovery: the first segment that had not been sent when it began. Nil if there is none.
    private var recoveryEnd: Int?
    private var recoversFromTimeout = false
    private var newestDelivery: Instant?
    private var smoothedRoundTrip: Duration?
    private var roundTripVariation = Duration.zero
    private var backoff = 1
    private var timer: Instant?

    /// Creates a connection that sends this many bytes, or an unlimited number for nil.
    package init(_ control: TCPCongestionControl, byteCount: Int? = nil) {
        self.control = TCPWindow(control)
        segmentCount = byteCount.map { max(1, ($0 + Self.segmentPayloadByteCount - 1) / Self.segmentPayloadByteCount) }
    }

    /// Whether everything is acknowledged.
    package var isFinished: Bool { acknowledged == segmentCount }

    /// The time at which ``handleTimeout(now:)`` is due.
    package var nextDeadline: Instant? { timer }

    private var next: Int { acknowledged + outstanding.count }

    /// Returns the next segment that may be sent now, or nil.
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

    /// Receives an acknowledgment.
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

    /// Handles an expired retransmission timer.
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

    /// The pipe of RFC 6675: the segments that are neither acknowledged nor considered lost.
    private var segmentsInFlight: Int {
        outstanding.count { !$0.hasArrived && (!$0.isLost || $0.wasRepeated) }
    }

    /// Marks a segment as lost if three later ones have arrived (RFC 6675 §4), and a retransmission if a segment sent a
    /// quarter of a round trip after it has arrived (RFC 8985 §3.4). Returns whether any is new.
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
