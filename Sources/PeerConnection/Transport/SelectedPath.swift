internal import RTCShareICE
internal import RTCShareWireFormat

/// The way to the peer that ICE has selected, and what is known of it.
struct SelectedPath {
    /// Where packets go; nil before ICE has found a pair, and once there is none left.
    private(set) var pair: SelectedPair?
    /// Whether there is a ``pair``: kept, for every packet asks, and to compare the pair is to copy it.
    private(set) var isThere = false
    /// How often another pair was selected.
    private(set) var changes: UInt64 = 0
    /// The bytes around a packet of SRTP on the wire, as the newest path has them.
    private(set) var overhead = 28
    /// By the peer's reports; nil before they tell. See ``PeerConnection/roundTripTime``.
    var reportedRoundTripTime: Duration?

    /// Takes the pair that was selected; whether it is another one. A pair that is nominated after it was taken into use is
    /// told of twice.
    mutating func select(_ selected: SelectedPair) -> Bool {
        defer { (pair, isThere) = (selected, true) }
        guard pair?.id != selected.id else { return false }
        changes += 1
        return true
    }

    /// There is no pair to send on any more.
    mutating func lose() {
        (pair, isThere) = (nil, false)
    }

    /// Takes note of how packets are wrapped: a relay's channel takes less than what comes before there is one. Whether that
    /// has changed.
    mutating func note(_ path: MediaPath) -> Bool {
        let bytes = path.overhead
        guard bytes != overhead else { return false }
        overhead = bytes
        return true
    }
}

extension MediaPath {
    /// The bytes of the headers of IP and of UDP or TCP, of a record of TLS, and of what a relay or a stream wants around
    /// a packet.
    fileprivate var overhead: Int {
        let network = destination.ip.isV4 ? 20 : 40
        let transport =
            switch transport {
            case .udp: 8
            case .tcp: 20
            // Of TLS 1.3 a record has its header, the type of its content and a tag (RFC 8446 §5.2).
            case .tls: 20 + 22
            }
        return network + transport + envelope.prefixByteCount + envelope.suffixByteCount
    }
}
