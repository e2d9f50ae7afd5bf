internal import RTCSharePeerConnection
internal import RTCShareWireFormat

/// A report for people about a connection without a working candidate pair: each pair with its fate, and advice.
enum ConnectivityReport {
    /// The maximum number of pairs: a peer can name hundreds of candidates, and the best pairs are sufficient.
    static let maximumPairs = 16

    /// Returns the whole report, in which `name` returns the names of settings.
    static func text(
        for facts: ConnectivityFacts, naming name: (NetworkAdvice.Setting) -> String = \.description
    ) -> String {
        var lines = facts.pairs.isEmpty ? candidateLines(facts) : pairLines(facts)
        if !facts.servers.isEmpty {
            lines.append("Answers of the servers:")
            lines += facts.servers.prefix(maximumPairs).map { "  " + $0.text }
        }
        lines.append("Try:")
        lines += ConnectivityAdvice.lines(for: facts).map { "  - " + $0.words(naming: name) }
        // It contains texts of peers and servers: only this code ends lines.
        return lines.map(\.printable).joined(separator: "\n")
    }

    private static func pairLines(_ facts: ConnectivityFacts) -> [String] {
        var lines = ["no route to the peer was found", "Tried, from here to the peer:"]
        lines += facts.pairs.prefix(maximumPairs).map { "  " + line(for: $0) }
        if facts.pairs.count > maximumPairs { lines.append("  and \(facts.pairs.count - maximumPairs) more") }
        // A reflexive candidate is checked from its base and has no pair of its own.
        let reflexive = facts.localCandidates.filter { $0.type == .serverReflexive }
        if !reflexive.isEmpty { lines.append("  public address of this machine: \(list(reflexive.map(\.address)))") }
        return lines
    }

    private static func candidateLines(_ facts: ConnectivityFacts) -> [String] {
        [
            "no address in the peer's description can be reached from this machine's addresses",
            "  this machine's: \(list(facts.localCandidates))",
            "  the peer's: \(list(facts.remoteCandidates))"
                + (facts.unresolvedNames > 0 ? ", and \(facts.unresolvedNames) names that were not found" : "")
                + (facts.namesLeftOut > 0 ? ", and \(facts.namesLeftOut) names that were not looked up" : ""),
        ]
    }

    private static func list(_ items: [some CustomStringConvertible]) -> String {
        guard !items.isEmpty else { return "none" }
        let shown = items.prefix(maximumPairs).map(\.description).joined(separator: ", ")
        return items.count > maximumPairs ? shown + " and \(items.count - maximumPairs) more" : shown
    }

    /// Returns a line such as `host 192.0.2.1:9 → srflx 203.0.113.2:9: no answer to 10 checks, 2 checks came from
    /// there`.
    static func line(for pair: ConnectivityFacts.Pair) -> String {
        let checks = "\(pair.checksSent) \(pair.checksSent == 1 ? "check" : "checks")"
        let fate =
            switch pair.fate {
            case .notTried: "not tried"
            case .unanswered: "no answer to \(checks)"
            case .answered: "\(pair.checksAnswered) of \(checks) answered"
            case .fellSilent: "\(pair.checksAnswered) of \(checks) answered, then silence"
            case .refused(let code, let reason): "refused with error \(code) \(reason) after \(checks)"
            case .answeredFromElsewhere(let address): "\(checks), answered from \(address) instead"
            case .unroutable: "this machine has no route to it"
            case .connectionLost: "no TCP connection, or it ended"
            case .relayFailed(let words): words
            }
        let received = pair.checksReceived
        let heard = received == 0 ? "" : ", \(received) \(received == 1 ? "check" : "checks") came from there"
        return "\(pair.local) → \(pair.remote): \(fate)\(heard)"
    }
}
