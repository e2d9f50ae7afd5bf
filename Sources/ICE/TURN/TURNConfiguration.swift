public import RTCShareSTUN
public import RTCShareWireFormat

/// The times of an allocation.
public struct TURNTiming: Hashable, Sendable {
    /// RTO: until a request is sent again over UDP for the first time; doubles each time (RFC 8489 §6.2.1).
    public var retransmission: Duration = .milliseconds(500)
    /// Rc: how often a request is sent over UDP.
    public var transmissions = 7
    /// Rm: how many RTO the last transmission is waited for.
    public var finalWait = 16
    /// Ti: how long an answer may take over a stream (RFC 8489 §6.2.2).
    public var streamTimeout: Duration = .milliseconds(39_500)
    /// The lifetime that is asked for; the server may grant another.
    public var lifetime: Duration = .seconds(600)
    /// How long before its end a lifetime is extended, or half the lifetime where that is less.
    public var refreshMargin: Duration = .seconds(60)
    /// How often a permission is renewed; it lasts 5 minutes (RFC 8656 §9).
    public var permissionRefresh: Duration = .seconds(240)
    /// How often a channel is renewed; it lasts 10 minutes (RFC 8656 §12).
    public var channelRefresh: Duration = .seconds(540)

    /// The defaults.
    public init() {}
}

/// What an allocation is made from.
public struct TURNConfiguration: Sendable {
    /// The server.
    public var server: TransportAddress
    /// How messages get there.
    public var transport: TransportProtocol
    /// Who asks.
    public var credentials: LongTermCredentials
    /// The family of the relayed address.
    public var family: AddressFamily
    /// SOFTWARE in what is sent, if any.
    public var software: String?
    /// The times.
    public var timing = TURNTiming()
    /// How many peers may have permissions, and how many channels; more are refused.
    public var peerLimit = 100
    /// Messages waiting to be taken out; more are let fall.
    public var transmitLimit = 256

    /// A configuration with default times and bounds, for a relayed address of IPv4 unless told otherwise.
    public init(
        server: TransportAddress, transport: TransportProtocol, credentials: LongTermCredentials,
        family: AddressFamily = .v4
    ) {
        self.server = server
        self.transport = transport
        self.credentials = credentials
        self.family = family
    }
}
