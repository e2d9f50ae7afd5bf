/// W3C `RTCAudioPlayoutStats`.
package struct MediaPlayoutStats: StatisticsDictionary {
    package let id: String
    let kind = StreamKind.audio
    package let totalSamplesCount: Int
    package let totalSamplesDuration: Double
    package let totalPlayoutDelay: Duration
    package let synthesizedSamplesEvents: Int

    /// Creates the playout statistics of an audio stream with this number. Samples are those of one channel at 48 kHz.
    package init(sound: Int, samples: Int, delay: Duration, breaks: Int) {
        id = "AP\(sound)"
        totalSamplesCount = samples
        totalSamplesDuration = Double(samples) / 48_000
        totalPlayoutDelay = delay
        synthesizedSamplesEvents = breaks
    }
}
