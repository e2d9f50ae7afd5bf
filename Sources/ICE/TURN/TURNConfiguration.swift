package import RTCShareSTUN
package import RTCShareWireFormat

/// The times of an allocation.
package struct TURNTiming: Hashable, Sendable {
    /// The RTO, after which a request is first retransmitted over UDP. It doubles each time (RFC 8489 §6.2.1).
    package var retransmission: Duration = .milliseconds(500)
    /// Rc, the number of transmissions of a request over UDP.
    package var transmissions = 7
    /// Rm, the time to wait after the last transmission, in RTOs.
    package var finalWait = 16
    /// Ti, the timeout of a request over a stream (RFC 8489 §6.2.2).
    package var streamTimeout: Duration = .milliseconds(39_500)
    /// The requested lifetime. The server can grant another one.
    package var lifetime: Duration = .seconds(600)
    /// The time between a refresh and the end of the lifetime; half the lifetime if that is less.
    package var refreshMargin: Duration = .seconds(60)
    /// The interval of permission refreshes. A permission lasts 5 minutes (RFC 8656 §9).
    package var permissionRefresh: Duration = .seconds(240)
    /// The interval of channel refreshes. A channel lasts 10 minutes (RFC 8656 §12).
    package var channelRefresh: Duration = .seconds(540)

    /// Creates the default times.
    package init() {}
}

/// The configuration of an allocation.
package struct TURNConfiguration: Sendable {
    /// The server.
    package var server: TransportAddress
    /// The transport protocol to the server.
    package var transport: TransportProtocol
    /// The user's credentials.
    package var credentials: LongTermCredentials
    /// The family of the relayed address.
    package var family: AddressFamily
    /// The value of SOFTWARE in our messages, if any.
    package var software: String?
    /// The times.
    package var timing = TURNTiming()
    /// The maximum number of peers with permissions, and of channels.
    package var peerLimit = 100
    /// The maximum number of queued messages. More are dropped.
    package var transmitLimit = 256

    /// Creates a configuration with default times and limits, for an IPv4 relayed address by default.
    package init(
        server: TransportAddress, transport: TransportProtocol, credentials: LongTermCredentials,
        family: AddressFamily = .v4
    ) {
        self.server = server
        self.transport = transport
        self.credentials = credentials
        self.family = family
    }
}
