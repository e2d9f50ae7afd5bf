package import RTCShareRTP
package import RTCShareWireFormat

/// Schedules a receiver's transport-wide feedback. ``TransportFeedbackBuilder`` makes the packets.
package struct TransportFeedbackGenerator: Sendable {
    /// The number of arrivals after which feedback does not wait for the interval.
    private static let maximumWaiting = 500

    private let interval: Duration
    private var builder: TransportFeedbackBuilder
    private var arrivals: [TransportFeedbackBuilder.Arrival] = []
    private var media: SynchronizationSource?

    /// Creates a generator of feedback from `sender`, every `interval` while packets arrive.
    package init(sender: SynchronizationSource, interval: Duration = .milliseconds(50)) {
        self.interval = interval
        builder = TransportFeedbackBuilder(sender: sender)
    }

    /// Records a packet of `source` with this transport-wide number.
    package mutating func receive(_ number: TransportSequenceNumber, of source: SynchronizationSource, now: Instant) {
        arrivals.append(TransportFeedbackBuilder.Arrival(sequenceNumber: number, instant: now))
        media = source
    }

    /// The time of the next feedback; nil if there is nothing to report.
    package var nextDeadline: Instant? {
        guard let first = arrivals.first else { return nil }
        return arrivals.count >= Self.maximumWaiting ? first.instant : first.instant.advanced(by: interval)
    }

    /// Returns the feedback that is due: usually one packet, several after many arrivals.
    package mutating func poll(now: Instant) -> [TransportFeedback] {
        guard let nextDeadline, nextDeadline <= now else { return [] }
        return flush()
    }

    /// Returns the pending feedback, due or not.
    package mutating func flush() -> [TransportFeedback] {
        guard let media, !arrivals.isEmpty else { return [] }
        defer { arrivals.removeAll(keepingCapacity: true) }
        return builder.makeFeedback(for: arrivals, media: media)
    }
}
