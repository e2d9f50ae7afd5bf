public import RTCShareWireFormat

/// What crosses a simulated network: bytes from one address to another.
public struct Datagram: Hashable, Sendable {
    /// Where it was sent from.
    public var source: TransportAddress
    /// Where it is to go.
    public var destination: TransportAddress
    /// The UDP payload.
    public var bytes: [UInt8]

    /// A datagram with its addresses.
    public init(source: TransportAddress, destination: TransportAddress, bytes: [UInt8]) {
        self.source = source
        self.destination = destination
        self.bytes = bytes
    }
}
