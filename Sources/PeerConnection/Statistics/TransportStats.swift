package import RTCShareICE
internal import RTCShareRTP
internal import RTCShareSDP
internal import RTCShareWireFormat

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

/// W3C `RTCIceCandidatePairStats`.
public struct CandidatePairStats: StatisticsDictionary {
    /// Unique in its report, and the same from report to report.
    public let id: String
    let transportId = StatisticsReport.transportID
    let localCandidateId: String
    let remoteCandidateId: String
    package let state: PairState
    /// Whether the controlling side chose the pair.
    public let nominated: Bool
    let priority: UInt64
    let counts: PairStatistics
    /// The estimated bandwidth of the pair in use, in bits per second.
    public let availableOutgoingBitrate: Double?
    /// The newest round trip of a check.
    public var currentRoundTripTime: Duration? { counts.currentRoundTripTime }

    init(_ pair: PairReport, availableBitrate: DataRate?) {
        id = Self.id(pair.id)
        localCandidateId = CandidateStats.id(pair.local, isLocal: true)
        remoteCandidateId = CandidateStats.id(pair.remote, isLocal: false)
        state = pair.state
        nominated = pair.nominated
        priority = pair.priority
        counts = pair.statistics
        availableOutgoingBitrate = availableBitrate.map { Double($0.bitsPerSecond) }
    }

    static func id(_ pair: Int) -> String { "CP\(pair)" }
}

/// W3C `RTCIceCandidateStats`.
package struct CandidateStats: StatisticsDictionary {
    package let id: String
    let transportId = StatisticsReport.transportID
    let address: String
    let port: UInt16
    let `protocol`: TransportProtocol
    let tcpType: String?
    let candidateType: CandidateType
    let priority: UInt32
    let foundation: String
    // Only candidates of this side have the members below.
    let url: String?
    let relayProtocol: TransportProtocol?
    let relatedAddress: String?
    let relatedPort: UInt16?

    init(_ candidate: Candidate, isLocal: Bool) {
        id = Self.id(candidate, isLocal: isLocal)
        address = candidate.address.ip.description
        port = candidate.address.port
        `protocol` = candidate.transport
        tcpType = candidate.transport == .udp ? nil : isLocal ? "active" : "passive"
        candidateType = candidate.type
        priority = candidate.priority
        foundation = candidate.foundation
        url = isLocal ? candidate.url : nil
        relayProtocol = isLocal ? candidate.relayProtocol : nil
        relatedAddress = isLocal ? candidate.relatedAddress?.ip.description : nil
        relatedPort = isLocal ? candidate.relatedAddress?.port : nil
    }

    static func id(_ candidate: Candidate, isLocal: Bool) -> String {
        (isLocal ? "L" : "R") + candidate.address.description + (candidate.transport == .udp ? "" : "/tcp")
    }
}

/// W3C `RTCCodecStats`.
package struct CodecStats: StatisticsDictionary {
    package let id: String
    let transportId = StatisticsReport.transportID
    let payloadType: UInt8
    package let mimeType: String
    let clockRate: UInt32
    let channels: Int?
    let sdpFmtpLine: String?

    /// Creates the statistics of the codec with a payload type, or of the preferred one.
    init(_ media: NegotiatedMedia, payloadType: PayloadType?) {
        let codec = media.codecs.first { $0.map.payloadType == payloadType?.rawValue } ?? media.codecs[0]
        let map = codec.map
        id = "C\(map.payloadType)"
        self.payloadType = map.payloadType
        mimeType = map.isOpus ? "audio/opus" : "video/\(map.encodingName.uppercased())"
        clockRate = map.clockRate
        channels = map.parameters.flatMap { Int($0) }
        sdpFmtpLine = codec.parameters?.text
    }
}
