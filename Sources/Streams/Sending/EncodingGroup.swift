internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareRTP
internal import RTCShareTransport
internal import RTCShareVideoCoding
internal import RTCShareWireFormat

/// The senders of one video and its encodings: determines the encoding of each sender, and the settings of each
/// encoding. It works in virtual time. Its owner carries out the actions of ``takeAction()``, and sends.
///
/// An encoding (W3C's `RTCRtpEncodingParameters`) is one encoder with its settings. Encoding 0, of the best quality in the
/// first codec, always exists, others exist while a sender has their quality and codec.
struct EncodingGroup<Sender: GroupMember> where Sender.State == VideoSender.State {
    enum Action: Hashable {
        /// Start an encoder of this codec, with the same content as the others.
        case begin(Int, VideoCodec)
        /// End an encoding without senders.
        case end(Int)
        /// Make a key frame of an encoding, not before a time.
        case makeKeyFrame(Int, notBefore: Duration)
        /// Set the demand of all senders: an encoder has failed, or failed ones are retried.
        case updateDemand
    }

    /// The settings that the owner wants, before the peers' limits.
    var wanted: VideoEncoder.Settings
    /// The hint of the best encoding's last frame, which its encoder may have found in the content; nil before the first.
    var shownHint: ContentHint?
    /// The parameters of the layers of a simulcast, the best first; empty for the usual values.
    private var layers: [VideoLayerParameters] = []
    /// The priority of this video over others on the same route.
    let priority: BitratePriority
    /// Whether there is video to encode.
    var isShowing = false {
        didSet { hasShown = hasShown || isShowing }
    }
    /// Whether there was video to encode at any time, so that there is a pause while there is none.
    private var hasShown = false
    /// Whether encoding 0 is recorded, so that it is encoded even without senders.
    var isRecorded = false
    private(set) var senders: [Sender.ID: Sender] = [:]
    /// The current senders of each encoding.
    private var receiving: [Int: SenderLists<Sender>] = [:]
    private var keyFrames = KeyFrameSchedule()
    /// The time of the next requested key frame of each encoding.
    private var nextKeyFrames: [Int: Duration] = [:]
    /// The quality and the codec of an encoding.
    private struct Variant: Hashable {
        let quality: Int
        let codec: VideoCodec
    }

    /// The codecs, the best first. Each sender has the first one that its peer accepts.
    private(set) var codecs: [VideoCodec]
    /// The codec of encoding 0.
    private let firstCodec: VideoCodec
    /// The codecs of which no encoder could be made.
    private(set) var failedCodecs: Set<VideoCodec> = []
    /// The encodings whose encoders fail with all frames.
    private var failingEncodings: Set<Int> = []
    private var encodings: [Variant: Int]
    private var encodingsSoFar = 1
    private var actions: [Action] = []
    private var lastMoves = Duration.zero

    /// The interval at which qualities are reassigned.
    static var moveInterval: Duration { .milliseconds(200) }

    /// Creates a group without senders. Encoding 0 has the first of the codecs.
    init(wanted: VideoEncoder.Settings, codecs: [VideoCodec] = [.all[0]], priority: BitratePriority = .medium) {
        self.wanted = wanted
        self.codecs = codecs
        self.priority = priority
        firstCodec = codecs.first ?? .all[0]
        encodings = [Variant(quality: 0, codec: firstCodec): 0]
    }

    /// Removes and returns the next action; nil if there is none.
    mutating func takeAction() -> Action? { actions.isEmpty ? nil : actions.removeFirst() }

    // MARK: Events

    /// Adds a sender, which sends after a description has agreed to it.
    mutating func add(_ sender: Sender, layer: SimulcastLayer = SimulcastLayer(), isActive: Bool) {
        sender.state = VideoSender.State(isActive: isActive, layer: layer)
        sender.state.isLayerActive = parameters(of: sender)?.active ?? true
        senders[sender.id] = sender
    }

    /// Removes a sender.
    mutating func remove(_ sender: Sender, now: Duration) {
        guard contains(sender) else { return }
        senders[sender.id] = nil
        guard !sender.state.isIdle else { return }
        setPhase(.idle, of: sender)
        // The qualities and rates of the others may have depended on it.
        move(now: now)
    }

