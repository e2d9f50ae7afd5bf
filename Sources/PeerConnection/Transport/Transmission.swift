package import RTCShareWireFormat

/// A transmission for the caller to send: a datagram, or bytes of a stream.
///
/// There is one stream for each `source`, `destination` and `transport`, from the source's address and any port. The
/// caller opens it at the first transmission that names it. ``PeerConnection/framing(of:over:)`` returns the framing of
/// the messages that it receives, for ``PeerConnection/handle(_:from:to:over:now:)``.
package struct Transmission: Sendable, Hashable {
    /// The socket to send from; for a stream, the socket whose address it is opened from.
    package let source: TransportAddress
    /// The destination address.
    package let destination: TransportAddress
    /// The transport protocol.
    package let transport: TransportProtocol
    /// Whether the transmission belongs to an allocation at a TURN server, which has its own socket if sockets are
    /// shared.
    package var isForRelay = false
    /// The number of bytes, from the start of the caller's memory.
    package let byteCount: Int
}
