package import RTCShareRTP
package import RTCShareWireFormat

/// Decides when a receiver says which of a transport's packets arrived; ``TransportFeedbackBuilder`` makes the packets.
package struct TransportFeedbackGenerator: Sendable {
    /// Arrivals that are not kept waiting for the interval.
    private static let maximumWaiting = 500

    private let interval: Duration
    private var builder: TransportFeedbackBuilder
    private var arrivals: [TransportFeedbackBuilder.Arrival] = []
    private var media: SynchronizationSource?

    /// A generator whose feedback comes from `sender`, each `interval` while packets come.
    package init(sender: SynchronizationSource, interval: Duration = .milliseconds(50)) {
        self.interval = interval
        builder = TransportFeedbackBuilder(sender: sender)
    }

    /// Takes note of a packet of `source` with this transport-wide number.
    package mutating func receive(_ number: TransportSequenceNumber, of source: SynchronizationSource, now: Instant) {
        arrivals.append(TransportFeedbackBuilder.Arrival(sequenceNumber: number, instant: now))
        media = source
    }

    /// When the next feedback is due; nil while there is nothing to report.
    package var nextDeadline: Instant? {
        guard let first = arrivals.first else { return nil }
        return arrivals.count >= Self.maximumWaiting ? first.instant : first.instant.advanced(by: interval)
    }

    /// The feedback that is due: mostly one packet, several after many arrivals.
    package mutating func poll(now: Instant) -> [TransportFeedback] {
        guard let nextDeadline, nextDeadline <= now else { return [] }
        return flush()
    }

    /// What has not been reported, due or not.
    package mutating func flush() -> [TransportFeedback] {
        guard let media, !arrivals.isEmpty else { return [] }
        defer { arrivals.removeAll(keepingCapacity: true) }
        return builder.makeFeedback(for: arrivals, media: media)
    }
}
