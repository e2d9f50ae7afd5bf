package import RTCShareCongestionControl
package import RTCShareICE
package import RTCShareRTP
package import RTCShareSecureTransport
package import RTCShareWireFormat

extension PeerConnection {
    /// The configuration of a connection.
    package struct Configuration: Sendable {
        /// The wallclock time at which the monotonic clock is zero, since 1 January 1970, for sender reports.
        package var unixTimeAtZero = Duration.zero
        /// The maximum bitrate of video, audio, retransmissions and headers together. The further layers of a simulcast
        /// are added (``SimulcastLayer``).
        package var maximumBitrate = DataRate.kilobitsPerSecond(2500)
        /// The assumed bandwidth of the path until it is measured. Probes measure it within the first round trips.
        /// Without transport-wide feedback only the peer's reports do, once per second, so that this is higher than the
        /// usual 300 kbit/s.
        package var startBitrate = DataRate.kilobitsPerSecond(1000)
        /// The active deviations of congestion control from libwebrtc.
        package var congestionDeviations = Deviations.all
        /// The time to find a route to the peer before the connection fails.
        package var connectTimeout = Duration.seconds(30)
        /// The initial retransmission timeout of a pair's check; nil for that of ``Timing``.
        package var checkRetransmission: Duration?
        /// The initial retransmission timeout of a DTLS flight, of which the last one is then retransmitted only on the
        /// peer's request; nil for a timeout according to the round-trip time.
        package var handshakeRetransmission: Duration?
        /// The allowed routes: all, or only those through TURN servers.
        package var iceTransportPolicy = ICETransportPolicy.all
        /// Whether host names among the peer's candidates are resolved by DNS, which reveals this host to the server of
        /// the name. Names under `.local`, with which browsers hide their addresses, are always resolved on the local
        /// network. If only relays are allowed, no name is resolved.
        package var resolvesHostNames = false
        /// Whether datagrams with ``Transmission/isForRelay`` use other ports than those of the local addresses.
        package var relaysHaveOwnPorts = false
        /// The requested lifetime of addresses at TURN servers. They are refreshed in time in any case.
        package var relayLifetime = Duration.seconds(600)
        /// The SRTP profiles in order of preference.
        package var srtpProfiles = SRTPProfile.preferred
        /// The payload formats of video that this side sends and receives, in order of preference.
        package var videoFormats = VideoPayloadFormats.basic
        /// The number of layers of a simulcast with which this side's offers send the video of content, one to three;
        /// with one, or if the peer accepts no simulcast, a single stream (RFC 8853). An offer of the peer ends it.
        package var contentLayers = 1
        /// The time to wait for a restart after the peer's consent, and with it the permission to send, has expired. 30
        /// s suit an owner that can exchange descriptions while the connection exists. With zero, the default, the
        /// connection fails immediately.
        package var restartPatience = Duration.zero
        /// Whether candidates can be exchanged with the peer one by one (RFC 8838). Descriptions then announce this,
        /// and can be made before ``Event/gatheringComplete``. ``Event/localCandidate`` reports later candidates.
        package var trickles = false
        /// Whether OpenSSL's DTLS state, except the keys of its alerts, is released after the peer's media have
        /// arrived. This saves some 40 kilobytes per connection in programs with hundreds of them. DTLS alerts, such as
        /// the close, are then sent and received by this library's own code instead of OpenSSL's.
        package var releasesHandshake = false

        /// Creates the default configuration.
        package init() {}

        /// Returns the `a=rid` of the layers with which a media is offered, the best first; empty for a single stream.
        package func layers(of kind: LocalIdentity.MediaKind) -> [String] {
            contentLayers > 1 && kind.isVideo && kind.isContent ? Array(["f", "h", "q"].prefix(contentLayers)) : []
        }
    }
}
