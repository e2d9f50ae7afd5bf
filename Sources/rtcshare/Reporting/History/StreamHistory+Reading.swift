extension StreamHistory {
    /// Adds the current values in a report.
    mutating func addState(_ object: ReportedObject, media: ReportedObject?, at time: Double) {
        set(.width, object.number("frameWidth"), at: time)
        set(.height, object.number("frameHeight"), at: time)
        set(.sourceWidth, media?.number("width"), at: time)
        set(.sourceHeight, media?.number("height"), at: time)
        set(.sourceFrames, media?.number("framesPerSecond"), at: time)
        set(.target, object.number("targetBitrate").map { $0 / 1000 }, at: time)
        qualityLimitation.append(object.text("qualityLimitationReason"), at: time)
        if !isSent { set(.jitter, milliseconds(object.number("jitter")), at: time) }
    }

    /// Adds the counts since the report before, `interval` seconds ago; infinite if there was none.
    mutating func addRates(
        _ object: ReportedObject, remote: ReportedObject?, over interval: Double, counts: inout StreamCounts,
        at time: Double
    ) {
        let way = isSent ? "Sent" : "Received"
        let bytes = counts.growth("bytes", to: object.number("bytes\(way)"))
        let headers = counts.growth("headerBytes", to: object.number("headerBytes\(way)")) ?? 0
        set(.rate, bytes.map { kilobits($0 + headers, over: interval) }, at: time)
        let again = counts.growth("repeated", to: object.number("retransmittedBytes\(way)"))
        set(.repeated, again.map { kilobits($0, over: interval) }, at: time)
        let packets = counts.growth("packets", to: object.number("packets\(way)"))
        let resent = counts.growth("resent", to: object.number("retransmittedPackets\(way)"))
        if let packets, let resent { set(.resent, percent(resent, of: packets), at: time) }
        if isSent {
            addSent(object, packets: packets, counts: &counts, at: time)
            if let remote { addReported(remote, at: time) }
        } else {
            let lost = counts.lossGrowth("lost", to: object.number("packetsLost"))
            if let packets, let lost { set(.loss, percent(lost, of: packets + lost), at: time) }
            addReceived(object, over: interval, counts: &counts, at: time)
        }
        guard isVideo else { return }
        let frames = object.number(isSent ? "framesSent" : "framesDecoded")
        set(.frames, counts.growth("frames", to: frames).map { $0 / interval }, at: time)
        let dropped = counts.growth("dropped", to: object.number("framesDropped"))
        set(.framesDropped, dropped.map { $0 / interval }, at: time)
        let keys = object.number(isSent ? "keyFramesSent" : "keyFramesDecoded")
        set(.keyFrames, counts.growth("keyFrames", to: keys), at: time)
        set(.nacks, counts.growth("nacks", to: object.number("nackCount")), at: time)
        set(.pictureLossIndications, counts.growth("plis", to: object.number("pliCount")), at: time)
        set(.fullIntraRequests, counts.growth("firs", to: object.number("firCount")), at: time)
        // Media that was encoded once for several viewers must not be counted by the frames sent to one of them.
        let coded = counts.growth("coded", to: object.number(isSent ? "framesEncoded" : "framesDecoded"))
        let effort = counts.growth("effort", to: object.number(isSent ? "totalEncodeTime" : "totalDecodeTime"))
        set(.codingTime, milliseconds(mean(effort, coded)), at: time)
        set(.quantizer, mean(counts.growth("quantizers", to: object.number("qpSum")), coded), at: time)
    }

    private mutating func addSent(
        _ object: ReportedObject, packets: Double?, counts: inout StreamCounts, at time: Double
    ) {
        let delay = counts.growth("delay", to: object.number("totalPacketSendDelay"))
        set(.sendDelay, milliseconds(mean(delay, packets)), at: time)
        set(.drifts, counts.growth("drifts", to: object.number("driftsDetected")), at: time)
        let changes = object.number("qualityLimitationResolutionChanges")
        set(.resolutionChanges, counts.growth("changes", to: changes), at: time)
    }

    /// Adds the peer's report about the media that it receives.
    private mutating func addReported(_ remote: ReportedObject, at time: Double) {
        set(.loss, remote.number("fractionLost").map { min(max($0, 0), 1) * 100 }, at: time)
        set(.roundTrip, milliseconds(remote.number("roundTripTime")), at: time)
        set(.jitter, milliseconds(remote.number("jitter")), at: time)
    }

    private mutating func addReceived(
        _ object: ReportedObject, over interval: Double, counts: inout StreamCounts, at time: Double
    ) {
        let buffered = counts.growth("buffered", to: object.number("jitterBufferDelay"))
        let emitted = counts.growth("emitted", to: object.number("jitterBufferEmittedCount"))
        set(.bufferDelay, milliseconds(mean(buffered, emitted)), at: time)
        guard isVideo else {
            let silent = counts.growth("silent", to: object.number("silentConcealedSamples")) ?? 0
            let concealed = counts.growth("concealed", to: object.number("concealedSamples"))
            let samples = counts.growth("samples", to: object.number("totalSamplesReceived"))
            if let samples, let concealed {
                set(.concealed, percent(max(0, concealed - silent), of: samples), at: time)
            }
            return
        }
        set(.freezes, counts.growth("freezes", to: object.number("freezeCount")), at: time)
        set(.frozen, milliseconds(counts.growth("frozen", to: object.number("totalFreezesDuration"))), at: time)
        set(.paused, counts.growth("pausesDuration", to: object.number("totalPausesDuration")), at: time)
    }

    private mutating func set(_ measure: Measure, _ value: Double?, at time: Double) {
        series[measure, default: Series()].append(value, at: time)
    }

    private func milliseconds(_ seconds: Double?) -> Double? { seconds.map { $0 * 1000 } }

    private func kilobits(_ bytes: Double, over interval: Double) -> Double { bytes * 8 / 1000 / interval }

    /// Returns the mean; nil if the count is zero.
    private func mean(_ sum: Double?, _ count: Double?) -> Double? {
        guard let sum, let count, count > 0 else { return nil }
        return sum / count
    }

    /// The minimum number of packets for a meaningful fraction.
    private static let leastForShare = 10.0

    private func percent(_ part: Double, of whole: Double) -> Double? {
        whole >= Self.leastForShare ? min(part / whole, 1) * 100 : nil
    }
}
