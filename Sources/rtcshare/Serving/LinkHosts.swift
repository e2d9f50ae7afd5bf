internal import RTCShareTransport
internal import RTCShareWireFormat

/// The addresses and names of this machine for links.
struct LinkHosts {
    /// The hosts, best first: those that the user named, the addresses at which others reach this machine, and
    /// localhost if the page is served there.
    let hosts: [String]
    /// Further addresses at which others may reach this machine.
    let leftOut: [String]

    /// - Parameters:
    ///   - given: The hosts that the user named.
    ///   - listening: The addresses at which the page is served; empty for all addresses.
    ///   - zone: The interface of link-local addresses among these.
    ///   - all: Whether links have all addresses of this machine.
    ///   - interfaces: The addresses of this machine.
    ///   - routed: The source addresses of datagrams for other networks.
    init(
        given: [String], listening: [IPAddress], zone: String? = nil, all: Bool, interfaces: [InterfaceAddress],
        routed: [IPAddress]
    ) {
        var addresses = listening.filter { !$0.isLoopback && !$0.isUnspecified }
        var others: [IPAddress] = []
        if listening.isEmpty || listening.contains(where: \.isUnspecified) {
            // 0.0.0.0 is only IPv4, :: is both.
            let hasIPv6 = listening.isEmpty || listening.contains { !$0.isV4 }
            let served = interfaces.filter { hasIPv6 || $0.ip.isV4 }
            let reachable = ReachableAddresses(served, routed: routed.filter { hasIPv6 || $0.isV4 })
            addresses += reachable.best
            others = reachable.others
            if all { addresses += NetworkInterfaces.usable(of: served).map(\.ip) }
        }
        let shown = (all || given.isEmpty ? addresses.filter { !$0.isLoopback } : []).map { address in
            zone.flatMap { address.isLinkLocal && !address.isV4 ? "\(address)%\($0)" : nil } ?? "\(address)"
        }
        let hasLoopback = listening.isEmpty || listening.contains { $0.isLoopback || $0.isUnspecified }
        var known: Set<String> = []
        hosts = (given + shown + (hasLoopback ? ["localhost"] : [])).filter { known.insert($0).inserted }
        leftOut = given.isEmpty ? others.map(\.description).filter { !known.contains($0) } : []
    }

    /// Returns the hosts of this machine in its current state.
    init(given: [String], listening: [IPAddress], zone: String? = nil, all: Bool) throws {
        self.init(
            given: given, listening: listening, zone: zone, all: all, interfaces: try NetworkInterfaces.allAddresses(),
            routed: NetworkInterfaces.routedAddresses())
    }
}

/// The addresses at which others reach this machine, one per interface.
private struct ReachableAddresses {
    /// The address of the default route. If that is a tunnel's or missing, those of all networks.
    var best: [IPAddress] = []
    var others: [IPAddress] = []

    init(_ addresses: [InterfaceAddress], routed: [IPAddress]) {
        let usable = NetworkInterfaces.usable(of: addresses).filter { !$0.ip.isLoopback }
        let running = usable.filter(\.isRunning)
        let route = routed.lazy.compactMap { ip in addresses.first { $0.ip == ip } }.first
        var byInterface: [[InterfaceAddress]] = []
        for address in running.isEmpty ? usable : running {
            if let index = byInterface.firstIndex(where: { $0[0].interface == address.interface }) {
                byInterface[index].append(address)
            } else {
                byInterface.append([address])
            }
        }
        let candidates = byInterface.compactMap { Self.best(of: $0, in: addresses, route: route) }
        let networks = candidates.filter { $0.kind == .network }
        let tunnels = candidates.filter { $0.kind == .tunnel }
        let routedCandidate = candidates.first { $0.interface == route?.interface }
        if let routedCandidate, routedCandidate.kind != .tunnel {
            best = [routedCandidate.ip]
        } else if let routedCandidate {
            best = networks.map(\.ip) + [routedCandidate.ip]
        } else {
            best = (networks.isEmpty ? tunnels.isEmpty ? candidates : tunnels : networks).map(\.ip)
        }
        others = (networks + tunnels).map(\.ip).filter { !best.contains($0) }
    }

    /// Returns the most durable address of an interface: not a temporary one, if there is another.
    private static func best(
        of candidates: [InterfaceAddress], in all: [InterfaceAddress], route: InterfaceAddress?
    ) -> InterfaceAddress? {
        let isRouted = candidates[0].interface == route?.interface
        let chosen: InterfaceAddress? =
            if isRouted, let route, route.ip.isV4 {
                route
            } else if isRouted {
                candidates.first { !$0.ip.isV4 } ?? candidates.first
            } else {
                candidates.first { $0.ip.isV4 && !$0.ip.isLinkLocal } ?? candidates.first { !$0.ip.isV4 }
                    ?? candidates.first
            }
        guard let chosen, chosen.isTemporary else { return chosen }
        return all.first { $0.sharesNetwork(with: chosen) && $0.isLasting } ?? chosen
    }
}
