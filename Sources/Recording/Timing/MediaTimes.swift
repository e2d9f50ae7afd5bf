/// When a picture or a sound was taken, by the clocks that know of it.
package struct MediaTimes: Sendable, Hashable {
    /// On the clock of its own stream, which tells how far two of the stream are apart: RTP timestamps without their wraps.
    package let media: Duration
    /// On the clock that all streams of its sender share; nil where that is not known yet.
    package let capture: Duration?
    /// When it was here, on this machine's monotonic clock.
    package let arrival: Duration

    /// Times of one picture or sound.
    package init(media: Duration, capture: Duration?, arrival: Duration) {
        self.media = media
        self.capture = capture
        self.arrival = arrival
    }
}
