internal import RTCSharePeerConnection
package import RTCShareTransport
internal import RTCShareWireFormat

/// Sends one video over one connection (W3C `RTCRtpSender`). Its state says whether the viewer at the connection gets frames,
/// and if not, why: it is inactive, the peer did not agree, it awaits a key frame, or its queue is full.
///
///               agreed and active                  key frame of that encoding
///     idle ──────────────────────────▶ awaitingKeyFrame ─────────────────▶ sending
///      ▲                                 ▲          ▲    another encoding    │  │
///      │                                 │          └────────────────────────┘  │
///      │                                 │ its queue is no longer full,         │ its queue is full,
///      │                                 └──────────────── withheld ◀───────────┘ others' are not
///      │                                   and it answers
///      └── deactivated, or refused by a description (from each)
///
/// In each phase its peer answers or does not:
///
///             nothing arrived in return
///     answers ─────────────────────────▶ isUnresponsive    no encoding depends on its path or its queue, and it stays
///        ▲                                    │             withheld: no key frame is made for it
///        └────────────────────────────────────┘
///                 something arrives          if it is withheld and has room, it awaits a key frame
///
/// A sender that was removed, or whose connection ended, is idle and belongs to no group.
package final class VideoSender: RTPSender {
    package let connection: Connection
    package let media: Int
    private let stream: @Sendable () -> VideoSendStream?
    // Both belong to the group, which is the stream's: they are touched on its home loop only.
    nonisolated(unsafe) var state = State()
    nonisolated(unsafe) var position = 0

    init(connection: Connection, media: Int, stream: VideoSendStream) {
        self.connection = connection
        self.media = media
        self.stream = { [weak stream] in stream }
    }

    package func receive(_ feedback: SenderFeedback) { stream()?.receive(feedback, of: self) }

    enum Phase: Hashable {
        /// Nothing is sent: it is not active, or the peer's description has not taken it.
        case idle
        /// From the next key frame of an encoding on it is sent that. Until then it is sent what it was before, if anything.
        case awaitingKeyFrame(of: Int, meanwhile: Int?)
        /// It is sent an encoding.
        case sending(Int)
        /// It is left out while its queue is full, and until it answers.
        case withheld

        /// The encoding whose frames it is sent now.
        var encoding: Int? {
            switch self {
            case .idle, .withheld: nil
            case .awaitingKeyFrame(_, let meanwhile): meanwhile
            case .sending(let encoding): encoding
            }
        }
    }

    struct State {
        /// Whether the room has it send (W3C `RTCRtpEncodingParameters.active`).
        var isActive = true
        /// What the descriptions say.
        var agreement = SenderAgreement()
        var phase = Phase.idle
        /// What the path has for it. Nil until that is known.
        var target: BitrateTarget?
        /// Whether its peer does not answer now. Its target is out of date then.
        var isUnresponsive = false
        var quality = Quality(since: .zero)
        /// When its requests for key frames are answered.
        var keyFrameRequests = KeyFrameRequestIntervals()

        /// Whether it is sent something, or will be.
        var isIdle: Bool { phase == .idle }
        /// Whether it should not be idle.
        var maySend: Bool { isActive && agreement.media == .agreed }
        var isWithheld: Bool { phase == .withheld }
        var isQueueFull: Bool { target?.isQueueFull ?? false }
        /// What its path carries. Nil until that is known.
        var rate: DataRate? { target?.bitrate }
    }

    /// Which of the group's qualities it has.
    struct Quality {
        var index = 0
        /// Since when its path is measured for it.
        let since: Duration
        /// The quality that it should have, and since when.
        var next: (index: Int, since: Duration)?
    }
}

extension VideoSender: GroupMember {
    /// Its connection: a stream has one sender for each.
    package var id: ObjectIdentifier { ObjectIdentifier(connection) }
}
