internal import RTCShareAudioCoding
internal import RTCSharePeerConnection
internal import RTCShareTransport
internal import RTCShareWireFormat

/// The senders of one audio, which all are sent the same encoding: which senders are, and what it is made at. Its owner encodes
/// and sends.
struct AudioEncodingGroup<Sender: GroupMember> where Sender.State == AudioSender.State {
    /// What is wanted, before the peers' limits.
    var wanted: AudioSendStream.Settings
    /// Whether there is something to play.
    var isPlaying = false
    private(set) var senders: [Sender.ID: Sender] = [:]
    /// The senders that are sent what is encoded next.
    private var receiving = SenderLists<Sender>()

    init(wanted: AudioSendStream.Settings) {
        self.wanted = wanted
    }

    // MARK: What happens

    /// Adds a sender, which is sent something once a description takes it.
    mutating func add(_ sender: Sender, isActive: Bool) {
        sender.state = AudioSender.State(isActive: isActive)
        senders[sender.id] = sender
    }

    /// Removes a sender.
    mutating func remove(_ sender: Sender) {
        change(sender) { $0.isActive = false }
        if contains(sender) { senders[sender.id] = nil }
    }

    private func contains(_ sender: Sender) -> Bool { senders[sender.id] === sender }

    /// Takes what the descriptions say, which may be the same as before.
    mutating func negotiated(_ agreement: SenderAgreement, of sender: Sender) {
        change(sender) { $0.agreement = agreement }
    }

    /// Sends to a sender, or stops that.
    mutating func setActive(_ isActive: Bool, _ sender: Sender) { change(sender) { $0.isActive = isActive } }

    /// Takes what a sender's path has.
    mutating func targetChanged(_ target: BitrateTarget, of sender: Sender) { change(sender) { $0.target = target } }

    /// A peer's newest report misses this share of its packets, 0 to 1.
    func lossReported(_ share: Double, of sender: Sender) { sender.state.loss.note(share) }

    /// Changes what is known of a sender, and with it whether it is sent something. The only place that does.
    private mutating func change(_ sender: Sender, _ body: (inout AudioSender.State) -> Void) {
        guard contains(sender) else { return }
        let wasSending = sender.state.phase == .sending
        body(&sender.state)
        // A target from before it became idle is out of date.
        if sender.state.phase == .idle { sender.state.target = nil }
        let isSending = sender.state.phase == .sending
        guard isSending != wasSending else { return }
        if isSending { receiving.insert(sender) } else { receiving.remove(sender) }
    }

    // MARK: What follows

    /// Whether any sender is sent something, or would be if its path had room.
    var hasViewer: Bool { senders.values.contains { $0.state.phase != .idle } }

    /// The senders that are sent what is encoded next, in a list for each event loop.
    var recipients: [[Sender]] { receiving.lists }

    /// What a sender would use of its path: nothing while there is nothing to play.
    func demand(of sender: Sender) -> BitrateDemand {
        let state = sender.state
        guard contains(sender), state.phase != .idle, isPlaying else { return .zero }
        let rates = [state.parameters.maximumAverageBitrate, state.agreement.limits.maximumBitrate]
        let maximum = rates.compactMap { $0 }.reduce(max(wanted.bitrate, .zero), min)
        return BitrateDemand(
            minimum: min(leastBitrate, maximum), maximum: maximum, priority: wanted.isVoice ? .high : .medium)
    }

    /// What the encoder is to make.
    var order: AudioEncoder.Order { AudioEncoder.Order(configuration: configuration, blockSize: blockSize) }

    /// Samples a channel in a packet: 20 ms where the peers' `ptime` and `maxptime` have nothing against it.
    private var blockSize: Int {
        let parameters = recipients.joined().map(\.state.parameters)
        let preferred = parameters.compactMap(\.packetTime).min() ?? .milliseconds(20)
        let longest = parameters.compactMap(\.maximumPacketTime).min() ?? preferred
        let sizes = OpusEncoder.blockSizes
        let limit = Int(min(preferred, longest) / .milliseconds(1) * Double(OpusEncoder.sampleRate) / 1000)
        let size = sizes.last { $0 <= limit } ?? sizes[0]
        return parameters.count > 1 ? max(size, AudioSharing.leastBlockSize) : size
    }

    /// What the encoder is to make: what is wanted, as the peers ask for it (RFC 7587 §6.1) and their paths allow.
    ///
    /// With several, who asks for two channels or FEC has them: every receiver decodes two, and passes over FEC that it has
    /// no use for. In all else it is the strictest, and so much one peer takes from the others: packets down to 10 ms, a
    /// band down to wide and the bits for it, a rate that varies (a constant one tells nothing of what is said, RFC 6562),
    /// pauses that go unsent, and the bits for FEC where it reports losses. Bits are the least that any of them allows
    /// (`b=`, RFC 8866 §5.8) or has.
    var configuration: OpusEncoder.Configuration {
        var configuration = OpusEncoder.Configuration(
            channels: wanted.isVoice ? 1 : 2, application: wanted.isVoice ? .voice : .music, bitrate: wanted.bitrate)
        configuration.usesDTX = wanted.isVoice
        let senders = Array(recipients.joined())
        if !senders.isEmpty {
            if !senders.contains(where: \.state.parameters.isStereo) { configuration.channels = 1 }
            configuration.usesInbandFEC = senders.contains(where: \.state.parameters.usesInbandFEC)
        }
        for sender in senders { apply(sender.state, to: &configuration, isShared: senders.count > 1) }
        configuration.bitrate = max(configuration.bitrate, OpusEncoder.bitrates.lowerBound)
        return configuration
    }

    /// Takes from an encoding what one who is sent it asks for, or has no bits for.
    private func apply(
        _ state: AudioSender.State, to configuration: inout OpusEncoder.Configuration, isShared: Bool
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
