package import RTCShareWireFormat

/// What is told of the pairs and of the servers.
extension Agent {
    /// The pair to send media on, in the states connected and disconnected.
    package var selectedPair: SelectedPair? {
        guard let index = checklist.selectedIndex else { return nil }
        let pair = checklist.pairs[index]
        return SelectedPair(id: pair.id, local: pair.local, remote: pair.remote, isNominated: pair.isNominated)
    }

    /// Whether there is a ``selectedPair``, without a copy of it.
    package var hasSelectedPair: Bool { checklist.selectedIndex != nil }

    /// The newest round trip on the selected pair; nil before one was measured.
    package var selectedRoundTripTime: Duration? {
        guard let index = checklist.selectedIndex else { return nil }
        return checklist.pairs[index].statistics.currentRoundTripTime
    }

    /// What the round trip on the selected pair does not exceed; nil before a check of it was answered.
    package var selectedRoundTripBound: Duration? {
        checklist.selectedIndex.flatMap { checklist.pairs[$0].roundTripBound }
    }

    /// Every pair with its fate, best first.
    package func pairReports() -> [PairReport] {
        checklist.pairs.sorted { $0.priority > $1.priority }.map { pair in
            PairReport(
                id: pair.id, local: pair.local, remote: pair.remote, state: pair.state, nominated: pair.isNominated,
                priority: pair.priority, fate: pair.fate, statistics: pair.statistics)
        }
    }

    /// What each STUN and TURN server answered to each base.
    package func serverReports() -> [ServerReport] {
        asked.reports
    }

    /// Whether the peer has shown, by an authentic message from `source` to one of our bases, that it is there.
    package func isProven(_ source: TransportAddress, at base: TransportAddress) -> Bool {
        checklist.pairs.contains { pair in
            pair.base == base && pair.remote.address == source
                && (pair.latestRequest != nil || pair.latestResponse != nil)
        } || incoming.hasEarly(from: source, to: base)
    }
}
