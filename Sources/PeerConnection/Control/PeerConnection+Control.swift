internal import RTCShareCongestionControl
internal import RTCShareICE
internal import RTCShareRTP
internal import RTCShareWireFormat

/// RTCP: the peer's reports and requests, and this side's reports.
extension PeerConnection {
    /// The interval of a sender's reports. RFC 3550 §6.2 has five seconds for large sessions. Between two peers, a
    /// second keeps the round-trip time and the mapping of the clocks current.
    static var reportInterval: Duration { .seconds(1) }

    /// Processes a decrypted compound packet. Malformed packets are counted; the others are processed.
    mutating func receiveControl(_ compound: RawSpan, now: Instant) {
        guard let packets = control.parse(compound, now: now) else {
            counts.packetsUnknown += 1
            return
        }
        bandwidth.peerSpoke(now: now)
        for packet in packets { receive(packet, now: now) }
    }

    private mutating func receive(_ packet: RTCPPacket, now: Instant) {
        switch packet {
        case .senderReport(let report):
            control.note(reporter: report.source)
            receivers.receive(report, now: now)
            take(report.reportBlocks, now: now)
        case .receiverReport(let report):
            control.note(reporter: report.source)
            take(report.reportBlocks, now: now)
        case .genericNACK(let nack):
            guard let index = senderIndex(of: nack.media) else { return counts.packetsUnknown += 1 }
            // TCP delivers everything that it has accepted: what is missing was sent before, and a key frame replaces it.
            guard !path.isStream else { return }
            takeLoss(requested: nack, media: index, now: now)
            // Feedback, or a recent report, includes a queue that has just grown, but the smoothed time does not.
            let recent =
                bandwidth.estimator.feedbackRoundTrip
                ?? outbound[index].stream?.reports.recentRoundTripTime(at: wallclock(at: now))
            let trip = max(roundTripTime ?? .zero, recent ?? .zero)
            outbound[index].video?.retransmit(
                nack.lost, as: index, to: &bandwidth.pacer, roundTripTime: trip, now: now)
        case .pictureLossIndication(let indication):
            guard let index = senderIndex(of: indication.media) else { return counts.packetsUnknown += 1 }
            outbound[index].video?.stream.statistics.video.pliCount += 1
            takeKeyFrameRequest(media: index, now: now)
        case .fullIntraRequest(let request):
            for entry in request.entries {
                guard let index = senderIndex(of: entry.source), outbound[index].video?.isNew(entry) == true
                else { continue }
                takeKeyFrameRequest(media: index, now: now)
            }
        case .temporaryMaximumBitrate(let limits):
            // This side requests none, of which it would be notified.
            guard !limits.isNotification else { return }
            for entry in limits.entries { limit(entry, owner: limits.sender, now: now) }
        case .receiverEstimatedMaximumBitrate(let estimate):
            bandwidth.receive(estimate, now: now)
        case .transportFeedback(let report):
            bandwidth.receive(report, now: now)
        case .goodbye(let goodbye):
            take(goodbye, now: now)
        case .opaque:
            counts.packetsUnknown += 1
        case .sourceDescription(let description):
            if receivers.receive(description) { events.append(.remoteMediaChanged) }
        case .application:
            return
        }
    }

    /// Limits a video as the peer requests, until its next request for the same video (RFC 5104 §4.2). The peer is the only
    /// receiver, so that its latest limit alone is the bounding set (§3.5.4.2). The notification follows at once.
    private mutating func limit(
        _ entry: TemporaryMaximumBitrate.Entry, owner: SynchronizationSource, now: Instant
    ) {
        guard let index = senderIndex(of: entry.source), outbound[index].video != nil else {
            counts.packetsUnknown += 1
            return
        }
        setLimit(.init(source: owner, bitrate: entry.bitrate, overhead: entry.overhead), media: index, now: now)
    }

    private mutating func setLimit(_ limit: TemporaryMaximumBitrate.Entry?, media: Int, now: Instant) {
        let wasPaused = isPausedByPeer(media: media)
        outbound[media].requestedLimit = limit
        outbound[media].owesNotification = true
        bandwidth.allocation.isDue = true
        guard wasPaused, !isPausedByPeer(media: media) else { return }
        // The encoder gets its bitrate before the request for the key frame with which a paused stream resumes.
        allocateBitrate(now: now)
        outbound[media].video?.keyFrameRequests.request()
    }

