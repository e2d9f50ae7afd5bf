internal import RTCShareCongestionControl
internal import RTCShareICE
internal import RTCShareRTP
internal import RTCShareWireFormat

/// RTCP: what the peer reports and asks for, and what this side reports.
extension PeerConnection {
    /// Between two reports of a sender. RFC 3550 §6.2 has five seconds for large sessions; between two peers a second
    /// keeps the round trip time and the mapping of the clocks fresh.
    static var reportInterval: Duration { .seconds(1) }

    /// Takes a decrypted compound packet apart. What can't be read is counted; the rest counts.
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
            // Feedback knows of a queue that has just grown, which the smoothed time does not.
            let trip = roundTripTime ?? .zero
            outbound[index].video?.retransmit(
                nack.lost, as: index, to: &bandwidth.pacer,
                roundTripTime: max(trip, bandwidth.estimator.feedbackRoundTrip ?? .zero), now: now)
        case .pictureLossIndication(let indication):
            guard let index = senderIndex(of: indication.media) else { return counts.packetsUnknown += 1 }
            outbound[index].video?.stream.statistics.video.pliCount += 1
            outbound[index].video?.keyFrameRequests.request()
        case .fullIntraRequest(let request):
            for entry in request.entries {
                guard let index = senderIndex(of: entry.source), outbound[index].video?.isNew(entry) == true
                else { continue }
                outbound[index].video?.keyFrameRequests.request()
            }
        case .receiverEstimatedMaximumBitrate(let estimate):
            bandwidth.receive(estimate, now: now)
        case .transportFeedback(let report):
            bandwidth.receive(report, now: now)
        case .goodbye(let goodbye):
            take(goodbye)
        case .opaque:
            counts.packetsUnknown += 1
        case .sourceDescription(let description):
            if receivers.receive(description) { events.append(.remoteMediaChanged) }
        case .application:
            return
        }
    }

    /// A goodbye is said for sources. That of media ends the media: its sender may begin it again, and says by DTLS
    /// when it leaves. A peer of whom no media is expected has left when all have that reported in its name.
    private mutating func take(_ goodbye: Goodbye) {
        let areMedia = goodbye.sources.allSatisfy { receivers.isMediaSource($0) }
        for source in goodbye.sources { departed(source) }
        guard !areMedia, control.reporters.isEmpty, !receivers.media.contains(where: \.isActive) else { return }
        peerDidLeave()
    }

    private mutating func departed(_ source: SynchronizationSource) {
        control.forget(reporter: source)
        receivers.receiveGoodbye(of: source)
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
            // Encoders may want to know of the delay and the loss.
            bandwidth.allocation.isDue = true
            bandwidth.estimator.receive(report, packets: before.packetsReported(by: report), now: now)
            if outbound[index].audio != nil {
                events.append(.lossReported(fraction: report.fractionLost, media: index))
            }
            if let trip = report.roundTripTime {
                path.reportedRoundTripTime = outbound[index].stream?.reports.smoothedRoundTripTime
                bandwidth.estimator.setRoundTripTime(min(trip, roundTripTime ?? trip), now: now)
            }
            let trip = roundTripTime
            outbound[index].video?.protection?.policy.receive(
                report, packets: before.packetsReported(by: report), roundTripTime: trip, now: now)
        }
    }

    /// That of the path, as far as is known: of what reports and checks say the shorter. Either may have waited for who
    /// sent or read it, who then would take seconds for lost what is not.
    var roundTripTime: Duration? {
        [path.reportedRoundTripTime, ice.agent.selectedRoundTripTime].compactMap { $0 }.min()
    }

    private func senderIndex(of source: SynchronizationSource) -> Int? {
        outbound.firstIndex { $0.source == source && $0.isActive }
    }

    /// Wallclock time at an instant.
    func wallclock(at now: Instant) -> NTPTimestamp {
        NTPTimestamp(sinceUnixEpoch: configuration.unixTimeAtZero + .nanoseconds(now.nanoseconds))
    }

    /// Queues the reports that are due, and what the receivers ask for.
    mutating func queueControl(now: Instant) {
        guard transport.outbound != nil, !state.isOver else { return }
        // Between two paths reports fall due as ever, or their deadlines would stay in the past; they go nowhere.
        defer { if !path.isThere { control.clear() } }
        for index in outbound.indices where outbound[index].isActive {
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

    private mutating func queueReport(ofMedia index: Int, now: Instant) {
        guard let stream = outbound[index].stream, stream.statistics.packetsSent > 0,
            let report = outbound[index].senderReport(at: now, wallclock: wallclock(at: now))
        else { return }
        outbound[index].nextReport = now.advanced(by: Self.reportInterval)
        control.queue(writer(for: stream.source).datagrams(report: .senderReport(report)))
    }

    /// Says goodbye for one of this side's sources (RFC 3550 §6.6).
    mutating func queueGoodbye(ofMedia index: Int, now: Instant) {
        guard canSend, let stream = outbound[index].stream else { return }
        // Who has sent nothing is no sender, and reports as a receiver (RFC 3550 §6.4).
        let report =
            stream.statistics.packetsSent > 0
            ? outbound[index].senderReport(at: now, wallclock: wallclock(at: now)) : nil
        control.queue(
            writer(for: stream.source).datagrams(
                report: report.map { .senderReport($0) } ?? .receiverReport(ReceiverReport(source: stream.source)),
                feedback: [.goodbye(Goodbye(sources: [stream.source]))]))
    }

    /// Says goodbye for every source.
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
