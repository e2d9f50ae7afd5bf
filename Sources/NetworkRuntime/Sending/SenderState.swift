internal import RTCSharePeerConnection
internal import RTCShareWireFormat

/// What a connection is sent of a picture.
///
///               agreed and included                key frame of that encoding
///     idle ──────────────────────────▶ awaitingKeyFrame ─────────────────▶ sending
///      ▲                                 ▲          ▲    another encoding    │  │
///      │                                 │          └────────────────────────┘  │
///      │                                 │ its queue is no longer full,         │ its queue is full,
///      │                                 └──────────────── withheld ◀───────────┘ others' are not
///      │                                   and it answers
///      └── excluded, or refused by a description (from each)
///
/// Beside that, whatever its phase, its peer answers or it is away:
///
///             nothing was heard of what left
///     answers ──────────────────────────────▶ isAway    nobody goes by its path or its queue, and once withheld it
///        ▲                                      │       stays so: no key frame is made for it
///        └──────────────────────────────────────┘
///                    something was again                with that, who was withheld and has room awaits a key frame
///
/// A sender that has ended, with its connection or by being removed, has no state any more.
struct SenderState {
    enum Phase: Hashable {
        /// Nothing goes there: it is excluded, or its peer's description has not taken it.
        case idle
        /// From the next key frame of `encoding` on it is sent that; until then what it was sent before, if anything.
        case awaitingKeyFrame(of: Int, meanwhile: Int?)
        /// It is sent an encoding.
        case sending(Int)
        /// It is left out while its queue is full, and until it answers.
        case withheld
    }

    /// What the descriptions say.
    var agreement = SenderAgreement()
    /// Whether it is to be sent what there is.
    var isIncluded: Bool
    /// What the path has for it; nil until that is known.
    var target: BitrateTarget?
    /// Whether its peer does not answer now: what is known of its path is of before.
    var isAway = false
    var phase = Phase.idle
    /// Which quality it is to have.
    var place = QualityPlace(since: .zero)

    init(isIncluded: Bool) {
        self.isIncluded = isIncluded
    }

    /// Whether it has, or is to have, a place among those who are sent something.
    var isActive: Bool { phase != .idle }
    /// Whether it should have.
    var mayBeActive: Bool { isIncluded && agreement.media == .agreed }
    var isWithheld: Bool { phase == .withheld }
    var isQueueFull: Bool { target?.isQueueFull ?? false }
    /// What its path carries, in bits a second; nil until that is known.
    var rate: DataRate? { target?.bitrate }

    /// The encoding whose frames go there now.
    var shown: Int? {
        switch phase {
        case .idle, .withheld: nil
        case .awaitingKeyFrame(_, let meanwhile): meanwhile
        case .sending(let encoding): encoding
        }
    }
}

/// Which of the qualities a sender has, and which it should.
struct QualityPlace {
    var quality = 0
    /// Since when it is judged.
    let since: Duration
    /// Where it should be, and since when.
    var next: (quality: Int, since: Duration)?
}
