package import RTCShareWireFormat

/// The counts of a video receiver, with the names of W3C webrtc-stats' `inbound-rtp`. The owner adds the decoder's
/// counts (`framesDecoded`, `keyFramesDecoded`).
package struct InboundVideoStatistics: Hashable, Sendable, Encodable {
    /// The number of RTP packets of the stream, including retransmissions and duplicates.
    package var packetsReceived = 0
    /// The number of packets expected but not received. RTX retransmissions do not reduce it (RFC 3550 §6.4.1).
    package var packetsLost = 0
    /// The interarrival jitter.
    package var jitter = Duration.zero
    /// The number of payload bytes, without headers and padding.
    package var bytesReceived = 0
    /// The number of bytes of RTP headers and of padding.
    package var headerBytesReceived = 0
    /// The number of retransmissions in `packetsReceived`.
    package var retransmittedPacketsReceived = 0
    /// The number of payload bytes of retransmissions in `bytesReceived`.
    package var retransmittedBytesReceived = 0
    /// The number of forward error correction packets in `packetsReceived`.
    package var fecPacketsReceived = 0
    /// The number of payload bytes of forward error correction in `bytesReceived`.
    package var fecBytesReceived = 0
    /// The number of packets that forward error correction recovered. The name is not W3C's.
    package var packetsRecovered = 0
    /// The number of lost packets that a retransmission over RTX or forward error correction replaced before they were
    /// given up, and which `packetsLost` includes. The name is not W3C's.
    package var packetsRepaired = 0
    /// The number of packets that arrived too late for their frame.
    package var packetsDiscarded = 0
    /// The number of duplicates, which `packetsDiscarded` does not include. The name is not W3C's.
    package var packetsDuplicated = 0
    /// The number of unusable packets: with an unknown payload type or an implausible number, or malformed. The name is
    /// not W3C's.
    package var packetsRejected = 0
    /// The number of NACK messages sent.
    package var nackCount = 0
    /// The number of picture loss indications sent.
    package var pliCount = 0
    /// The number of full intra requests sent.
    package var firCount = 0
    /// The number of whole frames.
    package var framesReceived = 0
    /// The number of frames that were dropped before the decoder.
    package var framesDropped = 0
    /// The number of frames of more than one packet.
    package var framesAssembledFromMultiplePackets = 0
    /// The total time from the first to the last packet of those frames.
    package var totalAssemblyTime = Duration.zero
    /// The bytes of the packet trains (``PacketTrains``). The name is not W3C's.
    package var trainByteCount = 0
    /// The total time in which they arrived. The name is not W3C's.
    package var trainDuration = Duration.zero
    /// The arrival time of the last packet.
    package var lastPacketReceivedTimestamp: Instant?

    /// The names that W3C defines. The receiver's dictionary contains `lastPacketReceivedTimestamp` as the time of day.
    private enum CodingKeys: CodingKey {
        case packetsReceived, packetsLost, jitter, bytesReceived, headerBytesReceived
        case retransmittedPacketsReceived, retransmittedBytesReceived, fecPacketsReceived, fecBytesReceived
        case packetsDiscarded, nackCount, pliCount, firCount
        case framesReceived, framesDropped, framesAssembledFromMultiplePackets, totalAssemblyTime
    }

    /// Creates counts of zero.
    package init() {}
}
