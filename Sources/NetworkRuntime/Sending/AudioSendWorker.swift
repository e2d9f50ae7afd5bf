internal import Glibc
internal import RTCShareAudioCoding
internal import RTCShareMedia
internal import RTCShareRTP
internal import RTCShareWireFormat

/// The encoder and what stands before it.
final class AudioSendWorker {
    /// What the encoder is to make, from the next block on.
    var configuration = OpusEncoder.Configuration(channels: 2, application: .music, bitrate: .kilobitsPerSecond(128))
    /// Whose blocks came last.
    weak var input: AudioSendInput?
    private var encoder: OpusEncoder?
    private var conformer: AudioConformer?
    /// Samples of each channel since the beginning, at 48 kHz: the media clock, the same for every peer.
    private var mediaTime: UInt64 = 0
    private var expectedTime: Duration?
    private var clock = SourceClock()
    private var isInSilence = true

    static let sampleRate = 48_000
    /// Samples a channel in a packet, from the next block on.
    var blockSize = 960

    /// Encodes a block that came `now`, on the monotonic clock; `reset` where the block before was another source's.
    func encode(_ frame: AudioFrame, reset: Bool, now: Duration) -> [EncodedAudioFrame] {
        if reset { clock = SourceClock() }
        let frame = clock.stamp(frame, now: now)
        if reset || conformer?.sampleCount != blockSize {
            conformer = AudioConformer(
                sampleRate: Self.sampleRate, channels: configuration.channels, sampleCount: blockSize)
        }
        conformer?.channels = configuration.channels
        return (conformer?.process(frame) ?? []).compactMap { encode(block: $0.frame) }
    }

    private func encode(block: AudioFrame) -> EncodedAudioFrame? {
        skipGap(before: block)
        let time = mediaTime
        mediaTime += UInt64(block.sampleCount)
        do {
            let encoder = try prepared()
            let outcome = try encoder.encode(block.samples)
            guard case .packet(let payload) = outcome else {
                isInSilence = true
                return nil
            }
            defer { isInSilence = false }
            // What a decoder puts out first for this packet is the sound of so much earlier.
            let lookahead = Duration.seconds(1) * encoder.lookahead / Self.sampleRate
            return EncodedAudioFrame(
                payload: payload, mediaTime: time, captureTime: block.timestamp - lookahead,
                sampleCount: block.sampleCount, startsTalkspurt: isInSilence,
                level: AudioLevel(block, isVoice: configuration.application == .voice))
        } catch {
            // A setting that libopus refuses: what follows is tried with an encoder made anew.
            encoder = nil
            return nil
        }
    }

    /// A source that paused, or was replaced, left time in which nothing was sent: the media clock goes on through it.
    private func skipGap(before block: AudioFrame) {
        defer { expectedTime = block.timestamp + block.duration }
        guard let expectedTime, block.timestamp > expectedTime + .milliseconds(60) else { return }
        let (seconds, attoseconds) = (block.timestamp - expectedTime).components
        let gap = seconds * Int64(Self.sampleRate) + attoseconds / (1_000_000_000_000_000_000 / Int64(Self.sampleRate))
        mediaTime += UInt64(gap)
        isInSilence = true
    }

    private func prepared() throws(AudioCodingError) -> OpusEncoder {
        if let encoder {
            try encoder.reconfigure(configuration)
            return encoder
        }
        let encoder = try OpusEncoder(configuration: configuration)
        self.encoder = encoder
        return encoder
    }
}

/// Stamps the blocks of a source by the monotonic clock, whatever clock the source has.
private struct SourceClock {
    private var offset = Duration.zero
    private var end: Duration?

    /// A block that begins this far from the time of its coming is of another clock.
    private static let largestDeviation = Duration.seconds(2)

    /// The block as of a time near `now`, if it is the first or does not follow the one before.
    mutating func stamp(_ frame: AudioFrame, now: Duration) -> AudioFrame {
        guard AudioConformer.instants.contains(frame.timestamp) else { return frame }
        let follows = end.map { Self.isNear(frame.timestamp, $0) } ?? false
        if !follows { offset = Self.isNear(frame.timestamp, now) ? .zero : now - frame.timestamp }
        end = frame.timestamp + frame.duration
        return offset == .zero ? frame : frame.stamped(frame.timestamp + offset)
    }

    private static func isNear(_ one: Duration, _ other: Duration) -> Bool {
        abs((one - other) / .seconds(1)) <= largestDeviation / .seconds(1)
    }
}

extension AudioLevel {
    /// The level of a block (RFC 6464 §3): its root mean square against full scale.
    init(_ block: AudioFrame, isVoice: Bool) {
        let sum = block.samples.reduce(0) { $0 + Double($1) * Double($1) }
        let meanSquare = block.samples.isEmpty ? 0 : sum / Double(block.samples.count)
        let decibels = meanSquare > 0 ? -10 * log10(meanSquare) : 127
        self.init(level: UInt8(min(max(decibels.rounded(), 0), 127)), isVoice: isVoice && decibels < 60)
    }
}
