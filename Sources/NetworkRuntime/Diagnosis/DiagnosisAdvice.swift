internal import RTCShareWireFormat

/// What to do about a network, from what was found out of it. Facts go in, advice comes out.
enum DiagnosisAdvice {
    static func lines(for diagnosis: NetworkDiagnosis) -> [NetworkAdvice] {
        let used = diagnosis.interfaces.filter { $0.unusedBecause == nil }.compactMap { IPAddress($0.address) }
        guard used.contains(where: { !$0.isLoopback }) else {
            return ["No interface has an address that anybody else could reach: bring a network up."]
        }
        var lines = diagnosis.servers.isEmpty ? [unasked(used)] : asked(diagnosis)
        if !diagnosis.multicastWorks {
            lines.append(
                "Multicast DNS doesn't work here (UDP port 5353 is blocked, or no interface takes multicast): browsers "
                    + "that hide their address behind a .local name are reached only where they reach this side first, or "
                    + "through a server.")
        }
        return lines
    }

    private static func unasked(_ used: [IPAddress]) -> NetworkAdvice {
        used.allSatisfy(\.isPrivate)
            ? "In this network alone, no server is needed. For viewers elsewhere ask a server how this machine looks from "
                + "outside: \(.examination(["stun:HOST"]))"
            : "This machine has a public address: viewers reach it where no firewall blocks UDP. To be sure, ask a server: "
                + "\(.examination(["stun:HOST"]))"
    }

    private static func asked(_ diagnosis: NetworkDiagnosis) -> [NetworkAdvice] {
        let datagrams = diagnosis.servers.filter { $0.transport == "udp" }
        let isBlocked = !datagrams.isEmpty && datagrams.allSatisfy(\.isSilent)
        let relay = diagnosis.servers.first { $0.isRelay && $0.isUsable }
        if isBlocked {
            guard let relay else {
                return [
                    "No server answered over UDP: a firewall seems to block it, or this network has no way out. Ask a relay "
                        + "over TCP: \(.relayOverTCP), or turns:."
                ]
            }
            return ["UDP is blocked here, and a relay over TCP gets through: share with \(.iceServer(relay.url))."]
        }
        guard diagnosis.servers.contains(where: \.isUsable) else {
            return ["No server gave what it was asked for: see the reason beside each, and repair that first."]
        }
        var lines = [mapping(diagnosis, hasRelay: relay != nil)]
        if let broken = diagnosis.servers.first(where: { $0.isRelay && !$0.isUsable }), relay == nil {
            lines.append("There is no relay to fall back on: \(broken.url) refuses or does not answer, see above.")
        }
        return lines
    }

    private static func mapping(_ diagnosis: NetworkDiagnosis, hasRelay: Bool) -> NetworkAdvice {
        let fallback: NetworkAdvice =
            hasRelay ? "the relay that was asked carries what can't go directly." : "give a relay too, \(.relay)."
        switch diagnosis.mapping {
        case .none:
            return "There is no NAT: viewers reach this machine where no firewall blocks UDP."
        case .endpointIndependent:
            return
                "The NAT gives one address for all: STUN is enough for most viewers; for those behind a symmetric NAT "
                + fallback
        case .addressDependent, .addressAndPortDependent:
            return "The NAT is symmetric: only viewers with a public address, or behind a lenient NAT, are reached "
                + "directly; for others " + fallback
        case .unknown:
            return "There is a NAT, and one server can't tell of which kind: ask two, "
                + "\(.examination(["stun:HOST1", "stun:HOST2"])). To be safe, "
                + (hasRelay ? "share with the relay that was asked." : fallback)
        }
    }
}
