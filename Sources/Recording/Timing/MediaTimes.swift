/// The times at which a frame or audio packet was captured and arrived, by each clock that is known.
package struct MediaTimes: Sendable, Hashable {
    /// The capture time on the clock of its own stream, which gives the difference between two times of the stream: RTP
    /// timestamps without their wraps.
    package let media: Duration
    /// The capture time on the clock that all streams of its sender share; nil if that is not known yet.
    package let capture: Duration?
    /// The arrival time, on this machine's monotonic clock.
    package let arrival: Duration

    /// Times of one frame or audio packet.
    package init(media: Duration, capture: Duration?, arrival: Duration) {
        self.media = media
        self.capture = capture
        self.arrival = arrival
    }
}
