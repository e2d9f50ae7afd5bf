public import RTCShareWireFormat

/// What a video receiver counts, under the names of W3C webrtc-stats' `inbound-rtp`. What the decoder counts
/// (`framesDecoded`, `keyFramesDecoded`) is for its owner to add.
public struct InboundVideoStatistics: Hashable, Sendable {
    /// RTP packets of the stream, retransmissions and second copies among them.
    public var packetsReceived = 0
    /// Packets expected and not received; retransmissions in a stream of their own make up for none (RFC 3550 §6.4.1).
    public var packetsLost = 0
    /// The interarrival jitter.
    public var jitter = Duration.zero
    /// Payload bytes, without headers and padding.
    public var bytesReceived = 0
    /// Bytes of RTP headers and of padding.
    public var headerBytesReceived = 0
    /// Retransmitted packets among `packetsReceived`.
    public var retransmittedPacketsReceived = 0
    /// Their payload bytes among `bytesReceived`.
    public var retransmittedBytesReceived = 0
    /// Packets that came too late for their frame.
    public var packetsDiscarded = 0
    /// Packets that were there already. Not a W3C name: `packetsDiscarded` leaves them out.
    public var packetsDuplicated = 0
    /// Packets that could not be used: of an unknown payload type, an implausible number, or malformed. No W3C name.
    public var packetsRejected = 0
    /// NACK messages sent.
    public var nackCount = 0
    /// Picture loss indications sent.
    public var pliCount = 0
    /// Full intra requests sent.
    public var firCount = 0
    /// Whole frames.
    public var framesReceived = 0
    /// Frames given up before they reached the decoder.
    public var framesDropped = 0
    /// Frames that came in more than one packet.
    public var framesAssembledFromMultiplePackets = 0
    /// The time from first to last packet of those frames, all together.
    public var totalAssemblyTime = Duration.zero
    /// When the last packet came.
    public var lastPacketReceivedTimestamp: Instant?

    /// All zero.
    public init() {}
}
