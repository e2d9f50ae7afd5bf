package import RTCShareMedia

/// W3C `RTCMediaSourceStats`.
package struct MediaSourceStats: StatisticsDictionary {
    package let id: String
    package let kind: StreamKind
    let trackIdentifier: String
    let audio: AudioSourceStats?
    /// The size of the newest frame: that of the newest sent frame, until the encoder reports the source's.
    package var width: Int?
    package var height: Int?
    /// The number of frames from the source, which the encoder counts.
    package var frames: Int?
    package var framesPerSecond: Int?
}

/// W3C `RTCOutboundRtpStreamStats`.
package struct OutboundRTPStreamStats: StatisticsDictionary {
    package let id: String
    package let kind: StreamKind
    let mid: String
    let ssrc: UInt32
    let transportId = StatisticsReport.transportID
    let codecId: String?
    let mediaSourceId: String
    let remoteId: String?
    let rtxSsrc: UInt32?
    let active: Bool
    package let sent: OutboundStatistics
    package let video: OutboundStatistics.Video?
    /// The encoder's target in bits per second.
    package var targetBitrate: Double?
    package var encoder: VideoEncoderStatistics?
}

/// W3C `RTCRemoteInboundRtpStreamStats`.
package struct RemoteInboundRTPStreamStats: StatisticsDictionary {
    package let id: String
    package let kind: StreamKind
    let ssrc: UInt32
    let transportId = StatisticsReport.transportID
    let codecId: String?
    let localId: String
    package let packetsLost: Int
    package let fractionLost: Double
    let jitter: Duration
    package let roundTripTime: Duration?
    let totalRoundTripTime: Duration
    let roundTripTimeMeasurements: Int
}
