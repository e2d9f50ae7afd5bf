internal import Glibc
internal import NIOCore
internal import RTCShareCDatagrams
package import RTCShareWireFormat

/// The addresses of this machine that a peer could reach.
package enum NetworkInterfaces {
    /// Returns the usable addresses in the system's order; those of the loopback interface if there are no others.
    package static func usableAddresses() throws -> [IPAddress] {
        uniqued(usable(of: try allAddresses()).map(\.ip))
    }

    /// Whether this machine has IPv6 addresses that peers could reach, and no such IPv4 address.
    static var hasOnlyIPv6: Bool {
        guard let addresses = try? usableAddresses() else { return false }
        return areOnlyIPv6(addresses)
    }

    /// Whether these are addresses that peers could reach, all of IPv6.
    static func areOnlyIPv6(_ addresses: [IPAddress]) -> Bool {
        !addresses.isEmpty && addresses.allSatisfy { !$0.isV4 && !$0.isLoopback }
    }

    /// Returns every address of the interfaces. If the system does not permit the list, returns the source addresses of
    /// datagrams.
    package static func allAddresses() throws -> [InterfaceAddress] {
        do {
            return try InterfaceAddress.all()
        } catch {
            let routed = elsewhere.compactMap(source(toward:))
            guard !routed.isEmpty else { throw error }
            return routed.map { InterfaceAddress(ip: $0) }
        }
    }

    /// Returns the addresses that a peer could reach, and that sockets can be bound to.
    ///
    /// Link-local IPv6 addresses are excluded, because they need a zone, which candidates can't contain. Of several
    /// IPv6 addresses in a network, one is used: a temporary one, to prevent tracking by the others (RFC 8445
    /// §5.1.1.1). Addresses that expire are used only if a family has no others.
    package static func usable(of addresses: [InterfaceAddress]) -> [InterfaceAddress] {
        let ready = addresses.filter { $0.isReady && !$0.ip.isUnspecified && ($0.ip.isV4 || !$0.ip.isLinkLocal) }
        let reachable = ready.filter { !$0.ip.isLoopback }
        let candidates = reachable.isEmpty ? ready : reachable
        let lasting = candidates.filter { address in
            !address.state.contains(.deprecated)
                || !candidates.contains { $0.ip.isV4 == address.ip.isV4 && !$0.state.contains(.deprecated) }
        }
        return lasting.filter { address in
            guard !address.ip.isV4 else { return true }
            let network = lasting.filter { $0.sharesNetwork(with: address) }
            return address == network.first(where: \.isTemporary) ?? network[0]
        }
    }

    private static func uniqued(_ addresses: [IPAddress]) -> [IPAddress] {
        var seen: Set<IPAddress> = []
        return addresses.filter { seen.insert($0).inserted }
    }

    /// Returns the source addresses of datagrams for other networks, IPv4 first, without sending any.
    package static func routedAddresses() -> [IPAddress] {
        elsewhere.compactMap(source(toward:)).filter { !$0.isLoopback && !$0.isUnspecified }
    }

    /// Addresses that belong to no machine (TEST-NET-3 of RFC 5737, and RFC 9637).
    private static let elsewhere = [
        TransportAddress("203.0.113.1", port: 9), TransportAddress("3fff::1", port: 9),
    ].compactMap { $0 }

    static func source(toward destination: TransportAddress) -> IPAddress? {
        guard let remote = try? destination.socketAddress else { return nil }
        let family = destination.ip.isV4 ? AF_INET : AF_INET6
        let descriptor = socket(family, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard remote.withSockAddr({ connect(descriptor, $0, socklen_t($1)) }) == 0 else { return nil }
        var name = socket_name()
        var size = socklen_t(MemoryLayout<socket_name>.size)
        let isKnown = withUnsafeMutablePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) == 0 }
        }
        return isKnown ? TransportAddress(name)?.ip : nil
    }
}
