package import RTCShareRTP
package import RTCShareWireFormat

/// Holds the newest REMB of a receiver (draft-alvestrand-rmcat-remb-03).
package struct RemoteBitrateEstimateHolder: Sendable {
    /// How long an estimate says anything; receivers repeat theirs each second or so.
    package let maximumAge: Duration
    /// The newest message.
    package private(set) var newest: ReceiverEstimatedMaximumBitrate?
    /// Messages taken.
    package private(set) var messagesReceived = 0
    private var arrival: Instant?

    /// A holder without an estimate.
    package init(maximumAge: Duration = .seconds(5)) {
        self.maximumAge = maximumAge
    }

    /// Takes a message that arrived at `now`.
    package mutating func receive(_ message: ReceiverEstimatedMaximumBitrate, now: Instant) {
        newest = message
        messagesReceived += 1
        arrival = now
    }

    /// The estimate; nil where there is none or it is too old.
    package func estimate(now: Instant) -> DataRate? {
        guard let newest, let arrival, now - arrival <= maximumAge else { return nil }
        return newest.bitrate
    }
}
