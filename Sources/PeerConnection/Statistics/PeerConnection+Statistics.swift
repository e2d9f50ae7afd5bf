internal import RTCShareCongestionControl
internal import RTCShareICE
internal import RTCShareRTP
internal import RTCShareSDP
internal import RTCShareSecureTransport
package import RTCShareWireFormat

extension PeerConnection {
    /// Returns a report of all counts.
    package func report(now: Instant) -> StatisticsReport {
        var report = StatisticsReport(timestamp: unixTime(now))
        report.transport = transportStats
        for pair in ice.agent.pairReports() {
            // The bandwidth is known only for the pair in use.
            let isUsed = path.pair?.id == pair.id && transport.outbound != nil
            report.candidatePairs.append(
                CandidatePairStats(pair, availableBitrate: isUsed ? bandwidth.target : nil))
            report.localCandidates.insert(CandidateStats(pair.local, isLocal: true))
            report.remoteCandidates.insert(CandidateStats(pair.remote, isLocal: false))
        }
        for candidate in ice.agent.localCandidates {
            report.localCandidates.insert(CandidateStats(candidate, isLocal: true))
        }
        for index in outbound.indices { addOutbound(index, to: &report) }
        for index in receivers.media.indices { addInbound(index, to: &report) }
        return report
    }

    /// Returns each candidate pair and its outcome, one per line, for a user whose connection failed.
    package func pairReports() -> [String] {
        ice.agent.pairReports().map(\.description)
    }

    private var transportStats: TransportStats {
        TransportStats(
            counts: counts, selectedCandidatePairChanges: path.changes,
            selectedCandidatePairId: path.pair.map { CandidatePairStats.id($0.id) },
            iceLocalUsernameFragment: ice.local.usernameFragment, iceState: ice.agent.state.rawValue,
            dtlsState: transport.dtls?.statisticsState ?? "new", dtlsRole: transport.dtls?.role.rawValue ?? "unknown",
            dtlsCipher: transport.dtls?.cipherSuite, tlsVersion: transport.dtls?.version,
            srtpCipher: transport.dtls?.profile.map { "\($0)" }, packetsDiscarded: bandwidth.pacer.packetsDiscarded,
            bitrateLimitation: bandwidth.limitation.rawValue,
            probePacketsSent: bandwidth.pacer.probePackets, probesAbandoned: bandwidth.pacer.probesAbandoned,
            packetSendQueueDuration: bandwidth.pacer.queueDuration)
    }
}

extension Array where Element: StatisticsDictionary {
    /// Appends a dictionary unless its id exists. Returns the id.
    @discardableResult
    mutating func insert(_ dictionary: Element) -> String {
        if !contains(where: { $0.id == dictionary.id }) { append(dictionary) }
        return dictionary.id
    }
}

extension DTLSConnection {
    /// The state with its name in W3C webrtc (`RTCDtlsTransportState`).
    fileprivate var statisticsState: String {
        switch state {
        case .new: "new"
        case .handshaking: "connecting"
        case .connected: "connected"
        case .failed: "failed"
        case .closed: "closed"
        }
    }
}
