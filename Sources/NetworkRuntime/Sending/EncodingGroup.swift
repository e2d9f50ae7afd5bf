internal import RTCSharePeerConnection
internal import RTCShareVideoCoding
internal import RTCShareWireFormat

/// The senders of one picture and its encodings: who is sent which, and what each is made at. What is known, and what
/// follows from it, in virtual time; whoever has it carries out what ``takeAction()`` gives, and sends.
///
/// An encoding (W3C's `RTCRtpEncodingParameters`) is one encoder with its settings. Encoding 0 is always there; others are
/// while somebody is in their quality.
struct EncodingGroup<Sender: Hashable> {
    enum Action: Hashable {
        /// An encoder is to begin, that shows what the others do.
        case begin(Int)
        /// An encoding has nobody any more.
        case end(Int)
        /// A key frame is to be made of an encoding, not before a time.
        case makeKeyFrame(Int, notBefore: Duration)
    }

    /// What is wanted, before the peers' limits.
    var wanted: VideoEncoderThread.Settings
    /// Which pictures go first.
    let priority: BitratePriority
    /// Whether there is something to show.
    var isShowing = false
    /// Whether encoding 0 is recorded: it is made whether somebody is sent it or not.
    var isRecorded = false
    private(set) var senders: [Sender: SenderState] = [:]
    private var keyFrames = KeyFrameSchedule<Sender>()
    /// When the next key frame of an encoding is made, where one is asked for.
    private var nextKeyFrames: [Int: Duration] = [:]
    /// By their qualities.
    private var encodings = [0: 0]
    private var encodingsSoFar = 1
    private var actions: [Action] = []
    private var lastMoves = Duration.zero

    /// How often it is looked who is to have another quality.
    static var moveInterval: Duration { .milliseconds(200) }

    init(wanted: VideoEncoderThread.Settings, priority: BitratePriority = .medium) {
        self.wanted = wanted
        self.priority = priority
    }

    /// What is to be done next; nil where everything was.
    mutating func takeAction() -> Action? { actions.isEmpty ? nil : actions.removeFirst() }

    // MARK: What happens

    /// Somebody may be sent to, once a description takes it.
    mutating func add(_ sender: Sender, isIncluded: Bool) {
        senders[sender] = SenderState(isIncluded: isIncluded)
    }

    /// Nothing more is sent there.
    mutating func remove(_ sender: Sender, now: Duration) {
        keyFrames.remove(sender)
        guard senders.removeValue(forKey: sender)?.isActive == true else { return }
        // The qualities and rates of those who are left may have depended on it.
        move(now: now)
    }

    /// What the descriptions say has changed, maybe.
    mutating func negotiated(_ agreement: SenderAgreement, of sender: Sender, now: Duration) {
        guard senders[sender] != nil else { return }
        senders[sender]?.agreement = agreement
        if !followPlace(of: sender, now: now) { move(now: now) }
    }

    /// Somebody is to be sent what there is, or not any more.
    mutating func setIncluded(_ isIncluded: Bool, _ sender: Sender, now: Duration) {
        senders[sender]?.isIncluded = isIncluded
        followPlace(of: sender, now: now)
    }

    /// What a path has is another.
    mutating func targetChanged(_ target: BitrateTarget, of sender: Sender, now: Duration) {
        // What was told before somebody went out is no news any more.
        guard let state = senders[sender], state.isActive else { return }
        senders[sender]?.target = target
        if target.isQueueFull || state.isQueueFull { withhold(in: encoding(of: state), now: now) }
        // What was too much for the rate that an encoding had may be little for this one's.
        if target.bitrate != state.rate { hurryKeyFrame(for: sender, now: now) }
    }

    /// A peer does not answer, or answers again. Who is away is sent what the others are, as long as its queue takes it; nobody
    /// goes by its path, and no key frame is made for it.
    mutating func setAway(_ isAway: Bool, _ sender: Sender, now: Duration) {
        senders[sender]?.isAway = isAway
        move(now: now)
        guard let state = senders[sender], state.isActive else { return }
        withhold(in: encoding(of: state), now: now)
        for sender in senders.keys { hurryKeyFrame(for: sender, now: now) }
    }

    /// Somebody needs a key frame: who is left out gets one with what it is sent next. One that is about to be made answers
    /// who asks meanwhile, and is not asked for anew.
    mutating func keyFrameRequested(by sender: Sender, now: Duration) {
        guard let state = senders[sender], state.isActive, !state.isWithheld else { return }
        if let next = nextKeyFrames[encoding(of: state)], next <= now { return }
        makeKeyFrame(for: sender, .request, now: now)
    }

