package import RTCShareWireFormat

/// What crosses a simulated network: bytes from one address to another.
package struct Datagram: Hashable, Sendable {
    /// Where it was sent from.
    package var source: TransportAddress
    /// Where it is to go.
    package var destination: TransportAddress
    /// The UDP payload.
    package var bytes: [UInt8]

    /// A datagram with its addresses.
    package init(source: TransportAddress, destination: TransportAddress, bytes: [UInt8]) {
        self.source = source
        self.destination = destination
        self.bytes = bytes
    }
}
