internal import RTCShareRTP

/// Which encoder's frames a peer is sent, and how they are numbered for it: one sequence, whatever it is sent from.
struct PictureNumbering {
    /// What the packets that leave now are moved on by.
    private(set) var offset = VP8NumberOffset.none
    private var queuedStream: Int?
    private var newestCapture: Duration?
    /// The stream of the frame whose packets leave, and its descriptor as the peer got it.
    private var sent: (stream: Int, descriptor: VP8PayloadDescriptor)?

    /// Whether a frame follows what was queued before: one of another stream has to be a key frame of a later picture.
    mutating func follows(_ frame: PacketizedFrame) -> Bool {
        if let queuedStream, queuedStream != frame.stream {
            guard frame.isKeyFrame, newestCapture.map({ frame.captureTime > $0 }) ?? true else { return false }
        }
        queuedStream = frame.stream
        newestCapture = frame.captureTime
        return true
    }

    /// The first packet of a frame leaves.
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
