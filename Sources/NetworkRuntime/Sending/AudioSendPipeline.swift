internal import AudioCoding
internal import Dispatch
internal import Glibc
internal import Locks
public import Media
public import PeerConnection
internal import RTP
internal import WireFormat

/// From a track's sound to any number of peers: one encode for all of them, on a queue of its own.
///
///     track ─▶ 48 kHz, 20 ms blocks ─▶ Opus ─▶ each connection's event loop
public final class AudioSendPipeline: Sendable {
    /// What is wanted of the encoder, before the peers' limits.
    public struct Settings: Sendable, Hashable {
        /// Whether it is speech: then mono, with pauses left unsent.
        public var isVoice: Bool
        /// Bits a second for the stream.
        public var bitsPerSecond: Int

        /// By default 32 kbit/s for speech, 128 kbit/s for whatever a machine plays.
        public init(isVoice: Bool, bitsPerSecond: Int? = nil) {
            self.isVoice = isVoice
            self.bitsPerSecond = bitsPerSecond ?? (isVoice ? 32_000 : 128_000)
        }
    }

    private struct State {
        var settings: Settings
        var inlet: Inlet?
        var destinations: [Destination] = []
        var isMuted = false
        var isStopped = false
    }

    private struct Destination {
        let connection: Connection
        let media: Int
        var parameters = OpusParameters(nil)
        /// What its description says of this section.
        var limits = SendingLimits()
        var loss = ExpectedLoss()
        /// What its path has for this.
        var target: BitrateTarget?
    }

    private let state: Locked<State>
    private let worker = QueueBound(
        AudioSendWorker(), to: DispatchQueue(label: "rtcshare.audio-encoder", qos: .userInitiated))

    /// A pipeline without a track.
    public init(settings: Settings) {
        state = Locked(State(settings: settings))
    }

    deinit {
        stop()
    }

    /// The track whose sound is sent.
    public var track: AudioTrack? { state.withLock { $0.inlet?.track } }

    /// Sends this track's sound in place of what was before, in the same stream.
    public func replaceTrack(with track: AudioTrack?) {
        let inlet = track.map { Inlet(track: $0, pipeline: self) }
        let (previous, isStopped) = state.withLock { state in
            let previous = state.inlet
            if !state.isStopped {
                state.inlet = inlet
                state.isMuted = false
            }
            return (previous, state.isStopped)
        }
        guard !isStopped else { return }
        if let previous { previous.track.remove(previous) }
        tellDemand()
        if let inlet { inlet.track.add(inlet) }
    }

    /// Sends what is encoded from now on to this connection too, as its media of this index.
    public func attach(_ connection: Connection, media: Int) {
        state.withLock { $0.destinations.append(Destination(connection: connection, media: media)) }
        tellDemand()
    }

    /// Sends nothing more to this connection.
    public func detach(_ connection: Connection) {
        state.withLock { state in
            for destination in state.destinations where destination.connection === connection {
                connection.setDemand(.zero, media: destination.media)
            }
            state.destinations.removeAll { $0.connection === connection }
        }
    }

    /// Keeps to what a connection's peer asks (RFC 7587 §6.1).
    ///
    /// With several, who asks for two channels or FEC has them: every receiver decodes two, and passes over FEC that it has
    /// no use for. In all else it is the strictest, and so much one peer takes from the others: packets down to 10 ms, a
    /// band down to wide and the bits for it, a rate that varies (a constant one tells nothing of what is said, RFC 6562),
    /// pauses that go unsent, and the bits for FEC where it reports losses.
    public func keep(to parameters: OpusParameters, of connection: Connection) {
        change(connection) { $0.parameters = parameters }
    }

    /// Keeps to the bitrate that a connection's peer allows for the section (`b=`, RFC 8866 §5.8); with several, to the least.
    public func keep(to limits: SendingLimits, of connection: Connection) {
        change(connection) { $0.limits = limits }
        tellDemand()
    }

    /// Keeps to what a connection's path has for this, from the next packet on; with several, to the least. Where that is
    /// nothing, nothing is sent to it.
    public func keep(to target: BitrateTarget, of connection: Connection) {
        change(connection) { $0.target = target }
    }

    /// Takes note of the share of packets, 0 to 1, that a peer's newest report misses: Opus spends bits on repairing them.
    public func note(loss: Double, of connection: Connection) {
        change(connection) { $0.loss.note(loss) }
    }

    /// Changes what is wanted of the running encoder.
    public func update(_ change: (inout Settings) -> Void) {
        state.withLock { change(&$0.settings) }
        tellDemand()
    }

    fileprivate func muteDidChange(_ isMuted: Bool, of inlet: Inlet) {
        state.withLock { if $0.inlet === inlet { $0.isMuted = isMuted } }
        tellDemand()
    }

    /// Below this the sound is not worth sending: intelligible speech, recognizable music.
    private static func leastBitrate(_ settings: Settings) -> Int { settings.isVoice ? 6000 : 16_000 }

    /// What a peer's wishes don't take sound below that others are sent too: each shorter packet costs all of them its
    /// headers, and each narrower band what they hear.
    private static let leastSharedBlockSize = 480
    private static let leastSharedPlaybackRate = 16_000

