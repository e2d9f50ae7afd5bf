internal import RTCSharePeerConnection
package import RTCShareTransport
internal import RTCShareWireFormat

/// Sends one audio over one connection (W3C `RTCRtpSender`). Its state says whether the viewer at the connection gets audio.
///
///              agreed and active            the path has no bits for it
///     idle ──────────────────────▶ sending ────────────────────────────▶ silent
///      ▲                              ▲                                    │ │
///      │                              └──────────── it has some ───────────┘ │
///      └── deactivated, or refused by a description (from each) ─────────────┘
///
/// A sender that was removed, or whose connection ended, belongs to no group.
package final class AudioSender: RTPSender {
    package let connection: Connection
    package let media: Int
    private let stream: @Sendable () -> AudioSendStream?
    // Both belong to the group, which is the stream's: they are touched on its home loop only.
    nonisolated(unsafe) var state = State()
    nonisolated(unsafe) var position = 0

    init(connection: Connection, media: Int, stream: AudioSendStream) {
        self.connection = connection
        self.media = media
        self.stream = { [weak stream] in stream }
    }

    package func receive(_ feedback: SenderFeedback) { stream()?.receive(feedback, of: self) }

    enum Phase: Hashable {
        /// Nothing is sent: it is not active, or the peer's description has not taken it.
        case idle
        /// It is sent the audio.
        case sending
        /// It is left out: its path has nothing for audio.
        case silent
    }

    struct State {
        /// Whether the room has it send (W3C `RTCRtpEncodingParameters.active`).
        var isActive = true
        /// What the descriptions say.
        var agreement = SenderAgreement()
        /// What the path has for it. Nil until that is known, and while it is idle.
        var target: BitrateTarget?
        /// The share of packets that the peer reports as lost.
        var loss = ExpectedLoss()

        var phase: Phase {
            guard isActive, agreement.media == .agreed else { return .idle }
            return target.map { $0.bitrate > .zero } ?? true ? .sending : .silent
        }

        /// What the peer asks of the encoder.
        var parameters: OpusParameters { agreement.opus ?? OpusParameters(nil) }
    }
}

extension AudioSender: GroupMember {
    /// Its connection: a stream has one sender for each.
    package var id: ObjectIdentifier { ObjectIdentifier(connection) }
}
