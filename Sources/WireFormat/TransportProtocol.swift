/// The protocol that carries messages between two transport addresses.
public enum TransportProtocol: String, Hashable, Sendable, CaseIterable, Encodable {
    /// UDP datagrams.
    case udp
    /// A TCP connection.
    case tcp
    /// A TLS connection over TCP.
    case tls

    /// Whether the protocol is a stream of bytes, which retransmits by itself and does not preserve the bounds of
    /// messages.
    public var isStream: Bool { self != .udp }
}
