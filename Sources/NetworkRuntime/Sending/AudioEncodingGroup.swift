internal import RTCShareAudioCoding
internal import RTCSharePeerConnection
internal import RTCShareWireFormat

/// The senders of one sound, who all are sent the same encoding: who is, and what it is made at. What is known, and what
/// follows from it; whoever has it encodes and sends.
struct AudioEncodingGroup<Sender: Hashable> {
    /// What is wanted, before the peers' limits.
    var wanted: AudioSendPipeline.Settings
    /// Whether there is something to hear.
    var isPlaying = false
    private(set) var senders: [Sender: AudioSenderState] = [:]

    init(wanted: AudioSendPipeline.Settings) {
        self.wanted = wanted
    }

    // MARK: What happens

    /// Somebody may be sent to, once a description takes it.
    mutating func add(_ sender: Sender, isIncluded: Bool) {
        senders[sender] = AudioSenderState(isIncluded: isIncluded)
    }

    /// Nothing more is sent there.
    mutating func remove(_ sender: Sender) { senders[sender] = nil }

    /// What the descriptions say has changed, maybe.
    mutating func negotiated(_ agreement: SenderAgreement, of sender: Sender) {
        senders[sender]?.negotiated(agreement)
    }

    /// Somebody is to be sent what there is, or not any more.
    mutating func setIncluded(_ isIncluded: Bool, _ sender: Sender) { senders[sender]?.setIncluded(isIncluded) }

    /// What a path has is another.
    mutating func targetChanged(_ target: BitrateTarget, of sender: Sender) { senders[sender]?.targetChanged(target) }

    /// Somebody's newest report misses this share of its packets, 0 to 1.
    mutating func lossReported(_ share: Double, of sender: Sender) { senders[sender]?.lossReported(share) }

    // MARK: What follows

    /// Whether anybody is sent something, or would be if its path had room.
    var hasActive: Bool { senders.values.contains(where: \.isActive) }

    /// Those who are sent what is encoded next.
    var recipients: [Sender] { senders.filter { $0.value.phase == .sending }.map(\.key) }

    /// What a sender would use of its path: nothing while there is nothing to hear.
    func demand(of sender: Sender) -> BitrateDemand {
        guard let state = senders[sender], state.isActive, isPlaying else { return .zero }
        let rates = [state.parameters.maximumAverageBitrate, state.agreement.limits.maximumBitrate]
        let maximum = rates.compactMap { $0 }.reduce(max(wanted.bitrate, .zero), min)
        return BitrateDemand(
            minimum: min(leastBitrate, maximum), maximum: maximum, priority: wanted.isVoice ? .high : .medium)
    }

    /// Samples a channel in a packet: 20 ms where the peers' `ptime` and `maxptime` have nothing against it.
    func blockSize(for recipients: [Sender]) -> Int {
        let parameters = recipients.compactMap { senders[$0]?.parameters }
        let preferred = parameters.compactMap(\.packetTime).min() ?? .milliseconds(20)
        let longest = parameters.compactMap(\.maximumPacketTime).min() ?? preferred
        let sizes = OpusEncoder.blockSizes
        let limit = Int(min(preferred, longest) / .milliseconds(1) * Double(AudioSendWorker.sampleRate) / 1000)
        let size = sizes.last { $0 <= limit } ?? sizes[0]
        return recipients.count > 1 ? max(size, AudioSharing.leastBlockSize) : size
    }

    /// What the encoder is to make: what is wanted, as the peers ask for it (RFC 7587 §6.1) and their paths allow.
    ///
    /// With several, who asks for two channels or FEC has them: every receiver decodes two, and passes over FEC that it has
    /// no use for. In all else it is the strictest, and so much one peer takes from the others: packets down to 10 ms, a
    /// band down to wide and the bits for it, a rate that varies (a constant one tells nothing of what is said, RFC 6562),
    /// pauses that go unsent, and the bits for FEC where it reports losses. Bits are the least that any of them allows
    /// (`b=`, RFC 8866 §5.8) or has.
    func configuration(for recipients: [Sender]) -> OpusEncoder.Configuration {
        var configuration = OpusEncoder.Configuration(
            channels: wanted.isVoice ? 1 : 2, application: wanted.isVoice ? .voice : .music, bitrate: wanted.bitrate)
        configuration.usesDTX = wanted.isVoice
        let states = recipients.compactMap { senders[$0] }
        if !states.isEmpty {
            if !states.contains(where: \.parameters.isStereo) { configuration.channels = 1 }
            configuration.usesInbandFEC = states.contains(where: \.parameters.usesInbandFEC)
        }
        for state in states { apply(state, to: &configuration, isShared: states.count > 1) }
        configuration.bitrate = max(configuration.bitrate, OpusEncoder.bitrates.lowerBound)
        return configuration
    }

    /// Takes from an encoding what one who is sent it asks for, or has no bits for.
    private func apply(
        _ state: AudioSenderState, to configuration: inout OpusEncoder.Configuration, isShared: Bool
    ) {
        let parameters = state.parameters
        for limit in [parameters.maximumAverageBitrate, state.agreement.limits.maximumBitrate].compactMap({ $0 }) {
            configuration.bitrate = min(configuration.bitrate, max(limit, isShared ? leastBitrate : .zero))
        }
        if let limit = parameters.maximumPlaybackRate {
            let rate = isShared ? max(limit, AudioSharing.leastPlaybackRate) : limit
            configuration.maximumPlaybackRate = min(configuration.maximumPlaybackRate, rate)
        }
        if parameters.isConstantBitrate { configuration.isConstantBitrate = true }
        if !parameters.usesDTX { configuration.usesDTX = false }
        if let target = state.target {
            configuration.bitrate = min(configuration.bitrate, max(target.bitrate, leastBitrate))
        }
        let loss = state.loss.share(isVoice: wanted.isVoice, atLeast: state.target?.fractionLost ?? 0)
        configuration.expectedLoss = max(configuration.expectedLoss, loss)
    }

    /// Below this the sound is not worth sending: intelligible speech, recognizable music.
    private var leastBitrate: DataRate { .kilobitsPerSecond(wanted.isVoice ? 6 : 16) }
}

/// What a peer's parameters don't take sound below that others are sent too: each shorter packet costs all of them its
/// headers, and each narrower band what they hear.
private enum AudioSharing {
    static let leastBlockSize = 480
    static let leastPlaybackRate = 16_000
}