    /// An encoding is to begin anew with a key frame, whoever is sent it: it shows another picture.
    mutating func keyFrameNeeded(of encoding: Int, now: Duration) {
        let rate = settings(of: encoding, now: now).bitrate
        makeKeyFrame(of: encoding, notBefore: keyFrames.earliest(of: encoding, at: rate))
    }

    /// A key frame of an encoding was made; a blurred one is to be sharpened.
    mutating func keyFrameMade(of encoding: Int, byteCount: Int, isBlurred: Bool, now: Duration) {
        let rate = settings(of: encoding, now: now).bitrate
        keyFrames.made(of: encoding, byteCount: byteCount, at: rate, isBlurred: isBlurred, now: now)
        nextKeyFrames[encoding] = nil
    }

    /// No encoder could be had for an encoding: those in its quality are sent the first.
    mutating func couldNotBegin(_ encoding: Int, now: Duration) {
        for (quality, other) in encodings where other == encoding { encodings[quality] = 0 }
        for (sender, state) in senders {
            guard case .awaitingKeyFrame(of: encoding, let meanwhile) = state.phase else { continue }
            senders[sender]?.phase = meanwhile == 0 ? .sending(0) : .awaitingKeyFrame(of: 0, meanwhile: meanwhile)
            keyFrameNeeded(of: 0, now: now)
        }
    }

    /// A frame of an encoding is about to be sent; returns to whom.
    mutating func recipients(of encoding: Int, isKeyFrame: Bool) -> [Sender] {
        var recipients: [Sender] = []
        var joined: [Sender] = []
        for (sender, state) in senders {
            if isKeyFrame, case .awaitingKeyFrame(of: encoding, _) = state.phase {
                joined.append(sender)
            } else if state.shown == encoding {
                recipients.append(sender)
            }
        }
        for sender in joined { senders[sender]?.phase = .sending(encoding) }
        return recipients + joined
    }

    /// Whether it is time to look who is to have another quality.
    func isMoveDue(now: Duration) -> Bool {
        now >= lastMoves + Self.moveInterval && (senders.count > 1 || isDivided)
    }

    /// Has senders another quality, where that is called for: each from a key frame of its encoding on.
    mutating func move(now: Duration) {
        lastMoves = now
        for (sender, quality) in moves(now: now) {
            senders[sender]?.place.quality = quality
            if senders[sender]?.isWithheld == false { join(sender, .rejoining, now: now) }
        }
        endUnused()
    }

    // MARK: What follows

    /// What an encoding is made at: what is wanted, as far as the paths and peers of those who are sent it allow.
    func settings(of encoding: Int, now: Duration) -> VideoEncoderThread.Settings {
        var settings = wanted
        let members = members(of: encoding).map(\.state)
        guard !members.isEmpty else {
            // What nobody would see is not encoded.
            let isKept = encoding == 0 && isRecorded
            if !isKept, encoding > 0 || senders.values.contains(where: \.isActive) { settings.bitrate = .zero }
            return settings
        }
        if let rate = rate(among: members, now: now) { settings.bitrate = min(settings.bitrate, rate) }
        let pacing = Self.present(members).compactMap { $0.isWithheld ? nil : $0.target?.pacingRate }.min()
        settings.burstRate = pacing ?? .zero
        for member in members { member.agreement.limits.apply(to: &settings, isShared: members.count > 1) }
        return settings
    }

    /// Whether the queues of all who are sent an encoding, and answer, are full.
    func isQueueFull(of encoding: Int) -> Bool {
        let members = Self.present(members(of: encoding).map(\.state))
        return !members.isEmpty && members.allSatisfy(\.isQueueFull)
    }

    /// What a sender would use of its path: nothing while there is nothing to show.
    func demand(of sender: Sender) -> BitrateDemand {
        guard let state = senders[sender], state.isActive, isShowing else { return .zero }
        let rate = max(wanted.bitrate, .zero)
        let maximum = min(rate, state.agreement.limits.maximumBitrate ?? rate)
        return BitrateDemand(minimum: min(SendingLimits.leastBitrate, maximum), maximum: maximum, priority: priority)
    }

    /// The encoding that a sender is sent, or is to be.
    func encoding(of sender: Sender) -> Int? { senders[sender].map { encoding(of: $0) } }

    /// Whether anybody is sent something, or is to be.
    var hasActive: Bool { senders.values.contains(where: \.isActive) }

    /// Whether all descriptions decline this, and there is one.
    var isRefused: Bool { !senders.isEmpty && senders.values.allSatisfy { $0.agreement.media == .refused } }

    // MARK: Parts

    /// Notes which quality a sender should have.
    mutating func setNext(_ next: (quality: Int, since: Duration)?, of sender: Sender) {
        senders[sender]?.place.next = next
    }

