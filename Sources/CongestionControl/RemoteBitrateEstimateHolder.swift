public import RTCShareRTP
public import RTCShareWireFormat

/// Holds the newest REMB of a receiver (draft-alvestrand-rmcat-remb-03).
public struct RemoteBitrateEstimateHolder: Sendable {
    /// How long an estimate says anything; receivers repeat theirs each second or so.
    public let maximumAge: Duration
    /// The newest message.
    public private(set) var newest: ReceiverEstimatedMaximumBitrate?
    /// Messages taken.
    public private(set) var messagesReceived = 0
    private var arrival: Instant?

    /// A holder without an estimate.
    public init(maximumAge: Duration = .seconds(5)) {
        self.maximumAge = maximumAge
    }

    /// Takes a message that arrived at `now`.
    public mutating func receive(_ message: ReceiverEstimatedMaximumBitrate, now: Instant) {
        newest = message
        messagesReceived += 1
        arrival = now
    }

    /// The estimate; nil where there is none or it is too old.
    public func estimate(now: Instant) -> DataRate? {
        guard let newest, let arrival, now - arrival <= maximumAge else { return nil }
        return newest.bitrate
    }
}
