internal import RTCSharePeerConnection
internal import RTCShareWireFormat

/// What a connection is sent of a sound.
///
///              agreed and included          the path has no bits for it
///     idle ──────────────────────▶ sending ────────────────────────────▶ silent
///      ▲                              ▲                                    │ │
///      │                              └──────────── it has some ───────────┘ │
///      └── excluded, or refused by a description (from each) ────────────────┘
///
/// A sender that has ended, with its connection or by being removed, has no state any more.
struct AudioSenderState {
    enum Phase: Hashable {
        /// Nothing goes there: it is excluded, or its peer's description has not taken it.
        case idle
        /// It is sent the sound.
        case sending
        /// It is left out: its path has nothing for sound.
        case silent
    }

    /// What the descriptions say.
    private(set) var agreement = SenderAgreement()
    /// Whether it is to be sent what there is.
    private(set) var isIncluded: Bool
    /// What the path has for it; nil until that is known.
    private(set) var target: BitrateTarget?
    /// What is lost on the way, as the peer says.
    private(set) var loss = ExpectedLoss()

    init(isIncluded: Bool) {
        self.isIncluded = isIncluded
    }

    var phase: Phase {
        guard isIncluded, agreement.media == .agreed else { return .idle }
        return target.map { $0.bitrate > .zero } ?? true ? .sending : .silent
    }

    /// Whether it has, or is to have, a place among those who are sent something.
    var isActive: Bool { phase != .idle }
    /// What the peer asks of the encoder.
    var parameters: OpusParameters { agreement.opus ?? OpusParameters(nil) }

    mutating func negotiated(_ agreement: SenderAgreement) {
        self.agreement = agreement
        forgetPathIfIdle()
    }

    mutating func setIncluded(_ isIncluded: Bool) {
        self.isIncluded = isIncluded
        forgetPathIfIdle()
    }

    mutating func targetChanged(_ target: BitrateTarget) {
        if isActive { self.target = target }
    }

    mutating func lossReported(_ share: Double) { loss.note(share) }

    /// What was told before somebody went out is no news any more.
    private mutating func forgetPathIfIdle() {
        if !isActive { target = nil }
    }
}
