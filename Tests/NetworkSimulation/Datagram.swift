package import RTCShareWireFormat

/// A packet on a simulated network: bytes from one address to another.
package struct Datagram: Hashable, Sendable {
    /// The source address.
    package var source: TransportAddress
    /// The destination address.
    package var destination: TransportAddress
    /// The UDP payload.
    package var bytes: [UInt8]

    /// Creates a datagram with its addresses.
    package init(source: TransportAddress, destination: TransportAddress, bytes: [UInt8]) {
        self.source = source
        self.destination = destination
        self.bytes = bytes
    }
}
