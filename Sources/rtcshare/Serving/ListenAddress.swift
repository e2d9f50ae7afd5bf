internal import RTCShareTransport
internal import RTCShareWireFormat

/// The form `[ADDR:]PORT` on the command line.
struct ListenAddress: Equatable {
    let address: IPAddress?
    /// The interface of a link-local address, after its `%` (RFC 4007 §11).
    var zone: String?
    let port: UInt16

    init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":") else {
            guard let port = UInt16(text) else { return nil }
            (address, self.port) = (nil, port)
            return
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard let port = UInt16(text[text.index(after: colon)...]) else { return nil }
        self.port = port
        if host.isEmpty || host == "*" || host == "::" {
            address = nil
        } else {
            let parts = host.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
            zone = parts.count > 1 ? String(parts[1]) : nil
            guard let address = host == "localhost" ? .v4(0x7F00_0001) : IPAddress(parts[0]),
                zone == nil || (zone != "" && !address.isV4 && address.isLinkLocal)
            else { return nil }
            self.address = address
        }
    }
}
