package import RTCShareWireFormat

/// What a video receiver counts, under the names of W3C webrtc-stats' `inbound-rtp`. What the decoder counts
/// (`framesDecoded`, `keyFramesDecoded`) is for its owner to add.
package struct InboundVideoStatistics: Hashable, Sendable, Encodable {
    /// RTP packets of the stream, retransmissions and second copies among them.
    package var packetsReceived = 0
    /// Packets expected and not received; retransmissions in a stream of their own make up for none (RFC 3550 §6.4.1).
    package var packetsLost = 0
    /// The interarrival jitter.
    package var jitter = Duration.zero
    /// Payload bytes, without headers and padding.
    package var bytesReceived = 0
    /// Bytes of RTP headers and of padding.
    package var headerBytesReceived = 0
    /// Retransmitted packets among `packetsReceived`.
    package var retransmittedPacketsReceived = 0
    /// Their payload bytes among `bytesReceived`.
    package var retransmittedBytesReceived = 0
    /// Packets of forward error correction among `packetsReceived`.
    package var fecPacketsReceived = 0
    /// Their payload bytes among `bytesReceived`.
    package var fecBytesReceived = 0
    /// Packets that forward error correction made again. No W3C name.
    package var packetsRecovered = 0
    /// Packets that came too late for their frame.
    package var packetsDiscarded = 0
    /// Packets that were there already. Not a W3C name: `packetsDiscarded` leaves them out.
    package var packetsDuplicated = 0
    /// Packets that could not be used: of an unknown payload type, an implausible number, or malformed. No W3C name.
    package var packetsRejected = 0
    /// NACK messages sent.
    package var nackCount = 0
    /// Picture loss indications sent.
    package var pliCount = 0
    /// Full intra requests sent.
    package var firCount = 0
    /// Whole frames.
    package var framesReceived = 0
    /// Frames given up before they reached the decoder.
    package var framesDropped = 0
    /// Frames that came in more than one packet.
    package var framesAssembledFromMultiplePackets = 0
    /// The time from first to last packet of those frames, all together.
    package var totalAssemblyTime = Duration.zero
    /// When the last packet came.
    package var lastPacketReceivedTimestamp: Instant?

    /// The names that W3C defines. The receiver's dictionary has `lastPacketReceivedTimestamp` as the time of day.
    private enum CodingKeys: CodingKey {
        case packetsReceived, packetsLost, jitter, bytesReceived, headerBytesReceived
        case retransmittedPacketsReceived, retransmittedBytesReceived, fecPacketsReceived, fecBytesReceived
        case packetsDiscarded, nackCount, pliCount, firCount
        case framesReceived, framesDropped, framesAssembledFromMultiplePackets, totalAssemblyTime
    }

    /// All zero.
    package init() {}
}