    private func contains(_ sender: Sender) -> Bool { senders[sender.id] === sender }

    /// Sets the agreement of the descriptions, which may be unchanged.
    mutating func negotiated(_ agreement: SenderAgreement, of sender: Sender, now: Duration) {
        guard contains(sender) else { return }
        sender.state.agreement = agreement
        if startOrStop(sender, now: now) { return }
        chooseCodec(for: sender, now: now)
        move(now: now)
    }

    /// Sets the codecs, the best first. Senders whose codec changes send the other one from its key frame on.
    mutating func setCodecs(_ codecs: [VideoCodec], now: Duration) {
        guard codecs != self.codecs else { return }
        self.codecs = codecs
        retryFailed(now: now)
        for sender in senders.values { chooseCodec(for: sender, now: now) }
        endUnused()
    }

    /// Activates or deactivates a sender.
    mutating func setActive(_ isActive: Bool, _ sender: Sender, now: Duration) {
        guard contains(sender) else { return }
        sender.state.isActive = isActive
        sender.state.hasFailed = false
        startOrStop(sender, now: now)
    }

    /// Sets the parameters of the layers. One that becomes active begins with a key frame.
    mutating func setLayers(_ layers: [VideoLayerParameters], now: Duration) {
        guard layers != self.layers else { return }
        self.layers = layers
        for sender in senders.values {
            let isActive = parameters(of: sender)?.active ?? true
            if isActive, !sender.state.isLayerActive { sender.state.hasFailed = false }
            sender.state.isLayerActive = isActive
            startOrStop(sender, now: now)
        }
        move(now: now)
    }

    /// Returns the parameters of a sender's layer; nil for the usual values, and for a single stream. Those of the best
    /// layer are the video's, except whether it is active: it shares its encoding with direct viewers.
    private func parameters(of sender: Sender) -> VideoLayerParameters? {
        let layer = sender.state.layer
        guard !layer.isSingle, layers.indices.contains(layer.index) else { return nil }
        return layer.index > 0 ? layers[layer.index] : VideoLayerParameters(active: layers[0].active)
    }

    /// Sets the target bitrate of a sender's route. In a pause, one of zero has no effect.
    mutating func targetChanged(_ target: BitrateTarget, of sender: Sender, now: Duration) {
        // A target from before a sender became idle is outdated.
        guard !sender.state.isIdle else { return }
        let (rate, wasQueueFull) = (sender.state.rate, sender.state.isQueueFull)
        var target = target
        // In a pause, a route has no bitrate for the sender because the sender has no demand. It keeps its former
        // bitrate: it misses no frames, and needs no key frame after the pause.
        if hasShown, !isShowing, target.bitrate == .zero, let rate { target.bitrate = rate }
        sender.state.target = target
        if sender.state.isQueueFull || wasQueueFull { withhold(in: encoding(of: sender), now: now) }
        // A key frame that was too large for the encoding's rate before may be small for this one.
        if target.bitrate != rate { hurryKeyFrame(for: sender, now: now) }
    }

    /// Records that a peer has stopped answering, or answers again. A sender whose peer does not answer sends the same
    /// as others, as long as its queue has room. No encoding depends on its bitrate, and no key frame is made for it.
    mutating func setUnresponsive(_ isUnresponsive: Bool, _ sender: Sender, now: Duration) {
        guard contains(sender) else { return }
        sender.state.isUnresponsive = isUnresponsive
        move(now: now)
        guard !sender.state.isIdle else { return }
        withhold(in: encoding(of: sender), now: now)
        for sender in senders.values { hurryKeyFrame(for: sender, now: now) }
    }

    /// Schedules a key frame that a peer requested. A withheld sender gets one when it rejoins. A key frame that is
    /// already due answers this request, too.
    mutating func keyFrameRequested(by sender: Sender, now: Duration) {
        guard !sender.state.isIdle, !sender.state.isWithheld else { return }
        if let next = nextKeyFrames[encoding(of: sender)], next <= now { return }
        let hasFurtherLayers = sender.layers.contains { $0.state.agreement.media == .agreed }
        makeKeyFrame(for: sender, hasFurtherLayers ? .bestLayer : .request, now: now)
    }

