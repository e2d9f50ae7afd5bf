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

    init(_ media: NegotiatedMedia) {
        let map = media.codec
        id = "C\(map.payloadType)"
        payloadType = map.payloadType
        mimeType = map.isOpus ? "audio/opus" : "video/VP8"
        clockRate = map.clockRate
        channels = map.parameters.flatMap { Int($0) }
        sdpFmtpLine = media.codecParameters?.text
    }
}
