/// What can be said of the media that a section receives.
package enum ReceiverActivity: String, Hashable, Sendable {
    /// No packet has come yet.
    case waiting
    /// Packets come.
    case flowing
    /// No packet has come for ``timeout``, and nothing says that any was sent: the sender holds its media back.
    case paused
    /// No packet has come for ``timeout`` though the sender sends, or the path to it is gone.
    case lost
    /// The sender said goodbye for the source (RFC 3550 §6.6), and nothing has come since.
    case ended

    /// How long a stream may be silent before it no longer flows.
    package static let timeout = Duration.milliseconds(2500)
}
