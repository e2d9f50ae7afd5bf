internal import RTCShareRTP

/// The stream of frames that a peer receives, and the offset that makes their picture IDs one sequence.
struct PictureNumbering {
    /// The offset of the packets that are sent now.
    private(set) var offset = VP8NumberOffset.none
    private var queuedStream: Int?
    private var newestCapture: Duration?
    /// The stream of the current frame, and its descriptor as the peer received it.
    private var sent: (stream: Int, descriptor: VP8PayloadDescriptor)?

    /// Whether a frame can follow the queued ones: the first frame of another stream must be a later key frame.
    mutating func follows(_ frame: PacketizedFrame) -> Bool {
        if let queuedStream, queuedStream != frame.stream {
            guard frame.isKeyFrame, newestCapture.map({ frame.captureTime > $0 }) ?? true else { return false }
        }
        queuedStream = frame.stream
        newestCapture = frame.captureTime
        return true
    }

    /// Updates the offset at the first packet of a frame.
    mutating func begin(_ frame: PacketizedFrame) {
        if let sent, sent.stream != frame.stream {
            offset = VP8NumberOffset(
                pictureID: Self.number(sent.descriptor) &+ 1 &- Self.number(frame.descriptor),
                temporalLevelZeroIndex: (sent.descriptor.temporalLevelZeroIndex ?? 0) &+ 1
                    &- (frame.descriptor.temporalLevelZeroIndex ?? 0))
        }
        var descriptor = frame.descriptor
        descriptor.add(offset)
        sent = (frame.stream, descriptor)
    }

    private static func number(_ descriptor: VP8PayloadDescriptor) -> UInt16 {
        switch descriptor.pictureID {
        case .long(let number): number
        case .short(let number): UInt16(number)
        case nil: 0
        }
    }
}
