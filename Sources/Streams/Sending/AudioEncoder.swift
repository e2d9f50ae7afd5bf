internal import Glibc
internal import RTCShareAudioCoding
internal import RTCShareLocks
internal import RTCShareMedia
internal import RTCShareRTP
internal import RTCShareWireFormat

/// A thread that converts and encodes the audio of a track, without blocking the track's source or the network.
///
/// The thread adds its sink to the track and removes it. The source passes a block and continues. Blocks wait in order.
final class AudioEncoder: Sendable {
    /// The parameters of the encoding.
    struct Order: Sendable, Hashable {
        var configuration: OpusEncoder.Configuration
        /// The number of samples per channel in a packet.
        var blockSize: Int
    }

    private let mailbox: Mailbox<Control>

    /// Starts the thread.
    init(_ order: Order) throws(WorkerThreadError) {
        let mailbox = Mailbox(Control(order: order))
        self.mailbox = mailbox
        _ = try WorkerThread(named: "audio encoder") {
            var worker = Worker()
            worker.run(mailbox)
        }
    }

    deinit {
        end()
    }

    /// Sets the parameters for the next blocks.
    func apply(_ order: Order) { mailbox.post { $0.order = order } }

    /// Encodes another track's audio, or none, from now on: no block of the previous track is accepted after this. The
    /// thread removes its sink from that track, and adds one to this. `onFrame` is called on the thread with each
    /// packet, `onMute` on the source's thread when the track is muted or unmuted.
    func replaceTrack(
        with track: AudioTrack?, onFrame: @escaping @Sendable (EncodedAudioFrame) -> Void,
        onMute: @escaping @Sendable (Bool) -> Void
    ) {
        replaceInput(with: track.map { Input($0, mailbox: mailbox, onFrame: onFrame, onMute: onMute) })
    }

    /// Requests the thread to remove its sink from the track and to end, which the release of the last reference does,
    /// too. Waiting blocks are not encoded.
    func end() { replaceInput(with: nil, isEnding: true) }

    private func replaceInput(with input: Input?, isEnding: Bool = false) {
        let before = mailbox.post { control -> Input? in
            guard !control.isEnding else { return nil }
            defer { control = Control(order: control.order, input: input, isEnding: isEnding) }
            return control.input
        }
        // A track without other references is released after the lock was.
        withExtendedLifetime(before) {}
    }
}

extension AudioEncoder {
    /// The sink for one track's audio; it accepts nothing after the encoder has changed to another track.
    fileprivate final class Input: AudioSink {
        let track: AudioTrack
        let onFrame: @Sendable (EncodedAudioFrame) -> Void
        private let onMute: @Sendable (Bool) -> Void
        private let mailbox: Mailbox<Control>

        /// The maximum number of waiting blocks, some seconds, after which the thread can't keep up.
        private static let maximumBlocks = 500

        init(
            _ track: AudioTrack, mailbox: Mailbox<Control>, onFrame: @escaping @Sendable (EncodedAudioFrame) -> Void,
            onMute: @escaping @Sendable (Bool) -> Void
        ) {
            self.track = track
            self.mailbox = mailbox
            self.onFrame = onFrame
            self.onMute = onMute
        }

        func receive(_ frame: AudioFrame) {
            let block = (frame, arrival: CaptureClock.now)
            mailbox.post { if $0.input === self, $0.blocks.count < Self.maximumBlocks { $0.blocks.append(block) } }
        }

        func muteDidChange(_ isMuted: Bool) { onMute(isMuted) }
    }

    fileprivate typealias Block = (frame: AudioFrame, arrival: Duration)

    /// The parameters and blocks that wait for the thread.
    fileprivate struct Control {
        var order: Order
        /// The sink whose blocks are encoded.
        var input: Input?
        var blocks: [Block] = []
        var isEnding = false
    }

    /// The thread's state: libopus, and the conversion before it.
    struct Worker {
        private var encoder: OpusEncoder?
        private var conformer: AudioConformer?
        /// The samples of each channel since the start, at 48 kHz: the media clock, the same for every peer.
        private var mediaTime: UInt64 = 0
        private var expectedTime: Duration?
        private var clock = SourceClock()
        private var isInSilence = true