    /// Restarts an encoding with a key frame for all its senders, because it has another track.
    mutating func keyFrameNeeded(of encoding: Int, now: Duration) {
        let rate = settings(of: encoding, now: now).bitrate
        makeKeyFrame(of: encoding, notBefore: keyFrames.earliest(of: encoding, at: rate))
    }

    /// Records a key frame of an encoding; a blurred one will be sharpened.
    mutating func keyFrameMade(of encoding: Int, byteCount: Int, isBlurred: Bool, now: Duration) {
        let rate = settings(of: encoding, now: now).bitrate
        let isRequested = nextKeyFrames.removeValue(forKey: encoding) != nil
        keyFrames.made(
            of: encoding, byteCount: byteCount, at: rate, isBlurred: isBlurred, isRequested: isRequested, now: now)
    }

    /// Handles the failure to create an encoder for an encoding. The senders of its quality use the first encoding, and
    /// those of another codec than that another codec. A further layer of a simulcast pauses instead of the first
    /// encoding, whose limits it would lower to its own, until there is another track or the sender is activated.
    mutating func didFailToBegin(_ encoding: Int, now: Duration) {
        actions.append(.updateDemand)
        for (variant, other) in encodings where other == encoding {
            let isLayer = variant.quality > Self.limitedQualities.upperBound
            encodings[variant] = variant.codec == firstCodec && !isLayer ? 0 : nil
            if variant.codec != firstCodec { failedCodecs.insert(variant.codec) }
        }
        for sender in senders.values {
            guard case .awaitingKeyFrame(of: encoding, let meanwhile) = sender.state.phase else { continue }
            let codec = codec(for: sender, retrying: false)
            let formats = sender.state.agreement.formats
            let isAccepted = formats.isEmpty || formats.contains { $0.format === codec.format }
            if sender.state.layer.index > 0, codec == sender.state.codec || !isAccepted {
                sender.state.hasFailed = true
                startOrStop(sender, now: now)
                continue
            }
            sender.state.codec = codec
            let encoding = beginEncoding(of: variant(of: sender))
            setPhase(
                meanwhile == encoding ? .sending(encoding) : .awaitingKeyFrame(of: encoding, meanwhile: meanwhile),
                of: sender)
            keyFrameNeeded(of: encoding, now: now)
        }
    }

    /// Handles an encoder that fails with all frames, for example because of their size. Its senders use another codec
    /// that their peers accept. Those without one keep it, since it is retried.
    mutating func didFail(_ encoding: Int, now: Duration) {
        guard let codec = encodings.first(where: { $0.value == encoding })?.key.codec else { return }
        failedCodecs.insert(codec)
        failingEncodings.insert(encoding)
        actions.append(.updateDemand)
        for sender in senders.values { chooseCodec(for: sender, now: now) }
        endUnused()
    }

    /// Allows the codecs and the layers that failed with frames of another track.
    mutating func trackChanged(now: Duration) {
        shownHint = nil
        failingEncodings = []
        retryFailed(now: now)
        guard !failedCodecs.isEmpty else { return }
        failedCodecs = []
        for sender in senders.values { chooseCodec(for: sender, now: now) }
        endUnused()
    }

    private mutating func retryFailed(now: Duration) {
        for sender in senders.values where sender.state.hasFailed {
            sender.state.hasFailed = false
            startOrStop(sender, now: now)
            actions.append(.updateDemand)
        }
    }

    /// Returns the senders of a frame, in a list for each event loop.
    mutating func recipients(of encoding: Int, isKeyFrame: Bool) -> [[Sender]] {
        if failingEncodings.remove(encoding) != nil { actions.append(.updateDemand) }
        if isKeyFrame {
            for sender in senders.values {
                guard case .awaitingKeyFrame(of: encoding, _) = sender.state.phase else { continue }
                setPhase(.sending(encoding), of: sender)
            }
            endUnused()
        }
        return receiving[encoding]?.lists ?? []
    }

