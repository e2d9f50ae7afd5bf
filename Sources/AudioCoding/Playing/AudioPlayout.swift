package import RTCShareMedia

/// Converts Opus packets into a steady audio stream, with a jitter buffer and a decoder. One thread at a time can use
/// it.
///
/// Time is a parameter. Timestamps of the result are on the same clock as `now`.
package final class AudioPlayout {
    /// The number of samples per channel in each frame, 20 ms.
    package static let frameSampleCount = 960

    /// The number of channels, 1 or 2, whatever the packets have.
    package let channels: Int
    /// The RTP timestamp (extended, 48 kHz) of the first sample in the last frame; nil before the first.
    package private(set) var playedTimestamp: Int64?
    /// The number of packets that the decoder rejected and that were concealed like lost ones.
    package private(set) var undecodablePackets = 0

    private var buffer = AudioJitterBuffer()
    private let decoder: OpusDecoder
    /// The decoded samples, with the time and the RTP timestamp of the first one, both in samples.
    private var pending: [Float] = []
    private var pendingDue: Int64 = 0
    private var pendingTimestamp: Int64 = 0
    private var stepsUntilScaling = 0
    /// The number of samples per channel for which the delay was off its target without a way to correct it.
    private var unscaled = 0

    /// The difference from the target, 15 ms, that is corrected: smaller ones are temporary.
    private static let tolerance = 720
    /// The minimum number of packets between corrections by a period: the speed changes by at most a tenth.
    private static let scalingInterval = 5
    /// The time after which audio without a period, such as noise and much music, is corrected anyway: 2 s, and then
    /// twice per second. An occasional seam is better than a permanent delay.
    private static let patience = 96_000

    /// Creates a playout with `channels` channels, 1 or 2.
    package init(channels: Int) throws(AudioCodingError) {
        decoder = try OpusDecoder(channels: channels)
        self.channels = channels
    }

    /// The counts so far.
    package var statistics: JitterBufferStatistics { buffer.statistics }

    /// The minimum delay of packets, whatever the jitter is, for synchronization with slower video. At most a second
    /// counts.
    package var minimumDelay: Duration {
        get { AudioJitterBuffer.duration(buffer.minimumTarget) }
        set { buffer.minimumTarget = AudioJitterBuffer.samples(max(newValue, .zero)) }
    }

    /// The current delay of packets.
    package var currentDelay: Duration { buffer.currentDelay }

    /// The time of the next pull; nil before the first packet.
    package var nextPull: Duration? {
        guard pending.count < Self.frameSampleCount * channels else { return AudioJitterBuffer.duration(pendingDue) }
        return buffer.nextDue
    }

    /// Stores a packet, in any order. An invalid one counts as discarded.
    package func insert(sequenceNumber: Int64, timestamp: Int64, payload: [UInt8], now: Duration) {
        // The buffer rejects and counts a sample count of 0.
        let sampleCount = (try? OpusPacketLayout.sampleCount(of: payload)) ?? 0
        buffer.insert(
            sequenceNumber: sequenceNumber, timestamp: timestamp, payload: payload, sampleCount: sampleCount, now: now)
    }

    /// Returns the next 20 ms at 48 kHz; nil if they are not due yet. Call it until it returns nil, at ``nextPull`` or
    /// at a steady interval of 20 ms or less.
    ///
    /// The frame's timestamp is the time at which its first sample should be played.
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

    /// Moves the delay toward its target, by a period at a time.
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
