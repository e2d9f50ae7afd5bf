/// What the transport counted, under the names of W3C webrtc-stats (`RTCTransportStats`), and what it let fall.
struct TransportCounts: Sendable {
    var packetsSent: UInt64 = 0
    var bytesSent: UInt64 = 0
    var packetsReceived: UInt64 = 0
    var bytesReceived: UInt64 = 0
    /// SRTP packets that were forged, replayed, or came before the keys.
    var packetsRefused: UInt64 = 0
    /// Packets of no protocol, no section or no meaning.
    var packetsUnknown: UInt64 = 0
    /// Frames, of pictures or of sound, that came before the peer could take them, or when it took none.
    var framesDropped: UInt64 = 0
    /// Packets that could not be written or protected.
    var packetsUnsent: UInt64 = 0
}
