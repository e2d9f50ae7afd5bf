internal import Glibc
internal import RTCShareCDatagrams
internal import RTCShareWireFormat

/// A destination in the kernel's format, created once for all datagrams to it.
struct SocketName {
    let name: socket_name
    /// The number of bytes that the kernel reads.
    let byteCount: Int

    /// Creates the name of an address.
    init(_ address: TransportAddress) {
        var name = socket_name()
        name.port = address.port.bigEndian
        switch address.ip {
        case .v4(let value):
            name.family = UInt16(AF_INET)
            name.v4 = value.bigEndian
            byteCount = Self.v4ByteCount
        case .v6(let high, let low):
            name.family = UInt16(AF_INET6)
            name.v6_high = high.bigEndian
            name.v6_low = low.bigEndian
            byteCount = Self.v6ByteCount
        }
        self.name = name
    }

    /// The sizes of `sockaddr_in` and `sockaddr_in6`.
    private static let v4ByteCount = 16
    private static let v6ByteCount = 28
}
