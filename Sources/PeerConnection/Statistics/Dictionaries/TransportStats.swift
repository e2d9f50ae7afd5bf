/// W3C `RTCTransportStats`.
public struct TransportStats: StatisticsDictionary {
    package let id = StatisticsReport.transportID
    package let counts: TransportCounts
    package let selectedCandidatePairChanges: UInt64
    /// The id of the pair in use.
    public let selectedCandidatePairId: String?
    let iceLocalUsernameFragment: String
    /// The state of ICE (W3C webrtc, `RTCIceTransportState`).
    public let iceState: String
    /// The state of DTLS (W3C webrtc, `RTCDtlsTransportState`).
    public let dtlsState: String
    let dtlsRole: String
    let dtlsCipher: String?
    let tlsVersion: String?
    let srtpCipher: String?
    // W3C does not define the members below.
    let packetsDiscarded: Int
    /// The reason why the estimated bandwidth is not higher. W3C does not define it.
    public let bitrateLimitation: String
    package let probePacketsSent: Int
    let probesAbandoned: Int
    let packetSendQueueDuration: Duration
    /// The number of messages that slow TCP connections to servers and peers dropped. The connection's owner counts
    /// them.
    package var packetsDroppedByStreams: Int?
    /// The number of datagrams that the operating system rejected. The connection's owner counts them.
    package var packetsRefusedBySystem: Int?
}

/// The counts of the transport (W3C `RTCTransportStats`), with the packets that it rejected.
package struct TransportCounts: Encodable, Sendable {
    var packetsSent: UInt64 = 0
    var bytesSent: UInt64 = 0
    var packetsReceived: UInt64 = 0
    package var bytesReceived: UInt64 = 0
    /// The number of SRTP packets that were forged, replayed, or arrived before the keys.
    var packetsRefused: UInt64 = 0
    /// The number of packets without a known protocol, section or content.
    var packetsUnknown: UInt64 = 0
    /// The number of video or audio frames that were sent before the peer could receive them, or while it received
    /// none.
    var framesDroppedBeforeConnection: UInt64 = 0
    /// The number of packets that could not be written or protected.
    var packetsUnsent: UInt64 = 0
}
