package import RTCShareRTP
package import RTCShareWireFormat

/// An incoming Opus stream. It returns each packet once, in order of arrival, on a timeline that never wraps. It
/// requests no retransmissions: late audio is lost.
///
/// After each input call ``pollReportBlock(now:)`` and ``pollPacket()``, the latter until it returns nil. Call them
/// again at ``nextDeadline``.
package struct InboundAudioStream: Sendable {
    /// The negotiated values of the stream.
    package struct Configuration: Hashable, Sendable {
        /// The source of the stream.
        package var source: SynchronizationSource
        /// The payload type of Opus.
        package var payloadType: PayloadType
        /// The time between two receiver reports.
        package var reportInterval = Duration.seconds(1)

        /// Creates the configuration of a source with a payload type.
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

    /// Creates a stream before its first packet.
    package init(configuration: Configuration) {
        self.configuration = configuration
    }

    /// Creates a stream of another source that continues `old`: its packets continue the timeline, and its counts start
    /// at zero.
    init(configuration: Configuration, resuming old: InboundAudioStream) {
        self.configuration = configuration
        timeline = old.timeline
        timeline.restart()
        ready = old.ready
    }

    /// The source of the stream.
    package var source: SynchronizationSource { configuration.source }

    /// Continues with another payload type.
    mutating func setPayloadType(_ payloadType: PayloadType) {
        configuration.payloadType = payloadType
    }

    /// Processes a packet of the stream. `payload` is without padding, and `level` is from its header extension.
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
            // A packet of padding keeps its sequence number and has no samples.
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

    /// Processes a sender report of the stream. Other reports are ignored.
    package mutating func receive(_ report: SenderReport, now: Instant) {
        guard report.source == configuration.source else { return }
        reception.receive(report, now: now)
        clock.receive(report, now: now)
    }

    /// Returns the next packet, in order of arrival.
    package mutating func pollPacket() -> ReceivedAudioPacket? {
        ready.isEmpty ? nil : ready.removeFirst()
    }

    /// Returns the report block on the stream if it is due, for a receiver report on all streams of the connection.
    package mutating func pollReportBlock(now: Instant) -> ReportBlock? {
        guard let nextReport, nextReport <= now else { return nil }
        self.nextReport = now.advanced(by: configuration.reportInterval)
        return reception.reportBlock(on: configuration.source, now: now)
    }

    /// The next time to poll, after everything was polled; nil before the first packet.
    package var nextDeadline: Instant? { nextReport }

    /// The current counts.
    package var statistics: InboundAudioStatistics {
        var statistics = counts
        statistics.packetsLost = reception.packetsLost
        statistics.jitter = reception.jitter
        return statistics
    }
}
