public import RTCShareMedia

/// W3C `RTCOutboundRtpStreamStats`.
public struct OutboundRTPStreamStats: StatisticsDictionary {
    /// Unique in its report, and the same from report to report.
    public let id: String
    /// The kind of the stream's media.
    public let kind: StreamKind
    let mid: String
    /// The layer of a simulcast; nil for a single stream.
    public let rid: String?
    /// The stream's SSRC.
    public let ssrc: UInt32
    let transportId = StatisticsReport.transportID
    let codecId: String?
    let mediaSourceId: String
    let remoteId: String?
    let rtxSsrc: UInt32?
    /// Whether the stream is sent to this peer.
    public let active: Bool
    package let sent: OutboundStatistics
    package let video: OutboundStatistics.Video?
    /// The encoder's target in bits per second.
    public package(set) var targetBitrate: Double?
    package var encoder: VideoEncoderStatistics?

    /// The sent packets, retransmissions among them.
    public var packetsSent: UInt64 { sent.packetsSent }
    /// The bytes of their payloads.
    public var bytesSent: UInt64 { sent.bytesSent }
    /// The sent frames; nil for audio.
    public var framesSent: UInt64? { video?.framesSent }
    /// The encoded frames, as far as the encoder is known.
    public var framesEncoded: Int? { encoder?.framesEncoded }
    /// Why frames are smaller or fewer than they could be, as far as the encoder is known.
    public var qualityLimitationReason: QualityLimitationReason? { encoder?.qualityLimitationReason }
}
