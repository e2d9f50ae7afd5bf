package import RTCShareMedia

/// W3C `RTCInboundRtpStreamStats`.
public struct InboundRTPStreamStats: StatisticsDictionary {
    /// Unique in its report, and the same from report to report.
    public let id: String
    /// The kind of the stream's media.
    public let kind: StreamKind
    package let mid: String?
    /// The stream's SSRC.
    public let ssrc: UInt32
    let transportId = StatisticsReport.transportID
    let codecId: String?
    let remoteId: String?
    let trackIdentifier: String?
    let lastPacketReceivedTimestamp: Double?
    package var video: InboundVideoStatistics?
    package let audio: InboundAudioStatistics?
    /// The number of audio packets that did not fit into the queue before the jitter buffer; nil if there are none.
    package var packetsDiscarded: Int?
    package var decoder: VideoDecoderStatistics?
    package var jitterBuffer: JitterBufferStatistics?
    package var screen: VideoScreenStats?
    package var playoutId: String?
    /// The current playout position on the sender's clock, in milliseconds of NTP.
    package var estimatedPlayoutTimestamp: Double?

    /// The received packets, retransmissions among them.
    public var packetsReceived: Int { video?.packetsReceived ?? audio?.packetsReceived ?? 0 }
    /// The packets that were expected and not received (RFC 3550 §6.4.1).
    public var packetsLost: Int { video?.packetsLost ?? audio?.packetsLost ?? 0 }
    /// The bytes of the received payloads.
    public var bytesReceived: Int { video?.bytesReceived ?? audio?.bytesReceived ?? 0 }
    /// The interarrival jitter.
    public var jitter: Duration { video?.jitter ?? audio?.jitter ?? .zero }
    /// The received frames; nil for audio.
    public var framesReceived: Int? { video?.framesReceived }
    /// The decoded frames; nil for what is not decoded.
    public var framesDecoded: Int? { decoder?.framesDecoded }
    /// The frames that were dropped on the way or on the screen; nil for audio.
    public var framesDropped: Int? { video.map { $0.framesDropped + (screen?.framesDropped ?? 0) } }

    /// The number of received bytes in payloads, headers and padding.
    package var byteCount: Int {
        [video?.bytesReceived, video?.headerBytesReceived, audio?.bytesReceived, audio?.headerBytesReceived]
            .reduce(0) { $0 + ($1 ?? 0) }
    }
}

/// The members of W3C `RTCInboundRtpStreamStats` about display.
package struct VideoScreenStats: Encodable, Sendable {
    package var framesRendered: Int
    package var framesDropped: Int
    /// The total time from the last packet of frames to their display. W3C does not define it.
    package var totalRenderDelay: Duration

    package init(framesRendered: Int, framesDropped: Int, totalRenderDelay: Duration) {
        self.framesRendered = framesRendered
        self.framesDropped = framesDropped
        self.totalRenderDelay = totalRenderDelay
    }
}
