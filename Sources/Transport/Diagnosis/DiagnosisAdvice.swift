internal import RTCShareWireFormat

/// Advice for a network, from the results of its diagnosis.
enum DiagnosisAdvice {
    static func lines(for diagnosis: NetworkDiagnosis) -> [NetworkAdvice] {
        let used = diagnosis.interfaces.filter { $0.unusedBecause == nil }.compactMap { IPAddress($0.address) }
        guard used.contains(where: { !$0.isLoopback }) else {
            return ["No network interface has an address that others can reach. Bring a network up."]
        }
        var lines = diagnosis.servers.isEmpty ? [unasked(used)] : asked(diagnosis)
        if !diagnosis.multicastWorks {
            lines.append(
                "Multicast DNS does not work here: UDP port 5353 is blocked, or no interface supports multicast. Browsers "
                    + "that hide their address behind a .local name connect only if they reach this machine first, or "
                    + "through a server.")
        }
        return lines
    }

    private static func unasked(_ used: [IPAddress]) -> NetworkAdvice {
        used.allSatisfy(\.isPrivate)
            ? "Viewers on this network need no server. To see how this machine looks from outside: "
                + "\(.examination(["stun:HOST"]))"
            : "This machine has a public address: viewers reach it if no firewall blocks UDP. To check that: "
                + "\(.examination(["stun:HOST"]))"
    }

    private static func asked(_ diagnosis: NetworkDiagnosis) -> [NetworkAdvice] {
        let datagrams = diagnosis.servers.filter { $0.transport == "udp" }
        let isBlocked = !datagrams.isEmpty && datagrams.allSatisfy(\.isSilent)
        let relay = diagnosis.servers.first { $0.isRelay && $0.isUsable }
        if isBlocked {
            guard let relay else {
                return [
                    "No server answered over UDP: a firewall blocks UDP, or this network has no route to the servers. Test a "
                        + "relay over TCP: \(.relayOverTCP), or turns:."
                ]
            }
            return ["UDP is blocked here, but a relay over TCP works. Share with \(.iceServer(relay.url))."]
        }
        guard diagnosis.servers.contains(where: \.isUsable) else {
            return ["None of the servers can be used. Fix the problem shown next to each one."]
        }
        var lines = [mapping(diagnosis, hasRelay: relay != nil)]
        if let broken = diagnosis.servers.first(where: { $0.isRelay && !$0.isUsable }), relay == nil {
            lines.append("No relay can be used as a fallback: \(broken.url) does not work, see above.")
        }
        return lines
    }

    private static func mapping(_ diagnosis: NetworkDiagnosis, hasRelay: Bool) -> NetworkAdvice {
        let relay: NetworkAdvice = hasRelay ? "the relay that was tested is enough." : "add \(.relay)."
        switch diagnosis.mapping {
        case .none:
            return "There is no NAT: viewers reach this machine if no firewall blocks UDP."
        case .endpointIndependent:
            return
                "The NAT uses one public address for all peers: STUN is enough for most viewers. Viewers behind a symmetric "
                + "NAT need a relay: " + relay
        case .addressDependent, .addressAndPortDependent:
            return
                "The NAT is symmetric: only viewers with a public address, or behind a permissive NAT, connect directly. "
                + "Others need a relay: " + relay
        case .unknown:
            return "There is a NAT, and one server can't find out its kind. Test with two: "
                + "\(.examination(["stun:HOST1", "stun:HOST2"])). To be safe, share with a relay: " + relay
        }
    }
}
