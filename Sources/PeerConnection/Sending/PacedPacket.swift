internal import RTCShareRTP

/// A queued packet: a description of its content, not its bytes. `media` is the index of its sender.
///
/// It has sixteen bytes, since a room has thousands of queues.
enum PacedPacket: Sendable {
    /// An audio packet.
    case sound(EncodedAudioFrame, media: UInt32)
    /// The first transmission of a piece of a frame, with the group of its corrections.
    case picture(PacketizedFrame, media: UInt32, fragment: UInt16, group: CorrectionGroup)
    /// A packet of forward error correction for the frames before it.
    case correction(media: UInt32, index: UInt8)
    /// A retransmission of the packet that the sender's history has under this number when it is sent. `isRepetition`
    /// means that it was already sent for the same request.
    case retransmission(media: UInt32, SequenceNumber, isRepetition: Bool)
    /// A packet with only padding, which shows that a layer of a simulcast has not ended.
    case keepalive(media: UInt32)

    var media: Int {
        switch self {
        case .sound(_, let media), .picture(_, let media, _, _), .correction(let media, _),
            .retransmission(let media, _, _), .keepalive(let media):
            Int(media)
        }
    }
}
