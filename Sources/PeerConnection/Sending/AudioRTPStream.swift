internal import RTCShareCongestionControl
internal import RTCShareRTP
internal import RTCShareWireFormat

/// The RTP stream of one audio source: a packet for each frame, before all video.
struct AudioRTPStream: Sendable {
    var stream: OutgoingStream
    /// The statistics of the sent audio.
    private(set) var source = AudioSourceStats()
    /// The media time and the capture time of the newest frame.
    private var newest: (mediaTime: UInt64, captureTime: Duration)?
    /// The number of packets per second.
    private(set) var packetsPerSecond = 50

    init(parameters: OutgoingStream.Parameters, random: inout some RandomNumberGenerator) {
        stream = OutgoingStream(parameters: parameters, clockRate: EncodedAudioFrame.clockRate, random: &random)
    }

    /// Queues a frame's packet.
    mutating func enqueue(
        _ frame: EncodedAudioFrame, as media: Int, to pacer: inout Pacer<PacedPacket>, now: Instant
    ) {
        source.count(frame)
        newest = (frame.mediaTime, frame.captureTime)
        packetsPerSecond = EncodedAudioFrame.clockRate / min(max(120, frame.sampleCount), EncodedAudioFrame.clockRate)
        pacer.enqueue(
            .sound(frame, media: UInt32(media)), size: frame.payload.count + RTPHeader.fixedByteCount, priority: .sound,
            now: now)
    }

    /// Writes the packet of a frame.
    mutating func write(
        _ frame: EncodedAudioFrame, to writer: inout ByteWriter,
        transportSequenceNumber: inout TransportSequenceNumber, now: Instant
    ) throws(EndOfBytes) {
        var extensions = stream.stampedExtensions(&transportSequenceNumber, now: now)
        extensions.audioLevel = frame.level
        let start = writer.offset
        let header = OutgoingRTPHeader(
            marker: frame.startsTalkspurt, payloadType: stream.parameters.payloadType,
            sequenceNumber: stream.sequenceNumber, timestamp: frame.timestamp(offset: stream.timestampOffset),
            source: stream.source, extensions: extensions)
        try header.write(to: &writer, map: stream.parameters.extensions)
        let payload = frame.payload
        let bytes = payload.span.bytes
        try writer.write(bytes)
        stream.advance(
            payload: frame.payload.count, header: writer.offset - start - frame.payload.count)
    }

    /// Returns the current sender report.
    ///
    /// Media time counts samples of a sound card, which has its own clock. So this uses the newest frame and the time
    /// since its capture, and reports of audio and video that were captured together agree.
    func senderReport(at now: Instant, wallclock: NTPTimestamp) -> SenderReport {
        let (mediaTime, captureTime) = newest ?? (0, .nanoseconds(now.nanoseconds))
        let timestamp = RTPTimestamp(
            mediaTime: .nanoseconds(now.nanoseconds) - captureTime, clockRate: EncodedAudioFrame.clockRate,
            offset: RTPTimestamp(stream.timestampOffset.rawValue &+ UInt32(truncatingIfNeeded: mediaTime)))
        return stream.senderReport(timestamp: timestamp, wallclock: wallclock)
    }
}

/// The members of W3C `RTCAudioSourceStats`, which count sent audio, without the silence that is not sent.
struct AudioSourceStats: Encodable, Sendable {
    /// The level of the newest packet, 0...1; nil if it is not known.
    private(set) var audioLevel: Double?
    private(set) var totalAudioEnergy = 0.0
    private(set) var totalSamplesDuration = Duration.zero

    mutating func count(_ frame: EncodedAudioFrame) {
        let duration = Duration.seconds(Double(max(0, frame.sampleCount)) / Double(EncodedAudioFrame.clockRate))
        totalSamplesDuration += duration
        audioLevel = frame.level?.amplitude
        guard let audioLevel else { return }
        totalAudioEnergy += audioLevel * audioLevel * duration.seconds
    }
}
