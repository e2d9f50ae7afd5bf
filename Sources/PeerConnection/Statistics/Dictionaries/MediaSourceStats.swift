/// W3C `RTCMediaSourceStats`.
package struct MediaSourceStats: StatisticsDictionary {
    package let id: String
    package let kind: StreamKind
    let trackIdentifier: String
    let audio: AudioSourceStats?
    /// The size of the newest frame: that of the newest sent frame, until the encoder reports the source's.
    package var width: Int?
    package var height: Int?
    /// The number of frames from the source, which the encoder counts.
    package var frames: Int?
    package var framesPerSecond: Int?
}
