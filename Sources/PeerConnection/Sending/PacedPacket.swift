internal import RTCShareRTP

/// A packet that waits for its turn: what it will hold, not its bytes. `media` is the index of its sender.
///
/// Sixteen bytes: a room has thousands of queues.
enum PacedPacket: Sendable {
    /// A packet of sound.
    case sound(EncodedAudioFrame, media: UInt32)
    /// A piece of a picture, sent for the first time, and which pictures it is corrected with.
    case picture(PacketizedFrame, media: UInt32, fragment: UInt16, group: CorrectionGroup)
    /// A packet of forward error correction of the pictures before it.
    case correction(media: UInt32, index: UInt8)
    /// A packet that the receiver missed: what the sender's history has under this number when its turn comes.
    /// `isRepetition`: it has left in answer to the same request before.
    case retransmission(media: UInt32, SequenceNumber, isRepetition: Bool)

    var media: Int {
        switch self {
        case .sound(_, let media), .picture(_, let media, _, _), .correction(let media, _),
            .retransmission(let media, _, _):
            Int(media)
        }
    }
}
