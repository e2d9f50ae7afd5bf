/// The activity of the media that a section receives.
package enum ReceiverActivity: String, Hashable, Sendable {
    /// No packet has arrived yet.
    case waiting
    /// Packets arrive.
    case flowing
    /// No packet has arrived for ``timeout``, and no report shows that any was sent: the sender has paused.
    case paused
    /// No packet has arrived for ``timeout`` although the sender sends, or the path to it is lost.
    case lost
    /// The sender said goodbye for the source (RFC 3550 §6.6), and no packet has arrived since.
    case ended

    /// The time of silence after which a stream is no longer active.
    package static let timeout = Duration.milliseconds(2500)
}
