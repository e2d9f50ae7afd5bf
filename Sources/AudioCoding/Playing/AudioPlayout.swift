package import RTCShareMedia

/// From Opus packets as they come to an even stream of sound: jitter buffer and decoder. Used from one thread at a time.
///
/// Time is a parameter; timestamps of what is played are on the same clock as the `now` that is passed.
package final class AudioPlayout {
    /// Samples a channel in each frame, 20 ms.
    package static let frameSampleCount = 960

    /// 1 or 2, whatever the packets have.
    package let channels: Int
    /// The RTP timestamp (extended, 48 kHz) of the first sample of the frame that was pulled last; nil before it.
    package private(set) var playedTimestamp: Int64?
    /// Packets that the decoder refused and that were concealed like lost ones.
    package private(set) var undecodablePackets = 0

    private var buffer = AudioJitterBuffer()
    private let decoder: OpusDecoder
    /// Decoded and not pulled, with the instant and the RTP timestamp of its first sample, both in samples.
    private var pending: [Float] = []
    private var pendingDue: Int64 = 0
    private var pendingTimestamp: Int64 = 0
    private var stepsUntilScaling = 0
    /// Samples a channel since the wait was off its target and nothing was found by which to correct it.
    private var unscaled = 0

    /// A wait that is this much off its target is corrected, 15 ms: less comes and goes by itself.
    private static let tolerance = 720
    /// A period in at most every fifth packet: the speed changes by no more than a tenth.
    private static let scalingInterval = 5
    /// Sound without a period, as noise and much music is, is corrected all the same after 2 s, and then twice a second:
    /// a seam now and then is less than a wait that never ends.
    private static let patience = 96_000

    /// Playing with `channels` channels, 1 or 2.
    package init(channels: Int) throws(AudioCodingError) {
        decoder = try OpusDecoder(channels: channels)
        self.channels = channels
    }

    /// The counts so far.
    package var statistics: JitterBufferStatistics { buffer.statistics }

    /// How long they are to wait at least, whatever the jitter is: for pictures that take longer. At most a second counts.
    package var minimumDelay: Duration {
        get { AudioJitterBuffer.duration(buffer.minimumTarget) }
        set { buffer.minimumTarget = AudioJitterBuffer.samples(max(newValue, .zero)) }
    }

    /// How long they wait.
    package var currentDelay: Duration { buffer.currentDelay }

    /// When to pull next; nil before the first packet.
    package var nextPull: Duration? {
        guard pending.count < Self.frameSampleCount * channels else { return AudioJitterBuffer.duration(pendingDue) }
        return buffer.nextDue
    }

    /// Takes a packet, in any order; one that is no Opus packet is counted as discarded.
    package func insert(sequenceNumber: Int64, timestamp: Int64, payload: [UInt8], now: Duration) {
        // A count of 0 is refused by the buffer, which counts it.
        let sampleCount = (try? OpusPacketLayout.sampleCount(of: payload)) ?? 0
        buffer.insert(
            sequenceNumber: sequenceNumber, timestamp: timestamp, payload: payload, sampleCount: sampleCount, now: now)
    }

    /// The next 20 ms at 48 kHz; nil when they are not due yet. To be called until it gives nil, at ``nextPull`` or at
    /// a steady pace of 20 ms or less.
    ///
    /// The frame's timestamp is when its first sample is to be heard.
    package func pull(now: Duration) throws(AudioCodingError) -> AudioFrame? {
        let length = Self.frameSampleCount * channels
        while pending.count < length {
            let step = buffer.pop(now: now)
            if case .wait = step { return nil }
            let samples = try sound(of: step)
            pendingDue = buffer.stepDue - Int64(pending.count / channels)
            pendingTimestamp = buffer.stepTimestamp - Int64(pending.count / channels)
            pending.append(contentsOf: scaled(samples))
        }
        let frame = AudioFrame(
            samples: Array(pending[..<length]), channels: channels, sampleRate: OpusDecoder.sampleRate,
            timestamp: AudioJitterBuffer.duration(pendingDue))
        playedTimestamp = pendingTimestamp
        pending.removeFirst(length)
        pendingDue += Int64(Self.frameSampleCount)
        pendingTimestamp += Int64(Self.frameSampleCount)
        return frame
    }

    private func sound(of step: AudioJitterBuffer.Step) throws(AudioCodingError) -> [Float] {
        switch step {
        case .wait: return []
        case .packet(let payload, let sampleCount):
            do throws(AudioCodingError) {
                return try decoder.decode(payload)
            } catch {
                undecodablePackets += 1
                return try decoder.conceal(sampleCount: sampleCount)
            }
        case .recover(let following, let sampleCount):
            do throws(AudioCodingError) {
                return try decoder.decodeLost(following: following, sampleCount: sampleCount)
            } catch {
                return try decoder.conceal(sampleCount: sampleCount)
            }
        case .conceal(let sampleCount): return try decoder.conceal(sampleCount: sampleCount)
        case .silence(let sampleCount): return [Float](repeating: 0, count: sampleCount * channels)
        }
    }

    /// Brings the wait nearer to its target, a period at a time.
    private func scaled(_ samples: [Float]) -> [Float] {
        let surplus = buffer.surplus
        guard abs(surplus) > Self.tolerance else {
            unscaled = 0
            stepsUntilScaling = max(stepsUntilScaling - 1, 0)
            return samples
        }
        unscaled += samples.count / channels
        if stepsUntilScaling > 0 {
            stepsUntilScaling -= 1
            return samples
        }
        let anyway = unscaled > Self.patience
        if surplus > 0 {
            guard
                let (samples, removed) = TimeScaling.shortened(
                    samples, channels: channels, limit: surplus, anyway: anyway)
            else { return samples }
            buffer.shorten(by: removed)
            didScale()
            return samples
        }
        guard
            let (samples, added) = TimeScaling.lengthened(
                samples, channels: channels, limit: -surplus, anyway: anyway)
        else { return samples }
        buffer.lengthen(by: added)
        didScale()
        return samples
    }

    private func didScale() {
        stepsUntilScaling = Self.scalingInterval - 1
        unscaled = max(0, unscaled - Self.patience / 4)
    }
}