    /// Returns whether a sender waits for a key frame of an encoding. With `reachable`, only those that can be sent it now
    /// count.
    func isAwaited(_ encoding: Int, reachable: Bool = false) -> Bool {
        senders.values.contains { sender in
            if reachable, sender.state.isUnresponsive || sender.state.isQueueFull { return false }
            return if case .awaitingKeyFrame(of: encoding, _) = sender.state.phase { true } else { false }
        }
    }

    /// Returns whether to reassign qualities now.
    func isMoveDue(now: Duration) -> Bool {
        now >= lastMoves + Self.moveInterval && (senders.count > 1 || isDivided)
    }

    /// Moves senders to other qualities, each from a key frame of its encoding on.
    mutating func move(now: Duration) {
        lastMoves = now
        for (sender, quality) in moves(now: now) {
            sender.state.quality.index = quality
            if !sender.state.isWithheld { join(sender, .rejoining, now: now) }
        }
        endUnused()
    }

    // MARK: Results

    /// Returns the settings of an encoding: the wanted ones, within the limits of its senders' bitrates and peers.
    func settings(of encoding: Int, now: Duration) -> VideoEncoder.Settings {
        var settings = wanted
        settings.foundHint = shownHint
        let members = audience(of: encoding)
        guard !members.isEmpty else {
            // An encoding without viewers is not encoded.
            let isKept = encoding == 0 && isRecorded
            if !isKept, encoding > 0 || hasViewer { settings.bitrate = .zero }
            return settings
        }
        if let rate = rate(among: members, now: now) { settings.bitrate = min(settings.bitrate, rate) }
        let pacing = Self.responsive(members).compactMap { $0.state.isWithheld ? nil : $0.state.target?.pacingRate }
            .min()
        settings.burstRate = pacing ?? .zero
        for member in members { limits(of: member).apply(to: &settings, isShared: members.count > 1) }
        settings.sizeDivisor = members.map { sizeDivisor(of: $0) }.min() ?? 1
        return settings
    }

    /// Returns whether the queues of all senders of an encoding that answer are full.
    func isQueueFull(of encoding: Int) -> Bool {
        let members = Self.responsive(audience(of: encoding))
        return !members.isEmpty && members.allSatisfy(\.state.isQueueFull)
    }

    /// Returns the demand of a sender: zero while there is no video.
    func demand(of sender: Sender) -> BitrateDemand {
        guard !sender.state.hasFailed else { return .failed }
        guard !sender.state.isIdle, isShowing else { return .zero }
        let rate = max(wanted.bitrate, .zero)
        let maximum = min(rate, limits(of: sender).maximumBitrate ?? rate)
        return BitrateDemand(
            minimum: min(SendingLimits.leastBitrate, maximum), maximum: maximum, priority: priority,
            hasFailed: failingEncodings.contains(encoding(of: sender)))
    }

    /// Whether an encoding has the best quality.
    func hasBestQuality(_ encoding: Int) -> Bool { encodings.contains { $0.key.quality == 0 && $0.value == encoding } }

    /// The encoding of the best quality that has viewers, of those with a bitrate if any has one; the first one if none has
    /// viewers.
    var mainEncoding: Int {
        var best: (isPaused: Int, quality: Int, encoding: Int)?
        for (variant, encoding) in encodings {
            let audience = audience(of: encoding)
            guard !audience.isEmpty else { continue }
            let isPaused = audience.allSatisfy { $0.state.rate == .zero } ? 1 : 0
            let next = (isPaused: isPaused, quality: variant.quality, encoding: encoding)
            if best.map({ next < $0 }) ?? true { best = next }
        }
        return best?.encoding ?? 0
    }

    /// Whether a sender with this agreement will be the first one that sends, with encoding 0. One that is not active, such
    /// as that of a viewer who waits for approval, may never send.
    func isFirst(_ sender: Sender, _ agreement: SenderAgreement) -> Bool {
        contains(sender) && sender.state.isActive && agreement.media == .agreed && !hasViewer
            && codec(for: agreement.formats) == firstCodec
    }

    /// Whether any sender sends, or will send.
    var hasViewer: Bool { senders.values.contains { !$0.state.isIdle } }

    /// Whether there are senders, and all descriptions decline this.
    var isRefused: Bool { !senders.isEmpty && senders.values.allSatisfy { $0.state.agreement.media == .refused } }

