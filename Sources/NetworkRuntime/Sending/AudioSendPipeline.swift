internal import Dispatch
internal import Glibc
internal import RTCShareAudioCoding
internal import RTCShareLocks
package import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareRTP
package import RTCShareWireFormat

/// From a track's sound to any number of peers: one encode for all of them, on a queue of its own.
///
///     track ─▶ 48 kHz, 20 ms blocks ─▶ Opus ─▶ each connection's event loop
package final class AudioSendPipeline: Sendable {
    /// What is wanted of the encoder, before the peers' limits.
    package struct Settings: Sendable, Hashable {
        /// Whether it is speech: then mono, with pauses left unsent.
        package var isVoice: Bool
        /// What the stream may take.
        package var bitrate: DataRate

        /// By default 32 kbit/s for speech, 128 kbit/s for whatever a machine plays.
        package init(isVoice: Bool, bitrate: DataRate? = nil) {
            self.isVoice = isVoice
            self.bitrate = bitrate ?? .kilobitsPerSecond(isVoice ? 32 : 128)
        }
    }

    private struct State {
        var settings: Settings
        var track: AudioTrack?
        var input: Input?
        var senders: [Known] = []
        var isMuted = false
        var isStopped = false

        /// What is played: nothing while nobody takes it.
        var playing: AudioTrack? { senders.contains(where: \.isActive) ? track : nil }

        mutating func change(_ sender: RTPSender, _ body: (inout Known) -> Void) {
            guard let index = senders.firstIndex(where: { $0.sender === sender }) else { return }
            body(&senders[index])
        }
    }

    /// A sender, and what is known of it.
    ///
    ///              agreed and included           the path has no bits for it
    ///     idle ───────────────────────▶ sending ◀─────────────────────────▶ silent
    ///      ▲                              │                 some            │
    ///      └── excluded, refused ─────────┴─────────────────────────────────┘
    private struct Known {
        let sender: RTPSender
        var agreement = SenderAgreement()
        var isIncluded: Bool
        var loss = ExpectedLoss()
        /// What its path has for this; nil until that is known.
        var target: BitrateTarget?

        mutating func setIncluded(_ isIncluded: Bool) {
            self.isIncluded = isIncluded
            // What was told before somebody went out is no news any more.
            target = nil
        }

        var isActive: Bool { isIncluded && agreement.media == .agreed }
        var isSending: Bool { isActive && target.map { $0.bitrate > .zero } ?? true }
        var parameters: OpusParameters { agreement.opus ?? OpusParameters(nil) }
    }

    private let state: Locked<State>
    /// The track that is listened to. Held while that changes; never within ``state``.
    private let listening = Locked<AudioTrack?>(nil)
    private let worker = QueueBound(
        AudioSendWorker(), to: DispatchQueue(label: "rtcshare.audio-encoder", qos: .userInitiated))

    /// A pipeline without a track.
    package init(settings: Settings) {
        state = Locked(State(settings: settings))
    }

    deinit {
        stop()
    }

    /// The track whose sound is sent.
    package var track: AudioTrack? { state.withLock { $0.track } }

    /// Sends this track's sound in place of what was before, in the same stream. Without a track, those who listen are told
    /// that the sound is gone.
    package func replaceTrack(with track: AudioTrack?) {
        state.withLock { if !$0.isStopped { $0.track = track } }
        listen()
        tellSending()
    }

    /// Has descriptions that are still to be made have a place for what begins, and for what is over none: what they agreed
    /// on is taken up again, or ended.
    private func tellSending() {
        state.withLock { state in
            guard !state.isStopped else { return }
            let isSending = state.track != nil
            for known in state.senders where isSending || known.agreement.media == .agreed {
                known.sender.setSending(isSending)
            }
        }
    }

    /// Listens to the present track. Not on an event loop: a source may take a while to let go.
    private func listen() {
        listening.withLock { listening in
            let track = state.withLock { $0.playing }
            guard track !== listening else { return }
            listening = track
            let input = track.map { Input(track: $0, pipeline: self) }
            let previous = state.withLock { state in
                state.isMuted = false
                defer { state.input = input }
                return state.input
            }
            if let previous { previous.track.remove(previous) }
            if let input { input.track.add(input) }
        }
        tellDemand()
    }

    /// Changes what is wanted of the running encoder.
    package func update(_ change: (inout Settings) -> Void) {
        state.withLock { change(&$0.settings) }
        tellDemand()
    }

    fileprivate func muteDidChange(_ isMuted: Bool, of input: Input) {
        state.withLock { if $0.input === input { $0.isMuted = isMuted } }
        tellDemand()
    }

    /// Below this the sound is not worth sending: intelligible speech, recognizable music.
    private static func leastBitrate(_ settings: Settings) -> DataRate {
        .kilobitsPerSecond(settings.isVoice ? 6 : 16)
    }

    /// What a peer's parameters don't take sound below that others are sent too: each shorter packet costs all of them its
    /// headers, and each narrower band what they hear.
    private static let leastSharedBlockSize = 480
    private static let leastSharedPlaybackRate = 16_000

    /// Tells a sender's connection, or each, what this would use of its path: nothing while there is nothing to play.
    private func tellDemand(of sender: RTPSender? = nil) {
        state.withLock { state in
            let settings = state.settings
            for known in state.senders where sender == nil || known.sender === sender {
                var demand = BitrateDemand.zero
                if known.isActive, state.playing != nil, !state.isMuted {
                    let rates = [known.parameters.maximumAverageBitrate, known.agreement.limits.maximumBitrate]
                    let maximum = rates.compactMap { $0 }.reduce(max(settings.bitrate, .zero), min)
                    let minimum = Self.leastBitrate(settings)
                    demand = BitrateDemand(
                        minimum: min(minimum, maximum), maximum: maximum,
                        priority: settings.isVoice ? .high : .medium)
                }
                known.sender.setDemand(demand)
            }
        }
    }

    /// Ends encoding.
    package func stop() {
        state.withLock { state in
            state.track = nil
            state.isStopped = true
        }
        listen()
    }

    /// Whether the peer at a connection declines it.
    package func isRefused(on connection: Connection) -> Bool {
        state.withLock { state in
            state.senders.contains { $0.sender.connection === connection && $0.agreement.media == .refused }
        }
    }

    /// Changes what is known of a sender, which it returns, and has what follows be done.
    private func change(_ body: (inout State) -> RTPSender?) {
        let (sender, isAnotherPlaying) = state.withLock { state in
            let before = state.playing
            let sender = body(&state)
            return (sender, state.playing !== before)
        }
        if isAnotherPlaying {
            DispatchQueue.global(qos: .userInitiated).async { [weak self] in self?.listen() }
        } else if let sender {
            tellDemand(of: sender)
        }
    }

    /// Takes a block on the source's thread, and leaves the work to the queue.
    fileprivate func receive(_ frame: AudioFrame, from input: Input) {
        worker.queue.async { [self] in
            let (isCurrent, settings, senders) = state.withLock {
                ($0.input === input, $0.settings, $0.senders.filter(\.isSending))
            }
            guard isCurrent else { return }
            let worker = worker.value
            worker.configuration = Self.configuration(settings, senders)
            worker.blockSize = Self.blockSize(senders)
            for encoded in worker.encode(frame, reset: worker.input !== input) {
                for known in senders { known.sender.connection.send(encoded, media: known.sender.media) }
            }
            worker.input = input
        }
    }

    /// Samples a channel in a packet: 20 ms where the peers' `ptime` and `maxptime` have nothing against it.
    private static func blockSize(_ senders: [Known]) -> Int {
        let preferred = senders.compactMap(\.parameters.packetTime).min() ?? .milliseconds(20)
        let longest = senders.compactMap(\.parameters.maximumPacketTime).min() ?? preferred
        let sizes = OpusEncoder.blockSizes
        let limit = Int(min(preferred, longest) / .milliseconds(1) * Double(AudioSendWorker.sampleRate) / 1000)
        let size = sizes.last { $0 <= limit } ?? sizes[0]
        return senders.count > 1 ? max(size, leastSharedBlockSize) : size
    }

    /// What the encoder is to make: what is wanted, as the peers ask for it (RFC 7587 §6.1) and their paths allow.
    ///
    /// With several, who asks for two channels or FEC has them: every receiver decodes two, and passes over FEC that it has
    /// no use for. In all else it is the strictest, and so much one peer takes from the others: packets down to 10 ms, a
    /// band down to wide and the bits for it, a rate that varies (a constant one tells nothing of what is said, RFC 6562),
    /// pauses that go unsent, and the bits for FEC where it reports losses. Bits are the least that any of them allows
    /// (`b=`, RFC 8866 §5.8) or has.
    private static func configuration(_ settings: Settings, _ senders: [Known]) -> OpusEncoder.Configuration {
        var configuration = OpusEncoder.Configuration(
            channels: settings.isVoice ? 1 : 2, application: settings.isVoice ? .voice : .music,
            bitrate: settings.bitrate)
        configuration.usesDTX = settings.isVoice
        if !senders.isEmpty {
            if !senders.contains(where: \.parameters.isStereo) { configuration.channels = 1 }
            configuration.usesInbandFEC = senders.contains(where: \.parameters.usesInbandFEC)
        }
        let isShared = senders.count > 1
        for known in senders {
            let parameters = known.parameters
            let limits = [parameters.maximumAverageBitrate, known.agreement.limits.maximumBitrate]
            for limit in limits.compactMap({ $0 }) {
                let rate = max(limit, isShared ? leastBitrate(settings) : .zero)
                configuration.bitrate = min(configuration.bitrate, rate)
            }
            if let limit = parameters.maximumPlaybackRate {
                let rate = isShared ? max(limit, leastSharedPlaybackRate) : limit
                configuration.maximumPlaybackRate = min(configuration.maximumPlaybackRate, rate)
            }
            if parameters.isConstantBitrate { configuration.isConstantBitrate = true }
            if !parameters.usesDTX { configuration.usesDTX = false }
            if let target = known.target {
                configuration.bitrate = min(configuration.bitrate, max(target.bitrate, leastBitrate(settings)))
            }
            let loss = known.loss.share(isVoice: settings.isVoice, atLeast: known.target?.fractionLost ?? 0)
            configuration.expectedLoss = max(configuration.expectedLoss, loss)
        }
        configuration.bitrate = max(configuration.bitrate, OpusEncoder.bitrates.lowerBound)
        return configuration
    }
}