    /// Tells each connection what this would use of its path: nothing while there is nothing to play.
    private func tellDemand() {
        let (settings, destinations, isIdle) = state.withLock {
            ($0.settings, $0.destinations, $0.inlet == nil || $0.isMuted)
        }
        for destination in destinations {
            var demand = BitrateDemand.zero
            if !isIdle {
                let rates = [destination.parameters.maximumAverageBitrate, destination.limits.maximumBitrate]
                let wanted = DataRate.bitsPerSecond(max(settings.bitsPerSecond, 0))
                let maximum = rates.compactMap { $0 }.reduce(wanted, min)
                let minimum = DataRate.bitsPerSecond(Self.leastBitrate(settings))
                demand = BitrateDemand(
                    minimum: min(minimum, maximum), maximum: maximum,
                    priority: settings.isVoice ? .high : .medium)
            }
            destination.connection.setDemand(demand, media: destination.media)
        }
    }

    /// Ends encoding.
    public func stop() {
        replaceTrack(with: nil)
        state.withLock { $0.isStopped = true }
    }

    private func change(_ connection: Connection, _ body: (inout Destination) -> Void) {
        state.withLock { state in
            for index in state.destinations.indices where state.destinations[index].connection === connection {
                body(&state.destinations[index])
            }
        }
    }

    /// Takes a block on the source's thread, and leaves the work to the queue.
    fileprivate func receive(_ frame: AudioFrame, from inlet: Inlet) {
        worker.queue.async { [self] in
            let (isCurrent, settings, destinations) = state.withLock {
                // To a path that has nothing for it, nothing is sent.
                (
                    $0.inlet === inlet, $0.settings,
                    $0.destinations.filter { $0.target.map { $0.bitrate > .zero } ?? true }
                )
            }
            guard isCurrent else { return }
            let worker = worker.value
            worker.configuration = Self.configuration(settings, destinations)
            worker.blockSize = Self.blockSize(destinations)
            for encoded in worker.encode(frame, reset: worker.inlet !== inlet) {
                for destination in destinations { destination.connection.send(encoded, media: destination.media) }
            }
            worker.inlet = inlet
        }
    }

    /// Samples a channel in a packet: 20 ms where the peers' `ptime` and `maxptime` have nothing against it.
    private static func blockSize(_ destinations: [Destination]) -> Int {
        let preferred = destinations.compactMap(\.parameters.packetTime).min() ?? .milliseconds(20)
        let longest = destinations.compactMap(\.parameters.maximumPacketTime).min() ?? preferred
        let sizes = OpusEncoder.blockSizes
        let limit = Int(min(preferred, longest) / .milliseconds(1) * Double(AudioSendWorker.sampleRate) / 1000)
        let size = sizes.last { $0 <= limit } ?? sizes[0]
        return destinations.count > 1 ? max(size, leastSharedBlockSize) : size
    }

    private static func configuration(_ settings: Settings, _ destinations: [Destination]) -> OpusEncoder.Configuration
    {
        var configuration = OpusEncoder.Configuration(
            channels: settings.isVoice ? 1 : 2, application: settings.isVoice ? .voice : .music,
            bitsPerSecond: settings.bitsPerSecond)
        configuration.usesDTX = settings.isVoice
        if !destinations.isEmpty {
            if !destinations.contains(where: \.parameters.isStereo) { configuration.channels = 1 }
            configuration.usesInbandFEC = destinations.contains(where: \.parameters.usesInbandFEC)
        }
        let isShared = destinations.count > 1
        for destination in destinations {
            let parameters = destination.parameters
            for limit in [parameters.maximumAverageBitrate, destination.limits.maximumBitrate].compactMap({ $0 }) {
                let rate = max(Int(clamping: limit.bitsPerSecond), isShared ? leastBitrate(settings) : 0)
                configuration.bitsPerSecond = min(configuration.bitsPerSecond, rate)
            }
            if let limit = parameters.maximumPlaybackRate {
                let rate = isShared ? max(limit, leastSharedPlaybackRate) : limit
                configuration.maximumPlaybackRate = min(configuration.maximumPlaybackRate, rate)
            }
            if parameters.isConstantBitrate { configuration.isConstantBitrate = true }
            if !parameters.usesDTX { configuration.usesDTX = false }
            if let target = destination.target {
                let rate = max(Int(clamping: target.bitrate.bitsPerSecond), leastBitrate(settings))
                configuration.bitsPerSecond = min(configuration.bitsPerSecond, rate)
            }
            let loss = destination.loss.share(
                isVoice: settings.isVoice, atLeast: destination.target?.fractionLost ?? 0)
            configuration.expectedLoss = max(configuration.expectedLoss, loss)
        }
        configuration.bitsPerSecond = max(configuration.bitsPerSecond, OpusEncoder.bitrates.lowerBound)
        return configuration
    }
}

/// Stands between one track and the pipeline.
private final class Inlet: AudioSink {
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
    var configuration = OpusEncoder.Configuration(channels: 2, application: .music, bitsPerSecond: 128_000)
    /// Whose blocks came last.
    fileprivate weak var inlet: Inlet?
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
