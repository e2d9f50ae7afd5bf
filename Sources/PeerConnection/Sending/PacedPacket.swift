internal import RTP

/// A packet that waits for its turn: what it will hold, not its bytes. `media` is the index of its sender.
enum PacedPacket: Sendable {
    /// A packet of sound.
    case sound(media: Int, frame: EncodedAudioFrame)
    /// A piece of a picture, sent for the first time.
    case picture(media: Int, frame: PacketizedFrame, fragment: Int)
    /// A packet that the receiver missed.
    case retransmission(media: Int, sequenceNumber: SequenceNumber, packet: VideoSender.SentPacket)

    var media: Int {
        switch self {
        case .sound(let media, _), .picture(let media, _, _), .retransmission(let media, _, _): media
        }
    }
}
