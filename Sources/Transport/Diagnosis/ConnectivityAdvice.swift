internal import RTCSharePeerConnection
internal import RTCShareWireFormat

/// Advice for a connection without a working candidate pair, from the known facts.
enum ConnectivityAdvice {
    /// Returns one to three sentences: the meaning of the facts, and a remedy.
    static func lines(for facts: ConnectivityFacts) -> [NetworkAdvice] {
        let advice = facts.pairs.isEmpty ? withoutPairs(facts) : withPairs(facts)
        return Array(advice.prefix(3))
    }

    /// Returns the advice if there was no candidate pair to check.
    private static func withoutPairs(_ facts: ConnectivityFacts) -> [NetworkAdvice] {
        let ours = families(facts.localCandidates)
        let theirs = families(facts.remoteCandidates)
        if !theirs.isEmpty, !ours.isEmpty, ours.isDisjoint(with: theirs) {
            return [
                "The peer has only \(name(theirs)), and this machine only \(name(ours)). Use a network with the same version of "
                    + "IP on both, or a relay that has both: \(.relay)."
            ]
        }
        let advice = names(facts)
        if !advice.isEmpty { return advice }
        if facts.remoteCandidates.isEmpty {
            return [
                "The peer's description has no address: it may have been copied before its candidates were gathered. "
                    + "Copy all of it, with its a=candidate lines."
            ]
        }
        return [
            "The peer's addresses belong to another network than those of this machine: share with \(.address) of a "
                + "network that both are in, or with \(.iceServers)."
        ]
    }

    private static func withPairs(_ facts: ConnectivityFacts) -> [NetworkAdvice] {
        if let advice = oneSided(facts) { return [advice] }
        if facts.pairs.allSatisfy({ $0.fate == .unroutable }) {
            return [
                "This machine has no route to any of the peer's addresses: connect to their network, or use "
                    + "a relay that both can reach: \(.relay)."
            ]
        }
        let datagrams = facts.servers.filter(\.isDatagram)
        if !datagrams.isEmpty, datagrams.allSatisfy(\.isSilent), !facts.servers.contains(where: \.hasAnswered) {
            return [
                "No server answered over UDP either: a firewall here seems to block it. Try a relay over TCP, "
                    + "\(.relayOverTCP) or turns:, and run \(.examination([]))."
            ] + streams(facts)
        }
        var advice = names(facts)
        let isPeerThere: NetworkAdvice =
            "Check that the peer is still running: an old answer does not fit a new offer."
        // Between addresses that should reach each other, a missing peer is the more probable reason.
        if isDirect(facts) { advice.append(isPeerThere) }
        if let relay = missingRelay(facts) { advice.append(relay) }
        if !isDirect(facts) { advice.append(isPeerThere) }
        // A peer behind a NAT accepts no TCP connections.
        return isDirect(facts) || Standing(facts.localCandidates) == .reachable
            || Standing(facts.remoteCandidates) == .reachable ? advice + streams(facts) : advice
    }

    /// Returns the advice about TCP connections between both sides.
    private static func streams(_ facts: ConnectivityFacts) -> [NetworkAdvice] {
        guard !facts.isRelayOnly else { return [] }
        let accepting = facts.remoteCandidates.filter(\.isTCP).map(\.address.description)
        guard !accepting.isEmpty || facts.localCandidates.contains(where: \.isTCP) else {
            return ["Where a firewall drops UDP, TCP may get through: share with \(.acceptsTCP)."]
        }
        guard let first = accepting.first else { return [] }
        return ["TCP was tried, too. If a firewall blocks it, allow TCP connections to \(first)."]
    }

    /// Returns whether one of the pairs connects two addresses of the same kind of network, without a NAT in between.
    private static func isDirect(_ facts: ConnectivityFacts) -> Bool {
        guard !(facts.localCandidates + facts.remoteCandidates).contains(where: { $0.type == .relayed }) else {
            return false
        }
        return facts.pairs.contains { pair in
            pair.local.type == .host && pair.remote.type == .host
                && pair.local.address.ip.isPrivate == pair.remote.address.ip.isPrivate
                && (!pair.local.address.ip.isPrivate || Standing(facts.remoteCandidates) == .privateOnly)
        }
    }

