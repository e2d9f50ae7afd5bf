internal import RTCSharePeerConnection
package import RTCShareTransport
internal import RTCShareVideoCoding
internal import RTCShareWireFormat

/// Sends one video over one connection (W3C `RTCRtpSender`). Its state is whether the viewer at the connection receives
/// frames and, if not, the reason: it is inactive, the peer did not agree, it awaits a key frame, or its queue is full.
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
///     answers ─────────────────────────▶ isUnresponsive    no encoding depends on its route or its queue, and it stays
///        ▲                                    │             withheld: no key frame is made for it
///        └────────────────────────────────────┘
///                 something arrives          if it is withheld and has room, it awaits a key frame
///
/// A sender that was removed, or whose connection ended, is idle and belongs to no group.
package final class VideoSender: RTPSender {
    package let connection: Connection
    package let media: Int
    package let layers: [VideoSender]
    /// Its place among the layers of a simulcast.
    let layer: SimulcastLayer
    private let stream: @Sendable () -> VideoSendStream?
    // Both belong to the group of the stream: they are used only on its home event loop.
    nonisolated(unsafe) var state = State()
    nonisolated(unsafe) var position = 0

    /// Creates the sender of the layers of a simulcast, or of a single media.
    convenience init(connection: Connection, media: [Int], stream: VideoSendStream) {
        let layers = media.enumerated().dropFirst().map { index, media in
            VideoSender(connection: connection, media: media, layer: SimulcastLayer(index), stream: stream)
        }
        self.init(
            connection: connection, media: media[0], layer: layers.isEmpty ? SimulcastLayer() : SimulcastLayer(0),
            layers: layers, stream: stream)
    }

    private init(
        connection: Connection, media: Int, layer: SimulcastLayer, layers: [VideoSender] = [], stream: VideoSendStream
    ) {
        self.connection = connection
        self.media = media
        self.layer = layer
        self.layers = layers
        self.stream = { [weak stream] in stream }
    }

    package func receive(_ feedback: SenderFeedback) { stream()?.receive(feedback, of: self) }

    package func expectConnection(_ agreement: SenderAgreement) { stream()?.prepare(for: self, agreement) }

    enum Phase: Hashable {
        /// Nothing is sent: it is inactive, or the peer's description has not agreed.
        case idle
        /// It sends an encoding from the next key frame of that on. Until then it sends the previous one, if any.
        case awaitingKeyFrame(of: Int, meanwhile: Int?)
        /// It sends an encoding.
        case sending(Int)
        /// Nothing is sent while its queue is full, and until its peer answers.
        case withheld

        /// The encoding whose frames it sends now.
        var encoding: Int? {
            switch self {
            case .idle, .withheld: nil
            case .awaitingKeyFrame(_, let meanwhile): meanwhile
            case .sending(let encoding): encoding
            }
        }
    }

    struct State {
        /// Whether it is active in the room (W3C `RTCRtpEncodingParameters.active`).
        var isActive = true
        /// Whether the parameters of its layer are active, too.
        var isLayerActive = true
        /// Whether it is paused since no encoder could be made for its layer.
        var hasFailed = false
        /// Its place among the layers of a simulcast, which determines its limits.
        var layer = SimulcastLayer()
        /// The agreement of the descriptions.
        var agreement = SenderAgreement()
        var phase = Phase.idle
        /// The target bitrate. Nil until it is known.
        var target: BitrateTarget?
        /// Whether its peer does not answer now. Its target is outdated then.
        var isUnresponsive = false
        var quality = Quality(since: .zero)
        /// The codec that it has in the group; nil before it starts.
        var codec: VideoCodec?
        /// The times at which its requests for key frames are answered.
        var keyFrameRequests = KeyFrameRequestIntervals()

        /// Whether nothing is sent, and nothing will be sent with the next key frame or later.
        var isIdle: Bool { phase == .idle }
        /// Whether it should not be idle.
        var maySend: Bool { isActive && isLayerActive && !hasFailed && agreement.media == .agreed }
        var isWithheld: Bool { phase == .withheld }
        /// Whether nothing more can be sent now: its queue is full, or it has no bitrate. The other senders of its encoding
        /// do not wait for it then.
        var isQueueFull: Bool { target.map { $0.isQueueFull || $0.bitrate == .zero } ?? false }
        /// The bitrate of its route. Nil until it is known.
        var rate: DataRate? { target?.bitrate }
    }

    /// The quality that it has in the group.
    struct Quality {
        var index = 0
        /// The time since which its route has been measured for it.
        let since: Duration
        /// The quality that it should have, and the time since which it should.
        var next: (index: Int, since: Duration)?
    }
}

extension VideoSender: GroupMember {
    /// A stream has one sender per connection and layer.
    package struct ID: Hashable, Sendable {
        let connection: ObjectIdentifier
        var layer = 0
    }

    package var id: ID { ID(connection: ObjectIdentifier(connection), layer: layer.index) }
}
