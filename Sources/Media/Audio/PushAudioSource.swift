/// A source whose audio the program pushes.
public final class PushAudioSource: BroadcastingAudioSource {
    /// The sinks and observers.
    public let broadcaster = AudioBroadcaster()

    /// Creates a source without sinks.
    public init() {}

    /// Passes a block to every sink. Call it from one thread at a time, in order.
    public func capture(_ frame: AudioFrame) { broadcaster.send(frame) }

    /// Notifies all sinks and observers of the end.
    public func end(error: (any Error)? = nil) { broadcaster.end(error: error) }
}