    // MARK: Parts

    /// Changes a sender's phase, and with it the lists of senders. The only place that does.
    private mutating func setPhase(_ phase: VideoSender.Phase, of sender: Sender) {
        let (previous, next) = (sender.state.phase.encoding, phase.encoding)
        sender.state.phase = phase
        guard next != previous else { return }
        if let previous { receiving[previous]?.remove(sender) }
        if let next { receiving[next, default: SenderLists()].insert(sender) }
    }

    /// Starts or stops a sender, by its description and ``VideoSender/State/isActive``. Returns whether it did.
    @discardableResult
    private mutating func startOrStop(_ sender: Sender, now: Duration) -> Bool {
        guard sender.state.isIdle == sender.state.maySend else { return false }
        if sender.state.maySend {
            sender.state.quality = firstQuality(of: sender, now: now)
            sender.state.codec = codec(for: sender)
            join(sender, .request, now: now)
            // While all queues were full the encoder waited, and no sender was withheld. The new one has room, so that
            // the others are withheld now.
            withhold(in: encoding(of: sender), now: now)
        } else {
            setPhase(.idle, of: sender)
            sender.state.target = nil
            move(now: now)
        }
        return true
    }

    /// Returns the limits of a sender's layer, and of its peer's description for the codec.
    func limits(of sender: Sender) -> SendingLimits {
        var limits = sender.state.agreement.limits
        let codec = sender.state.codec ?? codec(for: sender)
        if let format = sender.state.agreement.formats.first(where: { $0.format === codec.format }) {
            limits.maximumMacroblocks = format.limits.maximumMacroblocks
            limits.maximumFramesPerSecond = format.limits.maximumFramesPerSecond
        }
        limits.limit(to: sender.state.layer, of: wanted, isMotion: isMotion, parameters(of: sender))
        return limits
    }

    /// Whether the content is motion. A film is often found to be that by its encoder only.
    private var isMotion: Bool {
        let said = wanted.hint == ContentHint.none ? nil : wanted.hint
        return (said ?? shownHint ?? wanted.assumedHint) == .motion
    }

    /// Returns the number by which a sender's layer divides the sides of frames: without parameters, half for each layer of
    /// motion.
    private func sizeDivisor(of sender: Sender) -> Double {
        parameters(of: sender)?.scaleResolutionDownBy ?? (isMotion ? Double(1 << sender.state.layer.index) : 1)
    }

    /// Returns the codec that a sender should have. If `retrying` is true and all that its peer accepts have failed, it is
    /// one of these.
    private func codec(for sender: Sender, retrying: Bool = true) -> VideoCodec {
        codec(for: sender.state.agreement.formats, retrying: retrying)
    }

    private func codec(for formats: [NegotiatedFormat], retrying: Bool = true) -> VideoCodec {
        let accepted = codecs.filter { codec in formats.contains { $0.format === codec.format } }
        return accepted.first { !failedCodecs.contains($0) } ?? (retrying ? accepted.first : nil) ?? firstCodec
    }

    private mutating func chooseCodec(for sender: Sender, now: Duration) {
        let codec = codec(for: sender)
        guard !sender.state.isIdle, sender.state.codec != codec else { return }
        sender.state.codec = codec
        if !sender.state.isWithheld { join(sender, .rejoining, now: now) }
    }

    /// Makes a sender join the encoding of its quality and codec with the next key frame.
    private mutating func join(_ sender: Sender, _ need: KeyFrameSchedule.Need, now: Duration) {
        let encoding = beginEncoding(of: variant(of: sender))
        let present = sender.state.phase.encoding
        guard present != encoding else {
            // It never left.
            setPhase(.sending(encoding), of: sender)
            return
        }
        setPhase(.awaitingKeyFrame(of: encoding, meanwhile: present), of: sender)
        makeKeyFrame(for: sender, need, now: now)
    }

    private func variant(of sender: Sender) -> Variant {
        Variant(quality: sender.state.quality.index, codec: sender.state.codec ?? firstCodec)
    }