    /// Handles a goodbye for sources. That of a media source ends the media. Its sender can restart it, and reports the
    /// end of the connection by DTLS. A peer without expected media has left when all of its reporting sources have.
    private mutating func take(_ goodbye: Goodbye, now: Instant) {
        let areMedia = goodbye.sources.allSatisfy { receivers.isMediaSource($0) }
        for source in goodbye.sources { departed(source, now: now) }
        guard !areMedia, control.reporters.isEmpty, !receivers.media.contains(where: \.isActive) else { return }
        peerDidLeave()
    }

    private mutating func departed(_ source: SynchronizationSource, now: Instant) {
        control.forget(reporter: source)
        receivers.receiveGoodbye(of: source)
        // A limit ends with the receiver that has requested it (RFC 5104 §4.2).
        for index in outbound.indices where outbound[index].requestedLimit?.source == source {
            setLimit(nil, media: index, now: now)
        }
    }

    private mutating func take(_ blocks: [ReportBlock], now: Instant) {
        let arrival = wallclock(at: now)
        for block in blocks {
            guard let index = senderIndex(of: block.source), let before = outbound[index].stream,
                let report = outbound[index].withStream({ stream in
                    stream.isSourceKnown = true
                    return stream.reports.receive(block, arrival: arrival)
                })
            else { continue }
            // The delay and the loss may have to be reported to encoders.
            bandwidth.allocation.isDue = true
            let packets = before.packetsReported(by: report)
            let compared =
                usesRequestedLoss
                ? outbound[index].video?.requestedLoss.receive(
                    report, packets: packets, bytesSent: counts.bytesSent, now: now) : nil
            let sample = compared ?? LossSample(fractionLost: report.fractionLost, packets: packets)
            bandwidth.estimator.receive(sample, now: now)
            if outbound[index].audio != nil {
                events.append(.lossReported(fraction: report.fractionLost, media: index))
            }
            if let trip = report.roundTripTime {
                path.reportedRoundTripTime = outbound[index].stream?.reports.smoothedRoundTripTime
                bandwidth.estimator.setRoundTripTime(min(trip, roundTripTime ?? trip), now: now)
            }
            let trip = roundTripTime
            outbound[index].video?.protection?.policy.receive(sample, roundTripTime: trip, now: now)
        }
    }

    private var usesRequestedLoss: Bool {
        configuration.congestionDeviations.contains(.requestedLoss) && bandwidth.sentPackets.feedbackReceived == 0
    }

    /// Lowers the rate for the loss that a request shows, and protects frames against it, if the peer gives no feedback
    /// on single packets.
    private mutating func takeLoss(requested nack: GenericNACK, media: Int, now: Instant) {
        guard usesRequestedLoss, let newest = outbound[media].stream?.sequenceNumber.advanced(by: -1),
            let sample = outbound[media].video?.requestedLoss.receive(nack.lost, newestSent: newest, now: now)
        else { return }
        bandwidth.allocation.isDue = true
        // Requests can omit most lost packets, so that little loss neither lets the rate grow nor ends correction.
        if !sample.isLow { bandwidth.estimator.receive(sample, now: now) }
        // A loss of everything is a conclusion, and was not measured.
        if (LossPolicy.notableLoss..<1).contains(sample.fractionLost) {
            let trip = roundTripTime
            outbound[media].video?.protection?.policy.receive(sample, roundTripTime: trip, now: now)
        }
        guard sample.isHigh else { return }
        for index in outbound.indices {
            guard let newest = outbound[index].stream?.sequenceNumber.advanced(by: -1) else { continue }
            outbound[index].video?.requestedLoss.skip(to: newest)
        }
    }

    private mutating func takeKeyFrameRequest(media: Int, now: Instant) {
        let sent = outbound[media].stream?.statistics.video.keyFramesSent ?? 0
        outbound[media].video?.requestedLoss.receiveKeyFrameRequest(sent: sent, now: now)
        outbound[media].video?.keyFrameRequests.request()
    }

