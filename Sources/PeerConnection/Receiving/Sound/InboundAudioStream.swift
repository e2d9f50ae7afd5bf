package import RTCShareRTP
package import RTCShareWireFormat

/// One incoming Opus stream: takes its packets and returns each once, in the order of arrival, on a timeline that never
/// wraps. Nothing is asked for again: sound that is late is lost.
///
/// After each input call ``pollReportBlock(now:)`` and ``pollPacket()``, the latter until nil; call them again at
/// ``nextDeadline``.
package struct InboundAudioStream: Sendable {
    /// What was negotiated for the stream.
    package struct Configuration: Hashable, Sendable {
        /// The stream.
        package var source: SynchronizationSource
        /// Opus' payload type.
        package var payloadType: PayloadType
        /// The time between two receiver reports.
        package var reportInterval = Duration.seconds(1)

        /// A stream under a payload type.
        package init(source: SynchronizationSource, payloadType: PayloadType) {
            self.source = source
            self.payloadType = payloadType
        }
    }

    private var configuration: Configuration
    private var reception = ReceiveStatistics(clockRate: EncodedAudioFrame.clockRate, minimumSequential: 1)
    private var timeline = AudioTimeline(clockRate: EncodedAudioFrame.clockRate)
    private var clock = MediaClock(clockRate: EncodedAudioFrame.clockRate)
    private var counts = InboundAudioStatistics()
    private var nextReport: Instant?
    private var ready: [ReceivedAudioPacket] = []

    /// A stream before its first packet.
    package init(configuration: Configuration) {
        self.configuration = configuration
    }

    /// A stream of another source that continues where `old` was: its packets continue the timeline, its counts begin
    /// at zero.
    init(configuration: Configuration, resuming old: InboundAudioStream) {
        self.configuration = configuration
        timeline = old.timeline
        timeline.restart()
        ready = old.ready
    }

    /// The stream that is received.
    package var source: SynchronizationSource { configuration.source }

    /// Goes on under another payload type.
    mutating func setPayloadType(_ payloadType: PayloadType) {
        configuration.payloadType = payloadType
    }

    /// Takes a packet of the stream; `payload` is its payload without padding, `level` what its header extension says.
    package mutating func receive(_ header: RTPHeader, level: AudioLevel?, payload: RawSpan, now: Instant) {
        counts.lastPacketReceivedTimestamp = now
        counts.packetsReceived += 1
        counts.bytesReceived += payload.byteCount
        counts.headerBytesReceived += header.byteCount + header.paddingByteCount
        if nextReport == nil { nextReport = now.advanced(by: configuration.reportInterval) }
        guard header.source == configuration.source, header.payloadType == configuration.payloadType else {
            counts.packetsRejected += 1
            return
        }
        switch reception.receive(header.sequenceNumber, timestamp: header.timestamp, now: now) {
        case .valid: break
        case .restarted:
            timeline.restart()
            clock.restart()
        case .probation, .implausible:
            counts.packetsRejected += 1
            return
        }
        take(header, level: level, payload: payload, now: now)
    }

    private mutating func take(_ header: RTPHeader, level: AudioLevel?, payload: RawSpan, now: Instant) {
        let sampleCount: Int
        do {
            // Padding alone keeps its place in the numbering and sounds like nothing.
            sampleCount = payload.byteCount == 0 ? 0 : try OpusPacket(parsing: payload).sampleCount
        } catch {
            counts.packetsRejected += 1
            return
        }
        guard
            let position = timeline.position(
                header.sequenceNumber, timestamp: header.timestamp, sampleCount: sampleCount, now: now)
        else {
            counts.packetsDuplicated += 1
            return
        }
        guard sampleCount > 0 else { return }
        if let level { counts.audioLevel = level.amplitude }
        ready.append(
            ReceivedAudioPacket(
                payload: [UInt8](payload), sequenceNumber: position.number, timestamp: position.timestamp,
                sampleCount: sampleCount, arrival: now,
                captureTime: clock.captureTime(of: header.timestamp, arrival: now), level: level,
                marker: header.marker))
    }

    /// Takes a sender report of the stream; others are left aside.
    package mutating func receive(_ report: SenderReport, now: Instant) {
        guard report.source == configuration.source else { return }
        reception.receive(report, now: now)
        clock.receive(report, now: now)
    }

    /// The next packet, in the order of arrival.
    package mutating func pollPacket() -> ReceivedAudioPacket? {
        ready.isEmpty ? nil : ready.removeFirst()
    }

    /// The report block on the stream, where one is due; for a receiver report of all streams of the connection.
    package mutating func pollReportBlock(now: Instant) -> ReportBlock? {
        guard let nextReport, nextReport <= now else { return nil }
        self.nextReport = now.advanced(by: configuration.reportInterval)
        return reception.reportBlock(on: configuration.source, now: now)
    }

    /// When polling is next worth it, after all was polled; nil before the first packet.
    package var nextDeadline: Instant? { nextReport }

    /// The counts as they are now.
    package var statistics: InboundAudioStatistics {
        var statistics = counts
        statistics.packetsLost = reception.packetsLost
        statistics.jitter = reception.jitter
        return statistics
    }
}
