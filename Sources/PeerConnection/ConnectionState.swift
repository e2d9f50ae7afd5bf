/// The state of a connection (W3C `RTCPeerConnectionState`).
///
///     new ──▶ connecting ──▶ connected ⇄ disconnected
///      └──────────┴──────────────┴────────────┴──▶ failed, closed
public enum ConnectionState: String, Sendable, Hashable, Codable, CaseIterable {
    /// One of the two descriptions is missing.
    case new
    /// ICE or DTLS is in progress.
    case connecting
    /// Media can be sent and received.
    case connected
    /// The peer has not answered for some seconds. It can come back.
    case disconnected
    /// The connection can't begin, or the peer did not come back.
    case failed
    /// One of the two sides has ended the connection.
    case closed

    /// Whether the state is the last one.
    public var isOver: Bool { self == .failed || self == .closed }

    /// Whether the connection has been connected, as far as the state shows.
    package var hasConnected: Bool { self == .connected || self == .disconnected }
}