extension AudioSendPipeline: SendingPipeline {
    package func add(_ sender: RTPSender, isIncluded: Bool) {
        change { state in
            guard !state.isStopped else { return nil }
            state.senders.removeAll { $0.sender.connection === sender.connection }
            state.senders.append(Known(sender: sender, isIncluded: isIncluded))
            if !isIncluded { sender.setHeldBack(true) }
            // Descriptions that are still to be made have a place for it.
            if state.track != nil { sender.setSending(true) }
            return sender
        }
    }

    package func remove(_ connection: Connection) {
        change { state in
            state.senders.removeAll { known in
                guard known.sender.connection === connection else { return false }
                known.sender.setDemand(.zero)
                return true
            }
            return nil
        }
    }

    package func setIncluded(_ isIncluded: Bool, on connection: Connection) {
        change { state in
            guard let known = state.senders.first(where: { $0.sender.connection === connection }),
                known.isIncluded != isIncluded
            else { return nil }
            state.change(known.sender) { $0.setIncluded(isIncluded) }
            known.sender.setHeldBack(!isIncluded)
            return known.sender
        }
    }

    package func sender(on connection: Connection) -> RTPSender? {
        state.withLock { state in state.senders.first { $0.sender.connection === connection }?.sender }
    }

    package func receive(_ feedback: SenderFeedback, of sender: RTPSender) {
        switch feedback {
        case .negotiated(let agreement):
            change { state in
                state.change(sender) { $0.agreement = agreement }
                return sender
            }
        case .target(let target): state.withLock { $0.change(sender) { $0.target = target } }
        case .lossReported(let share): state.withLock { $0.change(sender) { $0.loss.note(share) } }
        case .keyFrameRequested: return
        case .ended:
            change { state in
                state.senders.removeAll { $0.sender === sender }
                return nil
            }
        }
    }
}

