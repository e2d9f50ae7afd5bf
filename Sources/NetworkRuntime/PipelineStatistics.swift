internal import Media
internal import PeerConnection
internal import VideoCoding

/// Writes what capture and the encoder counted into a connection's report.
struct PipelineStatistics {
    private let encoder: VideoEncoderStatistics
    private let format: CaptureFormat

    init(_ encoder: VideoEncoderStatistics, format: CaptureFormat) {
        self.encoder = encoder
        self.format = format
    }

    func complete(_ report: [StatisticsObject]) -> [StatisticsObject] {
        report.map { object in
            var object = object
            switch object.type {
            case .mediaSource:
                object.set("width", format.size.width)
                object.set("height", format.size.height)
                object.set("frames", encoder.framesReceived)
                object.set("framesPerSecond", encoder.sourceFramesPerSecond)
            case .outboundRTP:
                object.set("framesEncoded", encoder.framesEncoded)
                object.set("keyFramesEncoded", encoder.keyFramesEncoded)
                object.set("totalEncodeTime", seconds: encoder.totalEncodeTime)
                object.set("qpSum", encoder.qpSum)
                object.set("hugeFramesSent", encoder.hugeFrames)
                object.set("framesPerSecond", encoder.framesPerSecond)
                // Not of webrtc-stats for this object: frames that a newer one replaced, and that rate control left out.
                object.set("framesDropped", encoder.framesDropped + encoder.framesDroppedByRateControl)
                object.set("encoderImplementation", "libvpx")
            default:
                break
            }
            return object
        }
    }
}
