internal import RTCShareRTP
internal import RTCShareWireFormat

/// The stream of frames that a peer receives, and the numbers that make its frames one sequence.
struct PictureNumbering {
    /// The number of the frame that is sent now.
    private(set) var number = FrameNumber(0)
    private var queuedStream: Int?
    private var newestCapture: Duration?
    /// The frame that is sent now: its stream, and its number there.
    private var sent: (stream: Int, number: FrameNumber)?

    /// Whether a frame can follow the queued ones: the first frame of another stream must be a later key frame.
    mutating func follows(_ frame: PacketizedFrame) -> Bool {
        if let queuedStream, queuedStream != frame.stream {
            guard frame.isKeyFrame, newestCapture.map({ frame.captureTime > $0 }) ?? true else { return false }
        }
        queuedStream = frame.stream
        newestCapture = frame.captureTime
        return true
    }

    /// Updates the number at the first packet of a frame. Frames that are missing in a stream keep their numbers.
    mutating func begin(_ frame: PacketizedFrame) {
        if let sent {
            let distance = sent.stream == frame.stream ? frame.number.distance(from: sent.number) : 1
            number = number.advanced(by: distance)
        } else {
            number = frame.number
        }
        sent = (frame.stream, frame.number)
    }
}