    /// Returns the advice if something was received: then the route is not the problem.
    private static func oneSided(_ facts: ConnectivityFacts) -> NetworkAdvice? {
        let pairs = facts.pairs
        let wasRefused = pairs.contains { if case .refused(401, _) = $0.fate { true } else { false } }
        if wasRefused {
            return
                "The peer refuses the ICE password: offer and answer belong to different sessions. Make a new offer, and use "
                + "the answer to that one."
        }
        if pairs.contains(where: { $0.checksAnswered > 0 && $0.fate == .fellSilent }) {
            return "The peer answered at first and then stopped: its program or its network ended. Make a new offer to "
                + "share again."
        }
        if pairs.contains(where: { $0.checksReceived > 0 }), !pairs.contains(where: { $0.checksAnswered > 0 }) {
            return
                "The peer's packets arrive here, but the peer does not answer ours: a firewall between both lets UDP through "
                + "in only one direction. Open it for UDP, or use a relay: \(.relay)."
        }
        return nil
    }

    /// Returns the advice about host names instead of addresses.
    private static func names(_ facts: ConnectivityFacts) -> [NetworkAdvice] {
        var advice: [NetworkAdvice] = []
        if facts.unresolvedNames > 0 { advice.append(unresolved) }
        if facts.namesLeftOut > 0 { advice.append(facts.isRelayOnly ? leftOutOfRelay : leftOut) }
        return advice
    }

    private static let leftOut: NetworkAdvice =
        "The peer sent host names instead of addresses. They are not looked up, because DNS servers would learn them: use "
        + "addresses on the peer, or allow it with \(.resolvesHostNames)."

    private static let leftOutOfRelay: NetworkAdvice =
        "The peer sent host names instead of addresses, which are not looked up if only relays are allowed: use a TURN "
        + "server on the peer too."

    private static let unresolved: NetworkAdvice =
        "The peer's .local names were not found: they need multicast DNS (UDP port 5353) between both machines. In "
        + "another network, use a STUN or TURN server on the peer too."

    /// Returns the advice to use a server, by the candidates of both sides; nil if both have relays.
    private static func missingRelay(_ facts: ConnectivityFacts) -> NetworkAdvice? {
        let all = facts.localCandidates + facts.remoteCandidates
        guard !all.contains(where: { $0.type == .relayed }) else {
            return
                "Not even a relayed address answered: a firewall may block UDP completely. Try the relay over TCP: "
                + "\(.relayOverTCP)."
        }
        let ours = Standing(facts.localCandidates)
        let theirs = Standing(facts.remoteCandidates)
        switch (ours, theirs) {
        case (.behindNAT, .behindNAT):
            return
                "Both machines are behind a NAT, neither NAT lets the other machine in, and neither machine has a relay: use "
                + "a TURN server, \(.relay)."
        case (.privateOnly, .behindNAT), (.privateOnly, .reachable):
            return "This machine sent the peer only private addresses, and the peer is outside: make the offer with "
                + "\(.reflexive). If that is not enough, use a relay, over TCP if UDP is blocked: "
                + "\(.relayOverTCP)."
        case (.behindNAT, .privateOnly), (.reachable, .privateOnly):
            return
                "The peer sent only private addresses, which do not work outside its network: use a STUN or TURN server on "
                + "the peer too, or a relay here: \(.relay)."
        case (.privateOnly, .privateOnly):
            return
                "Both sent only private addresses. In one network, a firewall on one of the machines may drop UDP. Between "
                + "two networks, use \(.relay)."
        case (.reachable, _), (_, .reachable):
            return
                "A public address did not answer: a firewall must let UDP through to it. If it can't, use a relay: "
                + "\(.relayOverTCP)."
        }
    }

    /// The public reachability of one side.
    private enum Standing {
        /// It has a public address.
        case reachable
        /// A server saw an address other than its own.
        case behindNAT
        /// It has only private addresses.
        case privateOnly

        init(_ candidates: [ConnectivityFacts.Candidate]) {
            if candidates.contains(where: { $0.type == .host && !$0.address.ip.isPrivate }) {
                self = .reachable
            } else {
                self = candidates.contains { $0.type != .host && !$0.address.ip.isPrivate } ? .behindNAT : .privateOnly
            }
        }
    }

    private static func families(_ candidates: [ConnectivityFacts.Candidate]) -> Set<Bool> {
        Set(candidates.map(\.address.ip.isV4))
    }

    private static func name(_ families: Set<Bool>) -> String {
        families.contains(true) ? "IPv4" : "IPv6"
    }
}

extension IPAddress {
    /// Whether the address is valid only inside its own network: RFC 1918, carriers' shared space (RFC 6598), unique
    /// local (RFC 4193), link-local and loopback.
    var isPrivate: Bool {
        if isLoopback || isLinkLocal { return true }
        return switch self {
        case .v4(let value):
            value >> 24 == 10 || value >> 20 == 0xAC1 || value >> 16 == 0xC0A8 || value >> 22 == 0x64_40 >> 6
        case .v6(let high, _): high >> 57 == 0x7E
        }
    }
}
