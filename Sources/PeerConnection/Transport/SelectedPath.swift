internal import RTCShareICE
internal import RTCShareWireFormat

/// The route to the peer that ICE has selected, and its properties.
struct SelectedPath {
    /// The selected pair; nil before ICE has found one, and when there is none left.
    private(set) var pair: SelectedPair?
    /// Whether there is a ``pair``, cached because every packet needs it and a comparison would copy the pair.
    private(set) var isThere = false
    /// Whether the pair is a TCP connection to the peer.
    private(set) var isStream = false
    /// Whether the stream to the peer or to a relay has no room.
    var isFull = false
    /// The number of times that another pair was selected.
    private(set) var changes: UInt64 = 0
    /// The number of bytes around an SRTP packet on the wire of the latest route.
    private(set) var overhead = 28
    /// The round-trip time in the peer's reports; nil before they contain it. See ``PeerConnection/roundTripTime``.
    var reportedRoundTripTime: Duration?

    /// Sets the selected pair. Returns whether it is another one. A pair that is nominated after its selection is
    /// reported twice.
    mutating func select(_ selected: SelectedPair) -> Bool {
        defer { (pair, isThere) = (selected, true) }
        guard pair?.id != selected.id else { return false }
        changes += 1
        isStream = selected.remote.tcpType != nil
        isFull = false
        return true
    }

    /// Removes the pair, since there is none left to send on.
    mutating func lose() {
        (pair, isThere, isFull) = (nil, false, false)
    }

    /// Records the envelope of packets: a relay's channel has less overhead than the Send indications before it.
    /// Returns whether the overhead has changed.
    mutating func note(_ path: MediaPath) -> Bool {
        let bytes = path.overhead
        guard bytes != overhead else { return false }
        overhead = bytes
        return true
    }
}

extension MediaPath {
    /// The number of bytes of the IP and the UDP or TCP headers, of a TLS record, and of the framing of a relay or a
    /// stream.
    fileprivate var overhead: Int {
        let network = destination.ip.isV4 ? 20 : 40
        let transport =
            switch transport {
            case .udp: 8
            case .tcp: 20
            // A record of TLS 1.3 has its header, the content type and a tag (RFC 8446 §5.2).
            case .tls: 20 + 22
            }
        return network + transport + envelope.prefixByteCount + envelope.suffixByteCount
    }
}
