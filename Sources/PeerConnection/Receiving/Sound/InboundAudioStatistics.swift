package import RTCShareWireFormat

/// The counts of an audio receiver, with the names of W3C webrtc-stats' `inbound-rtp`. The owner adds the counts of the
/// jitter buffer and the decoder (`packetsDiscarded`, `concealedSamples`).
package struct InboundAudioStatistics: Hashable, Sendable, Encodable {
    /// The number of RTP packets of the stream, including duplicates.
    package var packetsReceived = 0
    /// The number of packets expected but not received (RFC 3550 §6.4.1).
    package var packetsLost = 0
    /// The interarrival jitter.
    package var jitter = Duration.zero
    /// The number of payload bytes, without headers and padding.
    package var bytesReceived = 0
    /// The number of bytes of RTP headers and of padding.
    package var headerBytesReceived = 0
    /// The number of duplicates, and of packets too old to be distinguished from them. The name is not W3C's.
    package var packetsDuplicated = 0
    /// The number of unusable packets: with an unknown payload type or an implausible number, or malformed. The name is
    /// not W3C's.
    package var packetsRejected = 0
    /// The arrival time of the last packet.
    package var lastPacketReceivedTimestamp: Instant?
    /// The audio level in the newest packet's header extension, from 0 (silence) to 1 (the maximum); nil if the sender
    /// does not send it.
    package var audioLevel: Double?

    /// The names that W3C defines. The receiver's dictionary contains `lastPacketReceivedTimestamp` as the time of day.
    private enum CodingKeys: CodingKey {
        case packetsReceived, packetsLost, jitter, bytesReceived, headerBytesReceived, audioLevel
    }

    /// Creates counts of zero.
    package init() {}
}
