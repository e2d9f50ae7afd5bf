internal import RTCShareAudioCoding
internal import RTCSharePeerConnection
internal import RTCShareTransport
internal import RTCShareWireFormat

/// The senders of one audio stream, which all send the same encoding: determines the active senders and the encoder's
/// parameters. Its owner encodes and sends.
struct AudioEncodingGroup<Sender: GroupMember> where Sender.State == AudioSender.State {
    /// The settings that the owner wants, before the peers' limits.
    var wanted: AudioSendStream.Settings
    /// Whether there is audio to encode.
    var isPlaying = false
    private(set) var senders: [Sender.ID: Sender] = [:]
    /// The senders of the next packet.
    private var receiving = SenderLists<Sender>()

    init(wanted: AudioSendStream.Settings) {
        self.wanted = wanted
    }

    // MARK: Events

    /// Adds a sender, which sends after a description has agreed to it.
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

    /// Sets the agreement of the descriptions, which may be unchanged.
    mutating func negotiated(_ agreement: SenderAgreement, of sender: Sender) {
        change(sender) { $0.agreement = agreement }
    }

    /// Activates or deactivates a sender.
    mutating func setActive(_ isActive: Bool, _ sender: Sender) { change(sender) { $0.isActive = isActive } }

    /// Sets the target bitrate of a sender's route.
    mutating func targetChanged(_ target: BitrateTarget, of sender: Sender) { change(sender) { $0.target = target } }

    /// Records the fraction of packets that a peer reported as lost, 0 to 1.
    func lossReported(_ share: Double, of sender: Sender) { sender.state.loss.note(share) }

    /// Changes the state of a sender, and with it whether it sends. The only place that does.
    private mutating func change(_ sender: Sender, _ body: (inout AudioSender.State) -> Void) {
        guard contains(sender) else { return }
        let wasSending = sender.state.phase == .sending
        body(&sender.state)
        // A target from before it became idle is outdated.
        if sender.state.phase == .idle { sender.state.target = nil }
        let isSending = sender.state.phase == .sending
        guard isSending != wasSending else { return }
        if isSending { receiving.insert(sender) } else { receiving.remove(sender) }
    }

    // MARK: Results

    /// Whether any sender sends, or would send with a higher bitrate.
    var hasViewer: Bool { senders.values.contains { $0.state.phase != .idle } }

    /// The senders of the next packet, in a list for each event loop.
    var recipients: [[Sender]] { receiving.lists }

    /// Returns the demand of a sender: zero while there is no audio.
    func demand(of sender: Sender) -> BitrateDemand {
        let state = sender.state
        guard contains(sender), state.phase != .idle, isPlaying else { return .zero }
        let rates = [state.parameters.maximumAverageBitrate, state.agreement.limits.maximumBitrate]
        let maximum = rates.compactMap { $0 }.reduce(max(wanted.bitrate, .zero), min)
        return BitrateDemand(
            minimum: min(leastBitrate, maximum), maximum: maximum, priority: wanted.isVoice ? .high : .medium)
    }

    /// The parameters of the encoder.
    var order: AudioEncoder.Order { AudioEncoder.Order(configuration: configuration, blockSize: blockSize) }

    /// The number of samples per channel in a packet: 20 ms, unless the peers' `ptime` and `maxptime` exclude that.
    private var blockSize: Int {
        let parameters = recipients.joined().map(\.state.parameters)
        let preferred = parameters.compactMap(\.packetTime).min() ?? .milliseconds(20)
        let longest = parameters.compactMap(\.maximumPacketTime).min() ?? preferred
        let sizes = OpusEncoder.blockSizes
        let limit = Int(min(preferred, longest) / .milliseconds(1) * Double(OpusEncoder.sampleRate) / 1000)
        let size = sizes.last { $0 <= limit } ?? sizes[0]
        return parameters.count > 1 ? max(size, AudioSharing.leastBlockSize) : size
    }

    /// The encoder's configuration: the wanted settings, within the peers' parameters (RFC 7587 §6.1) and their
    /// bitrates.
    ///
    /// With several peers, one request is sufficient for two channels or FEC: every receiver decodes two channels, and
    /// ignores FEC that it does not need. For everything else the strictest peer counts, which limits the influence of
    /// one peer on the others: packets of at least 10 ms, at least wideband and its bitrate, no variable bitrate (a
    /// constant one reveals nothing about speech, RFC 6562), no DTX, and bits for FEC if it reports losses. The bitrate
    /// is the lowest that any of them permits (`b=`, RFC 8866 §5.8) or has.
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

    /// Limits an encoding to a receiver's parameters and bitrate.
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

    /// The minimum useful bitrate: intelligible speech, recognizable music.
    private var leastBitrate: DataRate { .kilobitsPerSecond(wanted.isVoice ? 6 : 16) }
}

/// The limits of one peer's parameters for audio that others receive too: each shorter packet costs all of them its
/// headers, and each narrower band affects what they hear.
private enum AudioSharing {
    static let leastBlockSize = 480
    static let leastPlaybackRate = 16_000
}
