package import RTCShareMedia
package import RTCSharePeerConnection
internal import RTCShareVideoCoding
package import RTCShareWireFormat

/// The counts of the encoding that a connection is sent for one of its media, and of its source.
package struct EncodingStatistics: Sendable {
    let media: Int
    package let encoder: VideoEncoderStatistics
    /// The bitrate that the encoder follows.
    package let targetBitrate: DataRate

    init(media: Int, _ encoder: VideoEncoder) {
        self.media = media
        self.encoder = encoder.statistics
        targetBitrate = encoder.settings.bitrate
    }

    /// Adds the counts to the report of the connection.
    package func add(to report: inout StatisticsReport) {
        report.mediaSources[media]?.width = encoder.sourceSize?.width
        report.mediaSources[media]?.height = encoder.sourceSize?.height
        report.mediaSources[media]?.frames = encoder.framesReceived
        report.mediaSources[media]?.framesPerSecond = encoder.sourceFramesPerSecond
        report.outboundRTP[media]?.targetBitrate = Double(targetBitrate.bitsPerSecond)
        report.outboundRTP[media]?.encoder = encoder
    }
}
