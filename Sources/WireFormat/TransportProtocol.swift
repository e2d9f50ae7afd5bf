/// How messages get from one address to another.
public enum TransportProtocol: String, Hashable, Sendable, CaseIterable, Encodable {
    /// Datagrams.
    case udp
    /// A TCP connection.
    case tcp
    /// A TLS connection over TCP.
    case tls

    /// Whether it is a stream of bytes, which delivers by itself and has to be cut into messages.
    public var isStream: Bool { self != .udp }
}