    /// The round-trip time of the path, if known: the shorter one of reports and checks. Either can include the delays
    /// of the peer's or our process, and would be misinterpreted as loss.
    var roundTripTime: Duration? {
        [path.reportedRoundTripTime, ice.agent.selectedRoundTripTime].compactMap { $0 }.min()
    }

    private func senderIndex(of source: SynchronizationSource) -> Int? {
        outbound.firstIndex { $0.source == source && $0.isActive }
    }

    /// Returns the wallclock time at an instant.
    func wallclock(at now: Instant) -> NTPTimestamp {
        NTPTimestamp(sinceUnixEpoch: configuration.unixTimeAtZero + .nanoseconds(now.nanoseconds))
    }

    /// Queues the reports that are due, and the requests of receivers.
    mutating func queueControl(now: Instant) {
        guard transport.outbound != nil, !state.isOver else { return }
        // Without a path, reports are due as usual, so that no deadline stays in the past, but they are not sent.
        defer { if !path.isThere { control.clear() } }
        for index in outbound.indices where outbound[index].isActive {
            notifyOfLimit(ofMedia: index)
            if let due = outbound[index].nextReport, due > now { continue }
            queueReport(ofMedia: index, now: now)
        }
        for index in receivers.media.indices {
            guard let due = receivers.pollControl(of: index, now: now) else { continue }
            control.queue(
                writer(for: due.source).datagrams(
                    report: due.report.map { .receiverReport($0) }, feedback: due.feedback))
        }
        if let due = receivers.pollTransportFeedback(now: now) {
            control.queue(
                writer(for: due.source).datagrams(feedback: due.reports.map { .transportFeedback($0) }))
        }
    }

    /// Queues the notification of a requested limit, if the peer is yet to get it.
    private mutating func notifyOfLimit(ofMedia index: Int) {
        guard outbound[index].owesNotification, let source = outbound[index].source else { return }
        outbound[index].owesNotification = false
        let limits = TemporaryMaximumBitrate(
            isNotification: true, sender: source, entries: outbound[index].requestedLimit.map { [$0] } ?? [])
        control.queue(writer(for: source).datagrams(feedback: [.temporaryMaximumBitrate(limits)]))
    }

    private mutating func queueReport(ofMedia index: Int, now: Instant) {
        guard let stream = outbound[index].stream, stream.statistics.packetsSent > 0,
            let report = outbound[index].senderReport(at: now, wallclock: wallclock(at: now))
        else { return }
        outbound[index].nextReport = now.advanced(by: Self.reportInterval)
        control.queue(writer(for: stream.source).datagrams(report: .senderReport(report)))
    }

    /// Queues a goodbye for one of this side's sources (RFC 3550 §6.6).
    mutating func queueGoodbye(ofMedia index: Int, now: Instant) {
        guard canSend, let stream = outbound[index].stream else { return }
        // A source that has sent nothing is not a sender, and reports as a receiver (RFC 3550 §6.4).
        let report =
            stream.statistics.packetsSent > 0
            ? outbound[index].senderReport(at: now, wallclock: wallclock(at: now)) : nil
        control.queue(
            writer(for: stream.source).datagrams(
                report: report.map { .senderReport($0) } ?? .receiverReport(ReceiverReport(source: stream.source)),
                feedback: [.goodbye(Goodbye(sources: [stream.source]))]))
    }

    /// Queues a goodbye for every source.
    mutating func queueGoodbye(now: Instant) {
        guard canSend else { return }
        for index in outbound.indices where outbound[index].isActive { queueGoodbye(ofMedia: index, now: now) }
        for media in receivers.media {
            control.queue(
                writer(for: media.localSource).datagrams(
                    report: .receiverReport(ReceiverReport(source: media.localSource)),
                    feedback: [.goodbye(Goodbye(sources: [media.localSource]))]))
        }
    }

    private func writer(for source: SynchronizationSource) -> RTCPBundleWriter {
        RTCPBundleWriter(
            source: source, canonicalName: identity.canonicalName,
            subgroup: outbound.first { $0.source == source }?.subgroup,
            allowsReducedSize: negotiated?.acceptedMedia.allSatisfy(\.hasReducedSizeRTCP) ?? false)
    }
}
