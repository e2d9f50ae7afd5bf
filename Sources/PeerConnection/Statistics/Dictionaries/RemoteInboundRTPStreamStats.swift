/// W3C `RTCRemoteInboundRtpStreamStats`.
public struct RemoteInboundRTPStreamStats: StatisticsDictionary {
    package let id: String
    package let kind: StreamKind
    let ssrc: UInt32
    let transportId = StatisticsReport.transportID
    let codecId: String?
    let localId: String
    /// The packets that the peer has not received.
    public let packetsLost: Int
    /// The part of the packets that was lost since the report before, 0 to 1.
    public let fractionLost: Double
    /// The interarrival jitter at the peer.
    public let jitter: Duration
    /// The newest round trip.
    public let roundTripTime: Duration?
    let totalRoundTripTime: Duration
    let roundTripTimeMeasurements: Int
}
