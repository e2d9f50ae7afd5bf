package import RTCShareWireFormat

/// What a sound receiver counts, under the names of W3C webrtc-stats' `inbound-rtp`. What the jitter buffer and the
/// decoder count (`packetsDiscarded`, `concealedSamples`) is for their owner to add.
package struct InboundAudioStatistics: Hashable, Sendable, Encodable {
    /// RTP packets of the stream, second copies among them.
    package var packetsReceived = 0
    /// Packets expected and not received (RFC 3550 §6.4.1).
    package var packetsLost = 0
    /// The interarrival jitter.
    package var jitter = Duration.zero
    /// Payload bytes, without headers and padding.
    package var bytesReceived = 0
    /// Bytes of RTP headers and of padding.
    package var headerBytesReceived = 0
    /// Packets that were there already, or so late that it can't be told. Not a W3C name.
    package var packetsDuplicated = 0
    /// Packets that could not be used: of an unknown payload type, an implausible number, or malformed. No W3C name.
    package var packetsRejected = 0
    /// When the last packet came.
    package var lastPacketReceivedTimestamp: Instant?
    /// How loud the newest packet is by its header extension, from 0 (silence) to 1 (the most the system can hold);
    /// nil where the sender doesn't say.
    package var audioLevel: Double?

    /// The names that W3C defines. The receiver's dictionary has `lastPacketReceivedTimestamp` as the time of day.
    private enum CodingKeys: CodingKey {
        case packetsReceived, packetsLost, jitter, bytesReceived, headerBytesReceived, audioLevel
    }

    /// All zero.
    package init() {}
}