        fileprivate mutating func run(_ mailbox: Mailbox<Control>) {
            var input: Input?
            while true {
                let (next, block, order) = mailbox.take { control -> Mailbox<Control>.Found<(Input?, Block?, Order)> in
                    if control.input === input, control.blocks.isEmpty, !control.isEnding { return .wait(until: nil) }
                    let block = control.blocks.isEmpty ? nil : control.blocks.removeFirst()
                    return .done((control.input, block, control.order))
                }
                if let input, let block {
                    for frame in encode(block.frame, by: order, now: block.arrival) { input.onFrame(frame) }
                } else if next !== input {
                    if let input { input.track.remove(input) }
                    input = next
                    restart()
                    if let next { next.track.add(next) }
                } else {
                    return
                }
            }
        }

        /// Resets the clock and the conversion, because the next block has another source.
        mutating func restart() {
            clock = SourceClock()
            conformer = nil
        }

        /// Encodes a block that arrived at `now`, on the monotonic clock.
        mutating func encode(_ frame: AudioFrame, by order: Order, now: Duration) -> [EncodedAudioFrame] {
            let frame = clock.stamp(frame, now: now)
            let (channels, size) = (order.configuration.channels, order.blockSize)
            let conformer =
                conformer.flatMap { $0.sampleCount == size ? $0 : nil }
                ?? AudioConformer(sampleRate: OpusEncoder.sampleRate, channels: channels, sampleCount: size)
            conformer.channels = channels
            self.conformer = conformer
            return conformer.process(frame).compactMap { encode(block: $0.frame, by: order.configuration) }
        }

        private mutating func encode(
            block: AudioFrame, by configuration: OpusEncoder.Configuration
        ) -> EncodedAudioFrame? {
            skipGap(before: block)
            let time = mediaTime
            mediaTime += UInt64(block.sampleCount)
            do {
                let encoder = try prepared(configuration)
                let outcome = try encoder.encode(block.samples)
                guard case .packet(let payload) = outcome else {
                    isInSilence = true
                    return nil
                }
                defer { isInSilence = false }
                // The first output of a decoder for this packet is earlier audio, by this delay.
                let lookahead = Duration.seconds(1) * encoder.lookahead / OpusEncoder.sampleRate
                return EncodedAudioFrame(
                    payload: payload, mediaTime: time, captureTime: block.timestamp - lookahead,
                    sampleCount: block.sampleCount, startsTalkspurt: isInSilence,
                    level: AudioLevel(block, isVoice: configuration.application == .voice))
            } catch {
                // libopus rejected a setting: the next block is tried with another encoder.
                encoder = nil
                return nil
            }
        }

        /// Adds the time in which nothing was sent to the media clock, because a source paused or was replaced.
        private mutating func skipGap(before block: AudioFrame) {
            defer { expectedTime = block.timestamp + block.duration }
            guard let expectedTime, block.timestamp > expectedTime + .milliseconds(60) else { return }
            let (seconds, attoseconds) = (block.timestamp - expectedTime).components
            let rate = Int64(OpusEncoder.sampleRate)
            let gap = seconds * rate + attoseconds / (1_000_000_000_000_000_000 / rate)
            mediaTime += UInt64(gap)
            isInSilence = true
        }

        private mutating func prepared(
            _ configuration: OpusEncoder.Configuration
        ) throws(AudioCodingError) -> OpusEncoder {
            if let encoder {
                try encoder.reconfigure(configuration)
                return encoder
            }
            let encoder = try OpusEncoder(configuration: configuration)
            self.encoder = encoder
            return encoder
        }
    }
}

/// Stamps the blocks of a source by the monotonic clock, whatever the clock of the source is.
private struct SourceClock {
    private var offset = Duration.zero
    private var end: Duration?

    /// The deviation from the arrival time above which a block's timestamp is of another clock.
    private static let largestDeviation = Duration.seconds(2)

    /// Returns the block with a timestamp near `now`, if it is the first or does not follow the one before.
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
    /// Creates the level of a block (RFC 6464 §3): its root mean square relative to full scale.
    init(_ block: AudioFrame, isVoice: Bool) {
        let sum = block.samples.reduce(0) { $0 + Double($1) * Double($1) }
        let meanSquare = block.samples.isEmpty ? 0 : sum / Double(block.samples.count)
        let decibels = meanSquare > 0 ? -10 * log10(meanSquare) : 127
        self.init(level: UInt8(min(max(decibels.rounded(), 0), 127)), isVoice: isVoice && decibels < 60)
    }
}
