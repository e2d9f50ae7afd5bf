package import RTCShareWireFormat

/// Reports about the pairs and the servers.
extension Agent {
    /// The pair that carries media in the states connected and disconnected.
    package var selectedPair: SelectedPair? {
        guard let index = checklist.selectedIndex else { return nil }
        let pair = checklist.pairs[index]
        return SelectedPair(id: pair.id, local: pair.local, remote: pair.remote, isNominated: pair.isNominated)
    }

    /// Whether there is a ``selectedPair``, without a copy of it.
    package var hasSelectedPair: Bool { checklist.selectedIndex != nil }

    /// The latest round-trip time on the selected pair; nil before the first measurement.
    package var selectedRoundTripTime: Duration? {
        guard let index = checklist.selectedIndex else { return nil }
        return checklist.pairs[index].statistics.currentRoundTripTime
    }

    /// An upper bound of the round-trip time on the selected pair; nil before the first answered check.
    package var selectedRoundTripBound: Duration? {
        checklist.selectedIndex.flatMap { checklist.pairs[$0].roundTripBound }
    }

    /// Returns a report of every pair, in descending order of priority.
    package func pairReports() -> [PairReport] {
        checklist.pairs.sorted { $0.priority > $1.priority }.map { pair in
            PairReport(
                id: pair.id, local: pair.local, remote: pair.remote, state: pair.state, nominated: pair.isNominated,
                priority: pair.priority, fate: pair.fate, statistics: pair.statistics)
        }
    }

    /// Returns the result of each STUN and TURN server for each base.
    package func serverReports() -> [ServerReport] {
        asked.reports
    }

    /// Whether an authentic message from `source` to one of our bases has proven that the peer is there.
    package func isProven(_ source: TransportAddress, at base: BaseAddress) -> Bool {
        checklist.pairs.contains { pair in
            pair.base == base && pair.remote.address == source
                && (pair.latestRequest != nil || pair.latestResponse != nil)
        } || incoming.hasEarly(from: source, to: base)
    }
}
