internal import NIOCore
internal import RTCShareWireFormat

extension IPAddress {
    /// The address or, for IPv6, its /64: a client with one address in it can use all of them (RFC 6177 §2).
    var clientNetwork: IPAddress {
        if case .v6(let network, _) = self { .v6(network, 0) } else { self }
    }

    /// Parses an address in the form of proxies: bare or in brackets, with or without a port.
    init?(forwarded text: some StringProtocol) {
        var text = text.trimmingSpaces
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]") else { return nil }
            text = text[..<end].dropFirst()
        } else if text.count(where: { $0 == ":" }) == 1 {
            text = text.prefix { $0 != ":" }
        }
        self.init(unmapping: text)
    }

    /// Parses an address, also an IPv4 address in the form of an IPv6 socket (RFC 4291 §2.5.5.2).
    init?(unmapping text: some StringProtocol) {
        let mapped = text.lowercased().hasPrefix("::ffff:") ? IPAddress(text.dropFirst(7)) : nil
        guard let address = mapped ?? IPAddress(text) else { return nil }
        self = address
    }
}

extension SocketAddress {
    /// The address, also an IPv4 address at an IPv6 socket.
    var unmappedIP: IPAddress? { ipAddress.flatMap { IPAddress(unmapping: $0) } }
}
