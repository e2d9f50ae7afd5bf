package import RTCShareRTP
package import RTCShareWireFormat

/// Joins the packets that a transport sent with what congestion control feedback says of them (RFC 8888), by their
/// stream and RTP sequence number. It gives the same results as ``TransportFeedbackTracker``, under numbers of its own.
package struct CongestionFeedbackTracker: Sendable {
    private enum Fate: Sendable {
        case inFlight
        case lost
        case acknowledged
    }

    private struct Entry: Sendable {
        let number: Int64
        let identifier: TransportSequenceNumber
        let size: Int
        let sent: Instant
        var fate = Fate.inFlight
    }

    private struct Stream: Sendable {
        var unwrapper = SerialNumberUnwrapper<SequenceNumber>()
        var slots = [Entry?](repeating: nil, count: CongestionFeedbackTracker.capacity)
    }

    /// Packets of a stream of which feedback can still be joined.
    package static var capacity: Int { 4096 }

    /// Feedback packets processed.
    package private(set) var feedbackReceived = 0
    /// Packets that arrived.
    package private(set) var packetsAcknowledged = 0
    /// Packets reported as missing, less those that were reported as received later.
    package private(set) var packetsLost = 0
    /// Packets that arrived with a mark of congestion.
    package private(set) var packetsMarked = 0

    private var streams: [SynchronizationSource: Stream] = [:]
    private var nextIdentifier = TransportSequenceNumber(0)
    /// The newest time of a report, and where it is since the first one.
    private var newest: (timestamp: NTPShortTime, time: Duration)?

    /// A tracker that knows of no packet.
    package init() {}

    /// Takes note of a packet of `size` bytes that is sent at `now`.
    ///
    /// - Returns: the number under which its result will come, to tell ``BandwidthEstimator`` as it leaves.
    package mutating func packetSent(
        _ sequenceNumber: SequenceNumber, of source: SynchronizationSource, size: Int, now: Instant
    ) -> TransportSequenceNumber {
        let identifier = nextIdentifier
        nextIdentifier = identifier.next
        let number = streams[source, default: Stream()].unwrapper.unwrap(sequenceNumber)
        streams[source]?.slots[Self.index(of: number)] = Entry(
            number: number, identifier: identifier, size: size, sent: now)
        return identifier
    }

    /// What `feedback` says that was not known, as ``TransportFeedbackTracker/receive(_:)`` does. A packet that arrived
    /// at a time that is not told is no longer waited for and gives no result.
    package mutating func receive(_ feedback: CongestionControlFeedback) -> [TransportFeedbackTracker.PacketResult] {
        feedbackReceived += 1
        let reported = updateTime(feedback.timestamp)
        var results: [TransportFeedbackTracker.PacketResult] = []
        for report in feedback.streams {
            guard var number = streams[report.source]?.unwrapper.peek(report.beginSequenceNumber) else { continue }
            for arrival in report.arrivals {
                if let result = resolve(number, of: report.source, arrival: arrival, reported: reported) {
                    results.append(result)
                }
                number += 1
            }
        }
        return results
    }

    private mutating func resolve(
        _ number: Int64, of source: SynchronizationSource, arrival: CongestionControlFeedback.Arrival?,
        reported: Duration
    ) -> TransportFeedbackTracker.PacketResult? {
        let index = Self.index(of: number)
        guard let entry = streams[source]?.slots[index], entry.number == number, entry.fate != .acknowledged else {
            return nil
        }
        guard let arrival else {
            guard entry.fate == .inFlight else { return nil }
            streams[source]?.slots[index]?.fate = .lost
            packetsLost += 1
            return result(entry, arrival: nil)
        }
        if entry.fate == .lost { packetsLost -= 1 }
        streams[source]?.slots[index]?.fate = .acknowledged
        packetsAcknowledged += 1
        if arrival.mark == .experienced { packetsMarked += 1 }
        guard case .time(let offset) = arrival.offset else { return nil }
        return result(entry, arrival: reported - offset)
    }

    private func result(_ entry: Entry, arrival: Duration?) -> TransportFeedbackTracker.PacketResult {
        TransportFeedbackTracker.PacketResult(
            number: entry.identifier, size: entry.size, sent: entry.sent, arrival: arrival)
    }

    /// Where a report's time is since the first one, its wraps undone. One that was overtaken moves nothing on.
    private mutating func updateTime(_ timestamp: NTPShortTime) -> Duration {
        guard let newest else {
            self.newest = (timestamp, .zero)
            return .zero
        }
        let units = Int64(timestamp.distance(from: newest.timestamp))
        let time = newest.time + .nanoseconds(units * 1_000_000_000 / 65536)
        if units > 0 { self.newest = (timestamp, time) }
        return time
    }

    private static func index(of number: Int64) -> Int {
        Int(truncatingIfNeeded: number & Int64(capacity - 1))
    }
}
