internal import RTCShareCongestionControl
internal import RTCShareICE
internal import RTCShareRTP
internal import RTCShareSDP
internal import RTCShareSecureTransport
package import RTCShareWireFormat

extension PeerConnection {
    /// A report of all that was counted, under the names of W3C webrtc-stats.
    package func statistics(now: Instant) -> [StatisticsObject] {
        var report = StatisticsReport(
            timestamp: (configuration.unixTimeAtZero + .nanoseconds(now.nanoseconds)).milliseconds)
        addTransport(to: &report)
        for pair in ice.agent.pairReports() {
            // What a path carries is known of the one that is used.
            let isUsed = path.pair?.id == pair.id && transport.outbound != nil
            report.add(pair, availableBitrate: isUsed ? bandwidth.estimator.target : nil)
        }
        for candidate in ice.agent.localCandidates { report.add(local: candidate) }
        for index in outbound.indices { addOutbound(index, to: &report) }
        for index in receivers.media.indices { addInbound(index, to: &report) }
        return report.objects
    }

    /// Each pair of addresses and what became of it, a line each: for a person whose connection failed.
    package func pairReports() -> [String] {
        ice.agent.pairReports().map(\.description)
    }

    private func addTransport(to report: inout StatisticsReport) {
        report.add(StatisticsReport.transportID, .transport) { object in
            object.set("packetsSent", counts.packetsSent)
            object.set("bytesSent", counts.bytesSent)
            object.set("packetsReceived", counts.packetsReceived)
            object.set("bytesReceived", counts.bytesReceived)
            object.set("selectedCandidatePairChanges", path.changes)
            object.set("selectedCandidatePairId", path.pair.map { StatisticsReport.pairID($0.id) })
            object.set("iceLocalUsernameFragment", ice.local.usernameFragment)
            object.set("iceState", ice.agent.state.rawValue)
            object.set("dtlsState", transport.dtls?.statisticsState ?? "new")
            object.set("dtlsRole", transport.dtls?.role.rawValue ?? "unknown")
            object.set("dtlsCipher", transport.dtls?.cipherSuite)
            object.set("tlsVersion", transport.dtls?.version)
            object.set("srtpCipher", transport.dtls?.profile.map { "\($0)" })
            // Not of webrtc-stats: what was let fall, so that nothing is dropped in silence.
            object.set("packetsRefused", counts.packetsRefused)
            object.set("packetsUnknown", counts.packetsUnknown)
            object.set("packetsUnsent", counts.packetsUnsent)
            object.set("framesDroppedBeforeConnection", counts.framesDropped)
            object.set("packetsDiscarded", bandwidth.pacer.packetsDiscarded)
            // Nor are these: why the estimate is not higher, and what probes came to.
            object.set("bitrateLimitation", bandwidth.estimator.limitation.rawValue)
            object.set("probePacketsSent", bandwidth.pacer.probePackets)
            object.set("probesAbandoned", bandwidth.pacer.probesAbandoned)
            object.set("packetSendQueueDuration", seconds: bandwidth.pacer.queueDuration)
        }
    }
}

extension DTLSConnection {
    /// The state under its name in W3C webrtc (`RTCDtlsTransportState`).
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