/// Stands between one track and the pipeline.
private final class Input: AudioSink {
    let track: AudioTrack
    private let pipeline: @Sendable () -> AudioSendPipeline?

    init(track: AudioTrack, pipeline: AudioSendPipeline) {
        self.track = track
        self.pipeline = { [weak pipeline] in pipeline }
    }

    func receive(_ frame: AudioFrame) { pipeline()?.receive(frame, from: self) }

    func muteDidChange(_ isMuted: Bool) { pipeline()?.muteDidChange(isMuted, of: self) }
}

/// The encoder and what stands before it.
final class AudioSendWorker {
    /// What the encoder is to make, from the next block on.
    var configuration = OpusEncoder.Configuration(channels: 2, application: .music, bitrate: .kilobitsPerSecond(128))
    /// Whose blocks came last.
    fileprivate weak var input: Input?
    private var encoder: OpusEncoder?
    private var conformer: AudioConformer?
    /// Samples of each channel since the beginning, at 48 kHz: the media clock, the same for every peer.
    private var mediaTime: UInt64 = 0
    private var expectedTime: Duration?
    private var isInSilence = true

    static let sampleRate = 48_000
    /// Samples a channel in a packet, from the next block on.
    var blockSize = 960

    func encode(_ frame: AudioFrame, reset: Bool) -> [EncodedAudioFrame] {
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

extension AudioLevel {
    /// The level of a block (RFC 6464 §3): its root mean square against full scale.
    init(_ block: AudioFrame, isVoice: Bool) {
        let sum = block.samples.reduce(0) { $0 + Double($1) * Double($1) }
        let meanSquare = block.samples.isEmpty ? 0 : sum / Double(block.samples.count)
        let decibels = meanSquare > 0 ? -10 * log10(meanSquare) : 127
        self.init(level: UInt8(min(max(decibels.rounded(), 0), 127)), isVoice: isVoice && decibels < 60)
    }
}
