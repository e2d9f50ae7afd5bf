internal import RTCShareMedia
internal import RTCSharePeerConnection
internal import RTCShareVideoCoding
internal import RTCShareWireFormat

/// Writes what capture and the encoder counted into a connection's report.
struct PipelineStatistics {
    private let encoder: VideoEncoderStatistics
    /// What the encoder goes by.
    private let targetBitrate: DataRate

    init(_ encoder: VideoEncoderStatistics, targetBitrate: DataRate) {
        self.encoder = encoder
        self.targetBitrate = targetBitrate
    }

    private var durations: [String: Duration] {
        Dictionary(
            uniqueKeysWithValues: QualityLimitationReason.allCases.map { reason in
                (reason.rawValue, encoder.qualityLimitationDurations[reason] ?? .zero)
            })
    }

    /// Completes the objects of the media of this index; they carry it in their ids.
    func complete(_ report: [StatisticsObject], media: Int) -> [StatisticsObject] {
        report.map { object in
            var object = object
            switch object.id {
            case StatisticsObject.mediaSourceID(media: media):
                object.set("width", encoder.sourceSize?.width)
                object.set("height", encoder.sourceSize?.height)
                object.set("frames", encoder.framesReceived)
                object.set("framesPerSecond", encoder.sourceFramesPerSecond)
            case StatisticsObject.outboundID(media: media):
                object.set("targetBitrate", Double(targetBitrate.bitsPerSecond))
                object.set("framesEncoded", encoder.framesEncoded)
                object.set("keyFramesEncoded", encoder.keyFramesEncoded)
                object.set("totalEncodeTime", seconds: encoder.totalEncodeTime)
                object.set("qpSum", encoder.qpSum)
                object.set("hugeFramesSent", encoder.hugeFrames)
                object.set("framesPerSecond", encoder.framesPerSecond)
                // Not of webrtc-stats: frames that are not libvpx's, and how often viewers had something else by them.
                object.set("partialUpdatesEncoded", encoder.partialUpdatesEncoded)
                object.set("driftsDetected", encoder.driftsDetected)
                // Not of webrtc-stats for this object: frames that a newer one replaced, and that rate control left out.
                object.set("framesDropped", encoder.framesDropped + encoder.framesDroppedByRateControl)
                object.set("qualityLimitationReason", encoder.qualityLimitationReason.rawValue)
                object.set("qualityLimitationResolutionChanges", encoder.qualityLimitationResolutionChanges)
                object.set("qualityLimitationDurations", secondsByName: durations)
                object.set("encoderImplementation", "libvpx")
            default:
                break
            }
            return object
        }
    }
}