    /// Has a sender begin or end, as its description and its inclusion say; returns whether it did.
    @discardableResult
    private mutating func followPlace(of sender: Sender, now: Duration) -> Bool {
        guard let state = senders[sender], state.isActive != state.mayBeActive else { return false }
        if state.isActive {
            senders[sender]?.phase = .idle
            senders[sender]?.target = nil
            move(now: now)
        } else {
            let place = place(for: sender, now: now)
            senders[sender]?.place = place
            join(sender, .request, now: now)
            // Where all queues were full the encoder waited and nobody was left out; the one who joins has room, so that the
            // others are left out now.
            withhold(in: encoding(of: sender) ?? 0, now: now)
        }
        return true
    }

    /// Has a sender sent the encoding of its quality from the next key frame on.
    private mutating func join(_ sender: Sender, _ need: KeyFrameSchedule<Sender>.Need, now: Duration) {
        guard let state = senders[sender] else { return }
        let encoding = beginEncoding(of: state.place.quality)
        guard state.shown != encoding else {
            // It never left.
            senders[sender]?.phase = .sending(encoding)
            return
        }
        senders[sender]?.phase = .awaitingKeyFrame(of: encoding, meanwhile: state.shown)
        makeKeyFrame(for: sender, need, now: now)
    }

    /// The encoding of a quality, begun where nobody had it before.
    private mutating func beginEncoding(of quality: Int) -> Int {
        if let encoding = encodings[quality] { return encoding }
        let encoding = encodingsSoFar
        encodingsSoFar += 1
        encodings[quality] = encoding
        actions.append(.begin(encoding))
        return encoding
    }

    private mutating func endUnused() {
        for (quality, encoding) in encodings where quality > 0 {
            guard !senders.values.contains(where: { $0.isActive && $0.place.quality == quality }) else { continue }
            encodings[quality] = nil
            guard encoding > 0 else { continue }
            for (sender, state) in senders {
                guard case .awaitingKeyFrame(let next, meanwhile: encoding) = state.phase else { continue }
                senders[sender]?.phase = .awaitingKeyFrame(of: next, meanwhile: nil)
            }
            keyFrames.end(encoding)
            nextKeyFrames[encoding] = nil
            actions.append(.end(encoding))
        }
    }

    private func encoding(of state: SenderState) -> Int { encodings[state.place.quality] ?? 0 }

    /// Those who are sent an encoding, or are to be.
    private func members(of encoding: Int) -> [(sender: Sender, state: SenderState)] {
        senders.compactMap { sender, state in
            state.isActive && self.encoding(of: state) == encoding ? (sender, state) : nil
        }
    }

    /// Has a key frame that a sender needs be made of its encoding.
    private mutating func makeKeyFrame(
        for sender: Sender, _ need: KeyFrameSchedule<Sender>.Need, now: Duration
    ) {
        guard let encoding = encoding(of: sender) else { return }
        let isShared = senders.contains { other, state in
            other != sender && state.isActive && self.encoding(of: state) == encoding
        }
        let rate = settings(of: encoding, now: now).bitrate
        let time = keyFrames.time(of: encoding, at: rate, for: sender, need, isShared: isShared, now: now)
        makeKeyFrame(of: encoding, notBefore: time)
    }

    /// Has the key frame that a sender waits for made as soon as the rate of now allows, where it is not yet on its way.
    private mutating func hurryKeyFrame(for sender: Sender, now: Duration) {
        guard case .awaitingKeyFrame(let encoding, _)? = senders[sender]?.phase, let next = nextKeyFrames[encoding],
            next > now
        else { return }
        let rate = settings(of: encoding, now: now).bitrate
        let time = keyFrames.time(of: encoding, at: rate, awaitedBy: sender)
        if time < next { makeKeyFrame(of: encoding, notBefore: time) }
    }

    private mutating func makeKeyFrame(of encoding: Int, notBefore time: Duration) {
        nextKeyFrames[encoding] = min(nextKeyFrames[encoding] ?? time, time)
        actions.append(.makeKeyFrame(encoding, notBefore: time))
    }

    /// Leaves out those who are sent an encoding and whose queues are full while others' are not, and takes them up again,
    /// with a key frame, once theirs are not either and they answer.
    private mutating func withhold(in encoding: Int, now: Duration) {
        let members = members(of: encoding)
        let anyIsReady = Self.present(members.map(\.state)).contains { !$0.isQueueFull }
        for (sender, state) in members {
            if state.isQueueFull, anyIsReady, !state.isWithheld {
                senders[sender]?.phase = .withheld
            } else if !state.isQueueFull, state.isWithheld, !state.isAway {
                join(sender, .rejoining, now: now)
            }
        }
    }
}
