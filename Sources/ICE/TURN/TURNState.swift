package import RTCShareSTUN
package import RTCShareWireFormat

/// ```
///   idle ──start──▶ allocating ──success──▶ allocated ──release──▶ releasing ──▶ released
///     ▲    │            │                   ▲   │  └─────leave───▶ left
///     │    └─(kept)─▶ resuming ────success──┘   │
///     └─300 on a stream─┤ error                 │ error
///                       └─────────▶ failed ◀────┘
/// ```
package enum TURNState: Hashable, Sendable {
    /// The allocation waits for ``TURNAllocation/start(now:)``.
    case idle
    /// A relayed address is requested.
    case allocating
    /// A request verifies that the server still has a stored allocation.
    case resuming(relayed: TransportAddress, reflexive: TransportAddress)
    /// The server has allocated a relayed address.
    case allocated(relayed: TransportAddress, reflexive: TransportAddress)
    /// The relayed address is being released.
    case releasing
    /// The relayed address is released.
    case released
    /// The relayed address is left at the server for another agent.
    case left
    /// The allocation failed or was lost.
    case failed(TURNError)
}

/// An event for the allocation's owner.
package enum TURNEvent: Hashable, Sendable {
    /// The server has allocated a relayed address. `reflexive` is our mapped address.
    case allocated(relayed: TransportAddress, reflexive: TransportAddress)
    /// The allocation failed or was lost.
    case failed(TURNError)
    /// The allocation is released.
    case released
    /// The server redirected us to another one. Over UDP the allocation uses that server by itself. Over a stream the
    /// owner connects to it, with TLS for `domain` if it is not nil, and calls ``TURNAllocation/start(now:)`` again.
    case redirected(TransportAddress, domain: String?)
    /// The server does not relay packets between the peer and us: the code and reason of its error, or nil if it did
    /// not answer.
    case permissionRefused(IPAddress, ErrorCode?)
    /// The server reported an ICMP error for a datagram to the peer (RFC 8656 §11.6).
    case peerUnreachable(TransportAddress, ICMPError)
}

/// Application data from a peer, relayed by a server.
package struct RelayedData: Hashable, Sendable {
    /// The peer that sent it.
    package let peer: TransportAddress
    /// The range of the data in the message.
    package let payload: Range<Int>
}

/// A message for a server.
package struct TURNTransmit: Hashable, Sendable {
    /// The server.
    package let server: TransportAddress
    /// A whole message: a datagram, or the next bytes of a stream.
    package let bytes: [UInt8]
}

/// Counts of ignored input, by reason.
package struct TURNStatistics: Hashable, Sendable {
    /// The number of messages that were neither STUN nor ChannelData.
    package internal(set) var malformedMessages = 0
    /// The number of messages from other sources than the server.
    package internal(set) var strangeSources = 0
    /// The number of responses without a request of ours, or with wrong integrity.
    package internal(set) var unexpectedResponses = 0
    /// The number of requests, and of data from peers without permission or on channels that are not bound.
    package internal(set) var ignoredMessages = 0
    /// The number of messages and peers over a limit.
    package internal(set) var overLimit = 0
}
