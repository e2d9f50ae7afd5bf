/// A source whose sound the program pushes.
public final class CustomAudioSource: BroadcastingAudioSource {
    /// The sinks and observers.
    public let broadcaster = AudioBroadcaster()

    /// A source without sinks.
    public init() {}

    /// Gives a block to every sink; from any one thread at a time, in order.
    public func capture(_ frame: AudioFrame) { broadcaster.send(frame) }

    /// Tells every sink that nothing follows.
    public func end(error: (any Error)? = nil) { broadcaster.end(error: error) }
}
