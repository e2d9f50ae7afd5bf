/// W3C `RTCRemoteOutboundRtpStreamStats`.
package struct RemoteOutboundRTPStreamStats: StatisticsDictionary {
    package let id: String
    let kind: StreamKind
    let ssrc: UInt32
    let transportId = StatisticsReport.transportID
    let codecId: String?
    let localId: String
    package let packetsSent: UInt32
    let bytesSent: UInt32
    let remoteTimestamp: Double
    let reportsSent: Int
    /// The arrival time of the report. W3C does not define it.
    let lastReportReceivedTimestamp: Double
}
