internal import RTCSharePeerConnection
package import RTCShareTransport
internal import RTCShareWireFormat

/// Sends one audio stream over one connection (W3C `RTCRtpSender`). Its state is whether the viewer at the connection
/// receives audio.
///
///              agreed and active            its bitrate is too low
///     idle ──────────────────────▶ sending ────────────────────────────▶ silent
///      ▲                              ▲                                    │ │
///      │                              └──────────── it is enough ──────────┘ │
///      └── deactivated, or refused by a description (from each) ─────────────┘
///
/// A sender that was removed, or whose connection ended, belongs to no group.
package final class AudioSender: RTPSender {
    package let connection: Connection
    package let media: Int
    private let stream: @Sendable () -> AudioSendStream?
    // Both belong to the group of the stream: they are used only on its home event loop.
    nonisolated(unsafe) var state = State()
    nonisolated(unsafe) var position = 0

    init(connection: Connection, media: Int, stream: AudioSendStream) {
        self.connection = connection
        self.media = media
        self.stream = { [weak stream] in stream }
    }

    package func receive(_ feedback: SenderFeedback) { stream()?.receive(feedback, of: self) }

    enum Phase: Hashable {
        /// Nothing is sent: it is inactive, or the peer's description has not agreed.
        case idle
        /// Audio is sent.
        case sending
        /// Nothing is sent, because the route has no bitrate for audio.
        case silent
    }

    struct State {
        /// Whether it is active in the room (W3C `RTCRtpEncodingParameters.active`).
        var isActive = true
        /// The agreement of the descriptions.
        var agreement = SenderAgreement()
        /// The target bitrate. Nil until it is known, and while the sender is idle.
        var target: BitrateTarget?
        /// The fraction of packets that the peer reports as lost.
        var loss = ExpectedLoss()

        var phase: Phase {
            guard isActive, agreement.media == .agreed else { return .idle }
            return target.map { $0.bitrate > .zero } ?? true ? .sending : .silent
        }

        /// The peer's parameters for the encoder.
        var parameters: OpusParameters { agreement.opus ?? OpusParameters(nil) }
    }
}

extension AudioSender: GroupMember {
    /// The identity of its connection: a stream has one sender per connection.
    package var id: ObjectIdentifier { ObjectIdentifier(connection) }
}
