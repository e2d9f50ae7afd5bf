internal import RTCShareRTP
internal import RTCShareSDP

/// W3C `RTCCodecStats`.
package struct CodecStats: StatisticsDictionary {
    package let id: String
    let transportId = StatisticsReport.transportID
    let payloadType: UInt8
    package let mimeType: String
    let clockRate: UInt32
    let channels: Int?
    let sdpFmtpLine: String?

    /// Creates the statistics of the codec with a payload type, or of the preferred one.
    init(_ media: NegotiatedMedia, payloadType: PayloadType?) {
        let codec = media.codecs.first { $0.map.payloadType == payloadType?.rawValue } ?? media.codecs[0]
        let map = codec.map
        id = "C\(map.payloadType)"
        self.payloadType = map.payloadType
        mimeType = map.isOpus ? "audio/opus" : "video/\(map.encodingName.uppercased())"
        clockRate = map.clockRate
        channels = map.parameters.flatMap { Int($0) }
        sdpFmtpLine = codec.parameters?.text
    }
}
