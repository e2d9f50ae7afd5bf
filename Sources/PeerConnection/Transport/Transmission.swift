package import RTCShareWireFormat

/// What was written for the caller to send: a datagram, or bytes of a stream.
///
/// Of streams there is one for each `source`, `destination` and `transport`, from the source's address and any port. It
/// is opened when the first transmission names it; ``PeerConnection/framing(of:over:)`` says how what it brings is taken
/// apart into the messages that ``PeerConnection/handle(_:from:to:over:now:)`` takes.
package struct Transmission: Sendable, Hashable {
    /// The socket to send it from; of a stream, the one whose address it is opened from.
    package let source: TransportAddress
    /// Where it goes.
    package let destination: TransportAddress
    /// How it gets there.
    package let transport: TransportProtocol
    /// Whether it belongs to an allocation at a TURN server: where sockets are shared, that has one of its own.
    package var isForRelay = false
    /// Its bytes, from the start of the memory that was lent.
    package let byteCount: Int
}