    /// Returns an encoding, and starts it if it did not exist.
    private mutating func beginEncoding(of variant: Variant) -> Int {
        if let encoding = encodings[variant] { return encoding }
        let encoding = encodingsSoFar
        encodingsSoFar += 1
        encodings[variant] = encoding
        actions.append(.begin(encoding, variant.codec))
        return encoding
    }

    private mutating func endUnused() {
        for (variant, encoding) in encodings where encoding > 0 || variant.quality > 0 {
            let isUsed = senders.values.contains {
                !$0.state.isIdle && self.variant(of: $0) == variant
                    || encoding > 0 && $0.state.phase.encoding == encoding
            }
            guard !isUsed else { continue }
            encodings[variant] = nil
            guard encoding > 0 else { continue }
            receiving[encoding] = nil
            failingEncodings.remove(encoding)
            keyFrames.end(encoding)
            nextKeyFrames[encoding] = nil
            actions.append(.end(encoding))
        }
    }

    /// Returns the encoding that a sender sends, or will send.
    func encoding(of sender: Sender) -> Int { encodings[variant(of: sender)] ?? 0 }

    /// Returns the senders that send an encoding, or will send it.
    func members(of encoding: Int) -> [Sender] {
        senders.values.filter { !$0.state.isIdle && self.encoding(of: $0) == encoding }
    }

    /// Returns the senders for which an encoding is encoded: those that keep it, or else those that send it until the
    /// key frame of another one.
    private func audience(of encoding: Int) -> [Sender] {
        let members = members(of: encoding)
        guard members.isEmpty else { return members }
        return senders.values.filter { $0.state.phase.encoding == encoding }
    }

    /// Schedules the key frame that a sender needs from its encoding.
    private mutating func makeKeyFrame(for sender: Sender, _ need: KeyFrameSchedule.Need, now: Duration) {
        let encoding = encoding(of: sender)
        let isShared = senders.values.contains {
            $0 !== sender && !$0.state.isIdle && self.encoding(of: $0) == encoding
        }
        let rate = settings(of: encoding, now: now).bitrate
        let time = keyFrames.time(
            of: encoding, at: rate, for: &sender.state.keyFrameRequests, need, isShared: isShared,
            lowerLayers: lowerLayers(of: sender, now: now), now: now)
        makeKeyFrame(of: encoding, notBefore: time)
    }

    /// Schedules the key frame that a sender awaits as early as the current rate permits, if it is not yet due.
    private mutating func hurryKeyFrame(for sender: Sender, now: Duration) {
        guard case .awaitingKeyFrame(let encoding, _) = sender.state.phase, let next = nextKeyFrames[encoding],
            next > now
        else { return }
        let rate = settings(of: encoding, now: now).bitrate
        let time = keyFrames.time(
            of: encoding, at: rate, awaitedBy: sender.state.keyFrameRequests,
            lowerLayers: lowerLayers(of: sender, now: now))
        if time < next { makeKeyFrame(of: encoding, notBefore: time) }
    }

    /// Returns the encodings of the lower layers of a sender, and their rates.
    private func lowerLayers(of sender: Sender, now: Duration) -> [(encoding: Int, rate: DataRate)] {
        sender.layers.filter { $0.state.agreement.media == .agreed && !$0.state.isIdle }.map {
            let encoding = encoding(of: $0)
            return (encoding, settings(of: encoding, now: now).bitrate)
        }
    }

    private mutating func makeKeyFrame(of encoding: Int, notBefore time: Duration) {
        nextKeyFrames[encoding] = min(nextKeyFrames[encoding] ?? time, time)
        actions.append(.makeKeyFrame(encoding, notBefore: time))
    }

    /// Withholds senders of an encoding whose queues are full while others' are not. When their queues have room and
    /// they answer, they rejoin with a key frame.
    private mutating func withhold(in encoding: Int, now: Duration) {
        let members = members(of: encoding)
        let anyIsReady = Self.responsive(members).contains { !$0.state.isQueueFull }
        for sender in members {
            if sender.state.isQueueFull, anyIsReady, !sender.state.isWithheld {
                setPhase(.withheld, of: sender)
            } else if !sender.state.isQueueFull, sender.state.isWithheld, !sender.state.isUnresponsive {
                join(sender, .rejoining, now: now)
            }
        }
    }
}
