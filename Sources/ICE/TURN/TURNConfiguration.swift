package import RTCShareSTUN
package import RTCShareWireFormat

/// The times of an allocation.
package struct TURNTiming: Hashable, Sendable {
    /// RTO: until a request is sent again over UDP for the first time; doubles each time (RFC 8489 §6.2.1).
    package var retransmission: Duration = .milliseconds(500)
    /// Rc: how often a request is sent over UDP.
    package var transmissions = 7
    /// Rm: how many RTO the last transmission is waited for.
    package var finalWait = 16
    /// Ti: how long an answer may take over a stream (RFC 8489 §6.2.2).
    package var streamTimeout: Duration = .milliseconds(39_500)
    /// The lifetime that is asked for; the server may grant another.
    package var lifetime: Duration = .seconds(600)
    /// How long before its end a lifetime is extended, or half the lifetime where that is less.
    package var refreshMargin: Duration = .seconds(60)
    /// How often a permission is renewed; it lasts 5 minutes (RFC 8656 §9).
    package var permissionRefresh: Duration = .seconds(240)
    /// How often a channel is renewed; it lasts 10 minutes (RFC 8656 §12).
    package var channelRefresh: Duration = .seconds(540)

    /// The defaults.
    package init() {}
}

/// What an allocation is made from.
package struct TURNConfiguration: Sendable {
    /// The server.
    package var server: TransportAddress
    /// How messages get there.
    package var transport: TransportProtocol
    /// Who asks.
    package var credentials: LongTermCredentials
    /// The family of the relayed address.
    package var family: AddressFamily
    /// SOFTWARE in what is sent, if any.
    package var software: String?
    /// The times.
    package var timing = TURNTiming()
    /// How many peers may have permissions, and how many channels; more are refused.
    package var peerLimit = 100
    /// Messages waiting to be taken out; more are let fall.
    package var transmitLimit = 256

    /// A configuration with default times and bounds, for a relayed address of IPv4 unless told otherwise.
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
