internal import FoundationEssentials
internal import RTCShareContentShare
internal import RTCShareLocks
internal import RTCSharePeerConnection
internal import RTCShareStreams
internal import RTCShareTransport

/// The reports of a running share: statistics, rates and the status line.
@SharingActor struct ShareReports {
    let share: RunningShare
    private var line = ShareStatus()
    private var rates = ShareStatus()
    private var seconds = 0
    private var isSlownessReported = false

    /// The number of seconds after which unused memory is returned to the system.
    private static let secondsBetweenTrims = 60

    init(of share: RunningShare) { self.share = share }

    /// Updates the rates of the last second, and writes the statistics.
    mutating func secondDidPass(_ statistics: StatisticsWriter?) async {
        Terminal.shared.flush()
        await write(to: statistics)
        let summaries = await summaries
        share.rates = rates.rates(for: summaries)
        share.limitPreviews()
        share.troubles.update(with: summaries, maxBitrate: share.contentBitrate)
        share.history.add(ShareHistory.Sample(share.rates, viewers: share.watchingCount, at: Date()))
        share.codecDecision = await share.room.contentShare.codecDecision()
        share.qualityLimitationReason = await share.room.contentShare.qualityLimitationReason()
        reportSlowness()
        seconds += 1
        if seconds.isMultiple(of: Self.secondsBetweenTrims) {
            WorkerThread.start(named: "memory") { ProcessMemory.giveBack() }
        }
    }

    /// Reports once that the processor is too slow for a codec.
    private mutating func reportSlowness() {
        guard !isSlownessReported, let decision = share.codecDecision, decision.reason == .processor,
            let slow = decision.alternative
        else { return }
        isSlownessReported = true
        share.events.yield(.course(.processorTooSlow(codec: slow, replacement: decision.codec)))
    }

    /// Prints the status line if any viewer or server receives the share.
    mutating func showStatus() async {
        guard share.isAnyConnected else { return }
        let summaries = await summaries
        Terminal.shared.status(line.line(for: summaries, places: share.places.publishedCount))
    }

    private var summaries: [Int: SendingSummary] {
        get async {
            let receivers = share.receivers
            let summaries = await Connection.summaries(of: receivers.map(\.session.connection))
            return receivers.reduce(into: [:]) { $0[$1.viewer] = summaries[ObjectIdentifier($1.session.connection)] }
        }
    }

    /// Writes a report of each viewer's connection, in the order in which they joined.
    func write(to statistics: StatisticsWriter?) async {
        guard let statistics else { return }
        var reports: [StatisticsReport] = []
        let content = share.content
        let source = SourceFacts(
            shareSource: content.current.specification, sharePaused: content.isPaused,
            shareInterruption: share.interruption)
        for (viewer, name, session) in share.receivers {
            // The session of a viewer who has left the room still has a report.
            var report = if let report = await share.room.stats(of: viewer) { report } else { await session.stats() }
            report.add(ViewerFacts(viewer: viewer, viewerName: name), to: StatisticsReport.transportID)
            // The content is the first video.
            let video = report.mediaSources.filter { $0.value.kind == .video }
            if let content = video.min(by: { $0.key < $1.key }) { report.add(source, to: content.value.id) }
            reports.append(report)
        }
        statistics.write(reports)
    }
}

/// The members of a viewer's `transport` that its connection does not have.
private struct ViewerFacts: Encodable {
    let viewer: Int
    let viewerName: String
}

/// The members of the content's `media-source` that a connection does not have.
private struct SourceFacts: Encodable {
    let shareSource: String
    let sharePaused: Bool
    let shareInterruption: String?
}
