package import RTCShareCongestionControl
package import RTCShareICE
package import RTCShareSecureTransport
package import RTCShareWireFormat

extension PeerConnection {
    /// What a connection goes by.
    package struct Configuration: Sendable {
        /// What the wallclock shows when the monotonic clock stands at zero, since 1 January 1970: for sender reports.
        package var unixTimeAtZero = Duration.zero
        /// The most that is sent: pictures, sound, retransmissions and headers together.
        package var maximumBitrate = DataRate.kilobitsPerSecond(2500)
        /// What the path is taken to carry until something is known of it. Probes find out within its first round trips;
        /// where the peer gives no transport-wide feedback nothing but its reports does, once a second, so that this is
        /// higher than the 300 kbit/s that are usual.
        package var startBitrate = DataRate.kilobitsPerSecond(1000)
        /// What congestion control does otherwise than libwebrtc.
        package var congestionDeviations = Deviations.all
        /// How long to look for a path to the peer before giving up.
        package var connectTimeout = Duration.seconds(30)
        /// Until the first check of a pair is sent again; nil for what ``Timing`` says.
        package var checkRetransmission: Duration?
        /// Until a flight of DTLS is sent again for the first time, and the last one only where the peer asks for it; nil
        /// for what the round trip says.
        package var handshakeRetransmission: Duration?
        /// Which paths may be taken: any, or through TURN servers alone.
        package var iceTransportPolicy = ICETransportPolicy.all
        /// Whether host names among the peer's candidates are looked up in DNS, which tells whoever serves the name who
        /// asks. Those under `.local`, by which browsers hide their addresses, are asked for on the local network in any
        /// case; where relays alone may be used, no name is.
        package var resolvesHostNames = false
        /// Whether what ``Transmission/isForRelay`` says of leaves from other ports than those of the local addresses.
        package var relaysHaveOwnPorts = false
        /// The lifetime that addresses at TURN servers are asked for with; they are extended in time all the same.
        package var relayLifetime = Duration.seconds(600)
        /// How SRTP may protect media, the preferred profile first.
        package var srtpProfiles = SRTPProfile.preferred

        /// How long to wait for a restart once the peer's consent has expired, and with it the right to send, before the
        /// connection fails: 30 s suit who has a way to exchange descriptions while the connection stands. Zero, the
        /// default, is for who has none: it fails at once.
        package var restartPatience = Duration.zero
        /// Whether candidates can be exchanged with the peer one by one (RFC 8838). Descriptions then say so, may be made
        /// before ``Event/gatheringComplete``, and what is found later is told by ``Event/localCandidate``.
        package var trickles = false
        /// Whether OpenSSL's state of DTLS is let go once the peer's media have come, but for the keys of its alerts: some 40
        /// kilobytes a connection less, where one program has hundreds. What is said and heard of DTLS from then on, the
        /// goodbye, is then this library's own rather than OpenSSL's.
        package var releasesHandshake = false

        /// 2500 kbit/s, half a minute to connect.
        package init() {}
    }
}
