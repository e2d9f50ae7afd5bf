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
    /// Waits for ``TURNAllocation/start(now:)``.
    case idle
    /// Asks for a relayed address.
    case allocating
    /// Asks whether the server still holds one that was left.
    case resuming(relayed: TransportAddress, reflexive: TransportAddress)
    /// Has one.
    case allocated(relayed: TransportAddress, reflexive: TransportAddress)
    /// Gives it back.
    case releasing
    /// Has none any more.
    case released
    /// Has left it with the server, for another to take up.
    case left
    /// Cannot have one.
    case failed(TURNError)
}

/// What an allocation tells its owner.
package enum TURNEvent: Hashable, Sendable {
    /// There is a relayed address; `reflexive` is what the server sees of us.
    case allocated(relayed: TransportAddress, reflexive: TransportAddress)
    /// There is none, or no longer.
    case failed(TURNError)
    /// The allocation is given back.
    case released
    /// The server names another one. Over UDP the allocation goes there by itself; over a stream the owner connects
    /// to it, for TLS under `domain` where that is there, and calls ``TURNAllocation/start(now:)`` again.
    case redirected(TransportAddress, domain: String?)
    /// The server lets nothing pass to and from the peer: the code and words of its refusal, or nil where it did not
    /// answer.
    case permissionRefused(IPAddress, ErrorCode?)
    /// A datagram to the peer came back (RFC 8656 §11.6).
    case peerUnreachable(TransportAddress, ICMPError)
}

/// Application data that a server relayed.
package struct RelayedData: Hashable, Sendable {
    /// Who sent it.
    package let peer: TransportAddress
    /// Where it lies among the bytes that went in.
    package let payload: Range<Int>
}

/// A message for a server.
package struct TURNTransmit: Hashable, Sendable {
    /// The server.
    package let server: TransportAddress
    /// A whole message: a datagram, or the next bytes of the stream.
    package let bytes: [UInt8]
}

/// What an allocation let fall, by reason.
package struct TURNStatistics: Hashable, Sendable {
    /// Bytes that were neither STUN nor ChannelData.
    package internal(set) var malformedMessages = 0
    /// Messages from elsewhere than the server.
    package internal(set) var strangeSources = 0
    /// Responses without a request of ours, or with wrong integrity.
    package internal(set) var unexpectedResponses = 0
    /// Data from peers without permission or on channels that are not bound, and requests.
    package internal(set) var ignoredMessages = 0
    /// Messages and peers over a limit.
    package internal(set) var overLimit = 0
}
